"""What the worker does with one delivery: win the run, do its work, report how it ended."""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from nightshift.domain.model.instants import format_instant
from nightshift_toolkit.worker.attempt import Attempt
from nightshift_toolkit.worker.lifeline import Lifeline
from nightshift_toolkit.worker.message import RunMessage, UnreadableMessage
from nightshift_toolkit.worker.patience import ask_until_answered
from nightshift_toolkit.worker.pausing import Pausing
from nightshift_toolkit.worker.ports import (
    Callbacks,
    Delivery,
    OutputStore,
    Pickups,
    Queue,
    RunOver,
    Unavailable,
)
from nightshift_toolkit.worker.report import Report
from nightshift_toolkit.worker.settings import WorkerSettings

log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The time of day, for what is written down."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Workbench:
    """What every piece of work is done with."""

    queue: Queue
    pickups: Pickups
    callbacks: Callbacks
    settings: WorkerSettings
    outputs: OutputStore | None = None
    now: Callable[[], datetime] = utc_now


class Work:
    """One delivery, from its receipt to the last word on its run."""

    def __init__(self, bench: Workbench, delivery: Delivery) -> None:
        self._bench = bench
        self._delivery = delivery
        self.ids: dict[str, object] = {"message_id": delivery.message_id}
        """What names this work in the log."""
        self._stopping = threading.Event()
        self._attempt: Attempt | None = None

    def stop(self) -> None:
        """Hand the message back, or end the run and report it as stopped; returns at once."""
        self._stopping.set()
        if self._attempt is not None:
            self._attempt.stop()

    def carry_out(self) -> None:
        """Do the work if this delivery wins it; whatever then happens is reported."""
        try:
            message = RunMessage.parse(self._delivery.body)
        except UnreadableMessage as error:
            # Not deleted: after a few more deliveries the queue moves it to its dead letter.
            self._log("message_unreadable", error=str(error))
            return
        self.ids |= {
            "run_id": message.run_id,
            "task_id": message.task_id,
            "attempt": message.attempt,
        }
        if self._stopping.is_set():
            self.hand_back()
        elif self._win(message):
            self._take_off_the_queue()
            self._do(message)

    def hand_back(self) -> None:
        """Show the message to other workers at once."""
        try:
            self._bench.queue.hand_back(self._delivery)
        except Unavailable as error:
            self._log("hand_back_failed", error=str(error))
        else:
            self._log("message_handed_back")

    def _win(self, message: RunMessage) -> bool:
        # The claim stays the same over the attempts to write it, and is new for every delivery: a
        # lost answer is found to be ours, a second delivery of our own message is not.
        claim = uuid.uuid4().hex
        at = format_instant(self._bench.now())
        deadline = time.monotonic() + self._bench.settings.cut_off_seconds
        try:
            won = ask_until_answered(
                lambda: self._bench.pickups.win(message, claim, at),
                pause=lambda seconds: self._stopping.wait(seconds) or time.monotonic() > deadline,
                on_failure=lambda error: self._log("pickup_uncertain", error=str(error)),
            )
        except Unavailable:
            return False
        if won:
            self._log("run_picked_up", trigger=message.trigger)
        else:
            self._log("pickup_lost")
            self._take_off_the_queue()
        return won

    def _take_off_the_queue(self) -> None:
        try:
            self._bench.queue.delete(self._delivery)
        except Unavailable as error:
            # It comes again, loses its pickup, and is taken off then.
            self._log("delete_failed", error=str(error))

    def _do(self, message: RunMessage) -> None:
        settings = self._bench.settings
        attempt = Attempt(message, settings, self._bench.now, self._bench.outputs)
        self._attempt = attempt
        if self._stopping.is_set():
            attempt.stop()
        with Lifeline(
            self._bench.callbacks,
            message.task_token,
            message.run_id,
            settings.heartbeat_seconds,
            Pausing(self._bench.pickups, message, self._bench.now),
        ) as lifeline:
            report = attempt.carry_out(lifeline)
            if lifeline.over.is_set():
                self._log("run_over")
                return
            self._log(
                "run_ended",
                outcome=report.outcome,
                reason=report.reason,
                exit_code=report.exit_code,
            )
            self._hand_in(message, report, lifeline)

    def _hand_in(self, message: RunMessage, report: Report, lifeline: Lifeline) -> None:
        """Report for as long as the workflow can be waiting; the lifeline beats meanwhile."""
        text = report.to_json()

        def given_up(seconds: float) -> bool:
            lifeline.over.wait(seconds)
            return lifeline.silent_for() > self._bench.settings.silence_seconds

        try:
            ask_until_answered(
                lambda: self._bench.callbacks.report(message.task_token, text),
                pause=given_up,
                on_failure=lambda error: self._log("report_failed", error=str(error)),
            )
        except RunOver:
            # Cancelled or timed out meanwhile, or an earlier attempt arrived and only its answer
            # was lost: the record has its outcome either way.
            self._log("report_not_awaited")
        except Unavailable:
            self._log("report_lost")
        else:
            self._log("run_reported")

    def _log(self, action: str, **facts: object) -> None:
        log.info(action, extra=self.ids | facts)
