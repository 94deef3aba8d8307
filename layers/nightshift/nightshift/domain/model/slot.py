"""The slot: the key that means "this task has an active run", and what is launched from it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightshift.domain.model.enums import ContextMode, SlotState, TaskStatus, Trigger
from nightshift.domain.model.notify import Notify
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.previous import Previous, PreviousResult, previous_of
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.run_ids import fresh_thread_id
from nightshift.domain.model.seats import Place
from nightshift.domain.model.streak import Streak, streak_of
from nightshift.domain.model.task import Payload, Task


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
    notify: Notify | None = None
    streak: Streak | None = None
    previous: Previous | None = None
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


def thread_to_lock(task: Task) -> str | None:
    """The thread that a run of this task has for itself; None where each has a fresh one."""
    definition = task.definition
    reuses = definition.context_mode is ContextMode.REUSE_THREAD
    return definition.thread_id if reuses else None


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
    thread_id = thread_to_lock(task)
    return Slot(
        keys=Keys(
            run_id=run_id,
            task_id=task.id,
            user_id=task.user_id,
            slot_shard=task.slot_shard,
            seat=place.seat,
            user_seat=place.user_seat,
            locked_thread_id=thread_id,
        ),
        nonce=nonce,
        state=SlotState.QUEUED,
        trigger=trigger,
        scheduled_for=task.state.next_run_at if trigger is Trigger.SCHEDULE else None,
        thread_id=thread_id or fresh_thread_id(run_id),
        assistant_id=definition.assistant_id,
        title=definition.title,
        timeout_seconds=definition.timeout_seconds,
        retry=definition.retry,
        notify=definition.notify,
        streak=streak_of(task, trigger),
        previous=previous_of(task),
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
    """Everything an execution is started with; equal for every attempt of one admission.

    But for the `previous` result, whose record may go meanwhile; the name alone tells executions
    apart.
    """

    slot: Slot
    payload: Payload
    previous: PreviousResult | None = None

    @property
    def run_id(self) -> str:
        """The run, and so the execution's name."""
        return self.slot.run_id
