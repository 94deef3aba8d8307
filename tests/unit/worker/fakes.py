"""Stand-ins for queue, table and workflow; the integration tests hold them to the same contract."""

import itertools
import json
import threading
from collections.abc import Callable
from typing import Any

from nightshift_toolkit.worker.message import RunMessage
from nightshift_toolkit.worker.ports import Delivery, RunOver, Unavailable

BOUND_SECONDS = 20.0


def eventually(condition: Callable[[], bool], seconds: float = BOUND_SECONDS) -> bool:
    """Whether the condition comes true within the bound."""
    pause = threading.Event()
    return any(condition() or pause.wait(0.01) for _ in range(round(seconds / 0.01)))


class FakeQueue:
    """A queue that delivers at least once; hidden messages come back when the test says so."""

    def __init__(self, most_receives: int = 3) -> None:
        self._numbers = itertools.count(1)
        self._most_receives = most_receives
        self._changed = threading.Condition()
        self._bodies: dict[str, str] = {}
        self._received: dict[str, int] = {}
        self._hidden: dict[str, str] = {}
        self.dead_letters: list[str] = []
        self.asked_for: list[int] = []
        self.failures = 0
        self.on_receive: Callable[[], None] = lambda: None

    def send(self, body: str) -> str:
        with self._changed:
            message_id = f"message-{next(self._numbers)}"
            self._bodies[message_id] = body
            self._changed.notify_all()
            return message_id

    def show_hidden(self) -> None:
        """Let the visibility time of everything that was received be over."""
        with self._changed:
            self._hidden.clear()
            self._changed.notify_all()

    def held(self) -> int:
        """How many messages the queue still has, hidden or not."""
        return len(self._bodies)

    def visible(self) -> int:
        return len(self._bodies.keys() - set(self._hidden.values()))

    def check(self) -> None:
        self._fail_if_told()

    def receive(self, limit: int, wait_seconds: float) -> list[Delivery]:
        self._fail_if_told()
        self.asked_for.append(limit)
        with self._changed:
            self._changed.wait_for(lambda: self.visible() > 0, wait_seconds)
            self.on_receive()
            return [self._deliver(name) for name in self._due(limit)]

    def delete(self, delivery: Delivery) -> None:
        self._fail_if_told()
        with self._changed:
            self._bodies.pop(delivery.message_id, None)
            self._hidden.pop(delivery.receipt, None)

    def hand_back(self, delivery: Delivery) -> None:
        self._fail_if_told()
        with self._changed:
            self._hidden.pop(delivery.receipt, None)
            self._changed.notify_all()

    def _due(self, limit: int) -> list[str]:
        visible = [name for name in self._bodies if name not in self._hidden.values()]
        for name in visible:
            if self._received.get(name, 0) >= self._most_receives:
                self.dead_letters.append(self._bodies.pop(name))
        return [name for name in visible if name in self._bodies][:limit]

    def _deliver(self, message_id: str) -> Delivery:
        self._received[message_id] = self._received.get(message_id, 0) + 1
        receipt = f"receipt-{next(self._numbers)}"
        self._hidden[receipt] = message_id
        return Delivery(message_id, receipt, self._bodies[message_id])

    def _fail_if_told(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("the queue does not answer")


class FakePickups:
    """The runs' rows, with the conditional write on them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.rows: dict[str, dict[str, Any]] = {}
        self.lost_answers = 0
        self.failures = 0

    def running(self, message: dict[str, Any], **other: Any) -> None:
        """Have the row of the message's run, as the fence leaves it."""
        fields = {name: message[name] for name in ("nonce", "attempt")}
        self.rows[message["run_id"]] = {"status": "running"} | fields | other

    def check(self) -> None:
        """See `Pickups.check`."""

    def win(self, message: RunMessage, claim: str, at: str) -> bool:
        with self._lock:
            if self.failures:
                self.failures -= 1
                raise Unavailable("the table does not answer")
            row = self.rows.get(message.run_id, {})
            won = _may_pick_up(row, message, claim)
            if won:
                row["picked_up_attempt"] = message.attempt
                row["picked_up_by"] = claim
                row["picked_up_at"] = at
                row["can_pause"] = message.max_pause_seconds > 0
                row |= {"paused_at": None, "paused_seconds": None}
            if self.lost_answers:
                self.lost_answers -= 1
                raise Unavailable("the answer was lost")
            return won

    def pause_wanted(self, message: RunMessage) -> bool:
        return bool(self.rows[message.run_id].get("pause_requested"))

    def note_pause(
        self, message: RunMessage, paused_at: str | None, paused_seconds: int, *, spent: bool
    ) -> None:
        row = self.rows[message.run_id]
        if (row["status"], row["nonce"]) != ("running", message.nonce):
            return
        if (row["attempt"], row.get("picked_up_attempt")) != (message.attempt, message.attempt):
            return
        row |= {"paused_at": paused_at, "paused_seconds": paused_seconds}
        if spent:
            row.pop("pause_requested", None)


def _may_pick_up(row: dict[str, Any], message: RunMessage, claim: str) -> bool:
    if row.get("status") != "running" or row["nonce"] != message.nonce:
        return False
    attempt: int = row.get("picked_up_attempt", 0)
    return attempt < message.attempt or (
        attempt == message.attempt and bool(row["picked_up_by"] == claim)
    )


class FakeCallbacks:
    """Waiting workflows by their task tokens; each waits until it is reported to or ended."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        self.heartbeats: list[str] = []
        self.reports: dict[str, dict[str, Any]] = {}
        self.cut_off = False
        self.report_failures = 0
        self.lost_answers = 0

    def end(self, task_token: str) -> None:
        """Stop waiting, as a cancellation or a timeout does."""
        self.waiting.discard(task_token)

    def heartbeat(self, task_token: str) -> None:
        self._require(task_token)
        self.heartbeats.append(task_token)

    def report(self, task_token: str, report: str) -> None:
        self._require(task_token)
        if self.report_failures:
            self.report_failures -= 1
            raise Unavailable("the workflow does not answer")
        self.waiting.discard(task_token)
        self.reports[task_token] = json.loads(report)
        if self.lost_answers:
            self.lost_answers -= 1
            raise Unavailable("the answer was lost")

    def _require(self, task_token: str) -> None:
        if self.cut_off:
            raise Unavailable("the workflow does not answer")
        if task_token not in self.waiting:
            raise RunOver("TaskTimedOut")
