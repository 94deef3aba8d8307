"""The run and the slot: the record of one occurrence or trigger, and the keys it holds.

Two factories make runs, one for active ones and one for tombstones, so that a tombstone is never
born active.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from nightshift.domain.model.enums import (
    ContextMode,
    Outcome,
    RunStatus,
    SkipReason,
    SlotState,
    TaskStatus,
    Trigger,
)
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.retry import FailedAttempt, Retry
from nightshift.domain.model.seats import Place
from nightshift.domain.model.spec import Folded
from nightshift.domain.model.task import Payload, Task

MAX_ERROR_BYTES = 2 * 1024
MAX_RESULT_BYTES = 16 * 1024


def occurrence_run_id(task_id: str, scheduled_for: datetime) -> str:
    """The run id of an occurrence: made of the task and its nominal instant, so it repeats (K2)."""
    return f"{task_id}-{_stamp(scheduled_for)}"


def manual_run_id(task_id: str, now: datetime, suffix: str) -> str:
    """The run id of a manual trigger: sorts with the occurrences by time, and is unique (K2)."""
    return f"{task_id}-{_stamp(now)}-m{suffix}"


def task_id_of(run_id: str) -> str:
    """The task that a run id names; the text before the first dash."""
    return run_id.partition("-")[0]


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y%m%dT%H%M%S") + f"{instant.microsecond // 1000:03d}Z"


def fresh_thread_id(run_id: str) -> str:
    """The thread of a run that has one of its own; repeating the step repeats the name (K2)."""
    return "thr_" + hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwritten:
    """What an admission overwrote on the task, kept so that a refused launch can put it back."""

    status: TaskStatus
    next_run_at: datetime | None
    due_at: datetime | None
    tzdata_version: str | None
    priority: int
    due_shard: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys that a run holds while it is active, enough to release them without the run."""

    run_id: str
    task_id: str
    user_id: str
    slot_shard: int
    seat: int
    user_seat: int | None = None
    locked_thread_id: str | None = None

    @property
    def place(self) -> Place:
        """Where the run sits."""
        return Place(self.user_id, self.seat, self.user_seat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The key that means "this task has an active run", with all that recovery needs.

    From it and its payload the launch can be repeated to the byte, also when the task is gone.
    `consumes_once` says that the run is the one run of a `once` task, whoever triggered it.
    """

    keys: Keys
    nonce: str
    state: SlotState
    trigger: Trigger
    scheduled_for: datetime | None
    thread_id: str
    assistant_id: str | None
    title: str
    timeout_seconds: int
    payload_revision: int
    admitted_at: datetime
    lease_until: datetime
    launch_deadline: datetime
    consumes_once: bool
    overwritten: Overwritten
    retry: Retry | None = None
    started_at: datetime | None = None
    cancel_requested: bool = False

    @property
    def run_id(self) -> str:
        """The run that holds this slot."""
        return self.keys.run_id

    @property
    def task_id(self) -> str:
        """The task whose slot this is."""
        return self.keys.task_id

    def needs_launch(self, now: datetime) -> bool:
        """Whether its launch is unsettled and its lease is over, so that recovery may act."""
        return self.state is SlotState.QUEUED and self.lease_until <= now

    def launch_is_over(self, now: datetime) -> bool:
        """Whether Step Functions, not another attempt, now decides if a launch happened."""
        return self.launch_deadline <= now

    def is_old(self, now: datetime, policy: Policy) -> bool:
        """Whether the run has been active long enough to be compared with Step Functions."""
        since = self.started_at or self.admitted_at
        return now - since >= timedelta(seconds=policy.verify_after_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The record of one occurrence or one manual trigger (P6).

    `attempt` is the latest; `attempts` are those before it, all of which failed.
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

    @classmethod
    def admitted(cls, task: Task, slot: Slot, folded: Folded | None) -> "Run":
        """An active run, born together with the slot that holds its keys (K3)."""
        return cls(
            **_born(task, slot.run_id, slot.trigger, slot.scheduled_for, slot.admitted_at, folded),
            status=RunStatus.QUEUED,
            thread_id=slot.thread_id,
            nonce=slot.nonce,
            keys=slot.keys,
            payload_revision=slot.payload_revision,
            consumes_once=slot.consumes_once,
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


def slot_for(
    task: Task,
    *,
    run_id: str,
    trigger: Trigger,
    nonce: str,
    place: Place,
    now: datetime,
    policy: Policy,
) -> Slot:
    """The slot with which a run of this task would be admitted at `now` into `place`."""
    if place.seat is None:
        raise ValueError("a run is admitted into a seat of the budget")
    definition = task.definition
    reuses = definition.context_mode is ContextMode.REUSE_THREAD
    return Slot(
        keys=Keys(
            run_id=run_id,
            task_id=task.id,
            user_id=task.user_id,
            slot_shard=task.slot_shard,
            seat=place.seat,
            user_seat=place.user_seat,
            locked_thread_id=definition.thread_id if reuses else None,
        ),
        nonce=nonce,
        state=SlotState.QUEUED,
        trigger=trigger,
        scheduled_for=task.state.next_run_at if trigger is Trigger.SCHEDULE else None,
        thread_id=(definition.thread_id if reuses else None) or fresh_thread_id(run_id),
        assistant_id=definition.assistant_id,
        title=definition.title,
        timeout_seconds=definition.timeout_seconds,
        retry=definition.retry,
        payload_revision=definition.payload_revision,
        admitted_at=now,
        lease_until=now + timedelta(seconds=policy.launch_lease_seconds),
        launch_deadline=now + timedelta(seconds=policy.launch_deadline_seconds),
        consumes_once=not task.recurring,
        overwritten=Overwritten(
            status=task.state.status,
            next_run_at=task.state.next_run_at,
            due_at=task.state.due_at,
            tzdata_version=task.state.tzdata_version,
            priority=definition.priority,
            due_shard=task.due_shard,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOrder:
    """Everything an execution is started with; equal for every attempt of one admission."""

    slot: Slot
    payload: Payload

    @property
    def run_id(self) -> str:
        """The run, and so the execution's name."""
        return self.slot.run_id


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
