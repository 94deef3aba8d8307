"""The run: the record of one occurrence or trigger, and how it ended.

Two factories make runs, one for active ones and one for tombstones, so that a tombstone is never
born active.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nightshift.domain.model.enums import (
    Outcome,
    RunStatus,
    SkipReason,
    Trigger,
)
from nightshift.domain.model.notify import Notify
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.retry import FailedAttempt
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.slot import Keys, Slot
from nightshift.domain.model.spec import Folded
from nightshift.domain.model.streak import Streak
from nightshift.domain.model.task import Task

MAX_ERROR_BYTES = 2 * 1024
MAX_RESULT_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The record of one occurrence or one manual trigger (P6).

    `attempt` is the latest; `attempts` are those before it, all of which failed. `title` is kept
    only where somebody is to be told of the end.
    """

    id: str
    task_id: str
    user_id: str
    trigger: Trigger
    status: RunStatus
    created_at: datetime
    schedule: Mapping[str, Any] = field(default_factory=dict)
    timezone: str = "UTC"
    scheduled_for: datetime | None = None
    thread_id: str | None = None
    reason: str | None = None
    error: str | None = None
    result: Mapping[str, Any] | None = None
    attempt: int = 1
    attempts: tuple[FailedAttempt, ...] = ()
    folded: int = 0
    folded_through: datetime | None = None
    folded_cut: bool = False
    started_at: datetime | None = None
    finished_at: datetime | None = None
    picked_up_attempt: int | None = None
    can_pause: bool = False
    pause_requested: bool = False
    paused_at: datetime | None = None
    paused_seconds: int = 0
    nonce: str | None = None
    keys: Keys | None = None
    payload_revision: int | None = None
    consumes_once: bool = False
    streak: Streak | None = None
    notify: Notify | None = None
    previous: Previous | None = None
    title: str | None = None

    def covers(self, at: datetime) -> bool:
        """Whether an occurrence at `at` is this one, or folded into it (P6, P15)."""
        if self.scheduled_for is None or at < self.scheduled_for:
            return False
        return at <= (self.folded_through or self.scheduled_for)

    @property
    def at_work(self) -> bool:
        """Whether a worker has the latest attempt, so that the run waits for neither."""
        return self.status is RunStatus.RUNNING and self.picked_up_attempt == self.attempt

    @classmethod
    def admitted(
        cls, task: Task, slot: Slot, folded: Folded | None, *, announces: bool = False
    ) -> "Run":
        """An active run, born together with the slot that holds its keys (K3)."""
        return cls(
            **_born(task, slot.run_id, slot.trigger, slot.scheduled_for, slot.admitted_at, folded),
            status=RunStatus.QUEUED,
            thread_id=slot.thread_id,
            nonce=slot.nonce,
            keys=slot.keys,
            payload_revision=slot.payload_revision,
            consumes_once=slot.consumes_once,
            streak=slot.streak,
            notify=slot.notify,
            previous=slot.previous,
            title=slot.title if announces or slot.notify is not None else None,
        )

    @classmethod
    def tombstone(cls, task: Task, reason: SkipReason, now: datetime, folded: Folded) -> "Run":
        """The terminal record of an occurrence that did not run, with the reason."""
        occurrence = task.state.next_run_at
        if occurrence is None:
            raise ValueError("only an occurrence can be skipped")
        run_id = occurrence_run_id(task.id, occurrence)
        return cls(
            **_born(task, run_id, Trigger.SCHEDULE, occurrence, now, folded),
            status=RunStatus.SKIPPED,
            reason=reason.value,
            finished_at=now,
        )


def _born(
    task: Task,
    run_id: str,
    trigger: Trigger,
    scheduled_for: datetime | None,
    now: datetime,
    folded: Folded | None,
) -> dict[str, Any]:
    schedule = task.definition.schedule
    return {
        "id": run_id,
        "task_id": task.id,
        "user_id": task.user_id,
        "trigger": trigger,
        "created_at": now,
        "schedule": schedule.to_dict(),
        "timezone": schedule.zone,
        "scheduled_for": scheduled_for,
        "folded": folded.count if folded else 0,
        "folded_through": folded.through if folded else None,
        "folded_cut": folded.cut if folded else False,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended, whoever brought the news: workflow, status event, verification, launch.

    `silent` marks the end of a run of which no worker had spoken for too long; the record of the
    pickup then tells `worker_lost` from `not_picked_up`. `unlaunched` marks the end of a run that
    was seen before the fence and has no execution; it ends nothing that is past the fence (P18).
    """

    run_id: str
    outcome: Outcome
    finished_at: datetime
    reason: str | None = None
    error: str | None = None
    result: Mapping[str, Any] | None = None
    silent: bool = False
    unlaunched: bool = False

    def seen_with(self, run: Run) -> "RunOutcome":
        """This outcome with what only the run's record can tell, and with bounded text (K8)."""
        reason = self.reason
        if self.silent:
            held = run.picked_up_attempt == run.attempt
            reason = "worker_lost" if held else "not_picked_up"
        return replace(self, reason=reason, error=bounded(self.error, MAX_ERROR_BYTES))


def bounded(text: str | None, limit: int) -> str | None:
    """`text` cut to at most `limit` bytes of UTF-8, whole characters only (K8)."""
    if text is None or len(text.encode()) <= limit:
        return text
    return text.encode()[: limit - 3].decode(errors="ignore") + "…"
