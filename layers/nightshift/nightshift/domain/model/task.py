"""The task aggregate: what a user asked for, where it stands, and the rules that move it.

The definition belongs to people, the state to dispatch and completion (P19). Both are values;
every change yields a new task and leaves writing it, under a condition, to a store.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from nightshift.domain.errors import (
    InvalidRequest,
    NeverFires,
    NotInFuture,
    TaskNotMutable,
    TimePassed,
)
from nightshift.domain.model.enums import ActionKind, ContextMode, OverlapPolicy, TaskStatus
from nightshift.domain.model.notify import Notify
from nightshift.domain.model.pause import ensure_leaves_a_time, paused
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.spec import Folded, Schedule, jitter_offset
from nightshift.domain.model.standing import kept_from_clock, kept_from_start
from nightshift.domain.model.zones import tzdata_version


@dataclass(frozen=True, slots=True)
class Payload:
    """The prompt or command of one revision; immutable, stored apart from the task."""

    task_id: str
    user_id: str
    revision: int
    kind: ActionKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What people edit. `payload_revision` names the revision whose prompt or command counts."""

    title: str
    action_kind: ActionKind
    payload_revision: int
    schedule: Schedule
    timeout_seconds: int
    context_mode: ContextMode = ContextMode.FRESH_THREAD
    thread_id: str | None = None
    assistant_id: str | None = None
    overlap_policy: OverlapPolicy = OverlapPolicy.SKIP
    priority: int = 5
    max_lateness_seconds: int | None = None
    jitter_seconds: int = 0
    jitter_place: int | None = None  # seconds after the nominal time, with `jitter: auto`
    retry: Retry | None = None
    notify: Notify | None = None
    pause_after_failures: int | None = None
    include_previous_result: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When a task is next, and what that makes of it.

    `next_run_at` is the nominal instant, `due_at` the one at which the clock may start it; both
    are None when the clock must not. The next time is strictly later than `planned_from`, and every
    instant up to that has been dealt with; it is kept where zone rules can move the next time.
    """

    status: TaskStatus
    next_run_at: datetime | None
    due_at: datetime | None
    tzdata_version: str | None
    planned_from: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What dispatch and completion own; `max_runs` is held against `scheduled_run_count`.

    A task that is paused until a time has `due_at` without `next_run_at`: then the pause ends.
    """

    status: TaskStatus = TaskStatus.ENABLED
    next_run_at: datetime | None = None
    due_at: datetime | None = None
    tzdata_version: str | None = None
    planned_from: datetime | None = None
    blocked_reason: str | None = None
    pause_reason: str | None = None
    pause_until: datetime | None = None
    active_run_id: str | None = None
    last_run_at: datetime | None = None
    last_run_id: str | None = None
    last_thread_id: str | None = None
    last_status: str | None = None
    last_error: str | None = None
    run_count: int = 0
    scheduled_run_count: int = 0
    failures_in_a_row: int = 0
    last_success_run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A user's rule. The shards are fixed at creation, so their number can grow later (K1)."""

    id: str
    user_id: str
    definition: Definition
    state: State
    revision: int
    created_at: datetime
    updated_at: datetime
    due_shard: int = 0
    slot_shard: int = 0

    # -- when --

    @property
    def recurring(self) -> bool:
        """Whether the schedule yields more than one occurrence."""
        return self.definition.schedule.recurring

    def is_due(self, now: datetime) -> bool:
        """Whether the clock may start this task at `now`."""
        return kept_from_start(self.state, now) is None

    @property
    def is_armed(self) -> bool:
        """Whether the clock will start this task without anybody's help."""
        return kept_from_clock(self.state) is None

    def folded(self, now: datetime) -> Folded:
        """The occurrences after the stored one that had passed by `now` (P15)."""
        occurrence = self._occurrence
        return self.definition.schedule.folded(occurrence, max(now, occurrence))

    def is_too_late(self, now: datetime, folded: Folded) -> bool:
        """Whether the latest instant that has passed lies further back than is allowed (P16)."""
        limit = self.definition.max_lateness_seconds
        latest = folded.through or self._occurrence
        return limit is not None and now - latest > timedelta(seconds=limit)

    @property
    def _occurrence(self) -> datetime:
        if self.state.next_run_at is None:
            raise InvalidRequest("the task has no occurrence to dispatch")
        return self.state.next_run_at

    def plan(self, status: TaskStatus, now: datetime, *, runs: int | None = None) -> Plan:
        """The next time strictly after `now` for a task that is to have `status`.

        A recurring task with no time left becomes completed. A task that the clock must not start
        has no times at all.

        Args:
            status: what the task is to be, as one of the status rules gave it.
            now: the instant to plan from (UTC).
            runs: runs admitted by the clock so far; the state's own count when absent.
        """
        schedule = self.definition.schedule
        used = self.state.scheduled_run_count if runs is None else runs
        if status is not TaskStatus.ENABLED:
            return Plan(status=status, next_run_at=None, due_at=None, tzdata_version=None)
        upcoming = None if self._has_spent(used) else schedule.next_after(now)
        if upcoming is None:
            ended = TaskStatus.COMPLETED if self.recurring else status
            return Plan(status=ended, next_run_at=None, due_at=None, tzdata_version=None)
        return Plan(
            status=status,
            next_run_at=upcoming,
            due_at=self._due_at(upcoming),
            tzdata_version=tzdata_version(),
            planned_from=now if schedule.kind == "cron" else None,
        )

    def _has_spent(self, runs: int) -> bool:
        max_runs = self.definition.schedule.bounds.max_runs
        return max_runs is not None and runs >= max_runs

    def _due_at(self, nominal: datetime) -> datetime:
        jitter, place = self.definition.jitter_seconds, self.definition.jitter_place
        if not jitter:
            return nominal
        following = self.definition.schedule.next_after(nominal)
        offset = jitter_offset(self.id, jitter, nominal, following, place)
        return nominal + timedelta(seconds=offset)

    def plan_after_dispatch(
        self, status: TaskStatus | None, now: datetime, *, counted: bool
    ) -> Plan:
        """The plan once the stored occurrence is dealt with: from now, never from the past (P15).

        Args:
            status: as the status rule for a launch or a skip gave it; None leaves it unchanged.
            now: the instant of the dispatch; a clock that is behind never repeats an occurrence.
            counted: whether the occurrence was admitted and so counts towards `max_runs`.
        """
        runs = self.state.scheduled_run_count + counted
        return self.plan(status or self.state.status, max(now, self._occurrence), runs=runs)

    def with_plan(self, plan: Plan, **state: Any) -> "Task":
        """This task with a plan, and any other state, put into its state."""
        planned = replace(
            self.state,
            status=plan.status,
            next_run_at=plan.next_run_at,
            due_at=plan.due_at,
            tzdata_version=plan.tzdata_version,
            planned_from=plan.planned_from,
            **state,
        )
        return replace(self, state=planned)

    # -- what people do --

    def armed(self, now: datetime, policy: Policy) -> "Task":
        """This task as submitted: enabled, with its first time.

        Raises:
            InvalidSchedule: the schedule may not be submitted now (P10 and the floors).
            NeverFires: `max_runs` is used up, or no time is left.
        """
        self.definition.schedule.ensure_launchable(now, policy)
        plan = self.plan(TaskStatus.ENABLED, now)
        if plan.next_run_at is None:
            raise NeverFires("no run is left: max_runs is reached or ends_at has passed")
        return self.with_plan(plan, blocked_reason=None, pause_reason=None, pause_until=None)

    def edited(self, definition: Definition, now: datetime, policy: Policy) -> "Task":
        """This task with another definition, one revision on (P2).

        The next time moves only when the normalised schedule does, or when the task was blocked.
        A schedule change re-arms a finished task; a paused one stays paused.

        Raises:
            TaskNotMutable: a `once` task is running.
            InvalidSchedule: the new schedule may not be submitted now.
            NeverFires: no run of the new number is left.
        """
        self._ensure_not_running("edited")
        changed = replace(self, definition=definition, revision=self.revision + 1, updated_at=now)
        before = self.definition.schedule
        reshaped = not definition.schedule.same_times_as(before)
        more_runs = definition.schedule.bounds.max_runs != before.bounds.max_runs
        finished = self.state.status not in (TaskStatus.ENABLED, TaskStatus.PAUSED)
        if more_runs and changed._has_spent(self.state.scheduled_run_count):
            raise NeverFires("max_runs is used up: as many runs were started", field="max_runs")
        if self.state.status is TaskStatus.PAUSED:
            if reshaped:
                definition.schedule.ensure_launchable(now, policy)
                if self.state.pause_until is not None:
                    ensure_leaves_a_time(definition.schedule, self.state.pause_until)
            kept = replace(self.state, blocked_reason=None, due_at=self.state.pause_until)
            return replace(changed, state=kept)
        if reshaped or (finished and more_runs):
            return changed.armed(now, policy)
        if self.state.blocked_reason is not None:
            return changed._unblocked(now)
        return changed if finished else changed._replanned_in_place(now)

    def _replanned_in_place(self, now: datetime) -> "Task":
        """An occurrence that waits for a seat is kept, also the last one before `ends_at` (P14)."""
        if self.state.next_run_at is None:
            return self.with_plan(self.plan(self.state.status, now))
        due_at = self._due_at(self.state.next_run_at)
        return replace(self, state=replace(self.state, due_at=due_at))

    def paused(self, reason: str | None, now: datetime, until: datetime | None = None) -> "Task":
        """This task out of the clock's reach, until a time if there is one; see `pause.paused`."""
        return paused(self, reason, until, now)

    def resumed(self, now: datetime, policy: Policy) -> "Task":
        """This task enabled again, its next time strictly after `now` (P3, P20).

        An enabled task that is not blocked is returned as it is.

        Raises:
            TimePassed: a `once` whose time has passed, or a schedule with no time left.
            TaskNotMutable: the task is running or finished.
            TooFrequent: the floor was raised meanwhile.
        """
        if self.is_armed and self.state.next_run_at is not None:
            return self
        self.ensure_switchable("resumed", "is not paused; give it a new schedule to run again.")
        resumed = replace(self, revision=self.revision + 1, updated_at=now)
        if self.recurring:
            try:
                self.definition.schedule.ensure_launchable(now, policy)
            except (NeverFires, NotInFuture) as ended:
                raise TimePassed("No time of this schedule is left; give it a new one.") from ended
        return resumed._unblocked(now, enable=True)

    def _unblocked(self, now: datetime, *, enable: bool = False) -> "Task":
        status = TaskStatus.ENABLED if enable else self.state.status
        plan = self.plan(status, now)
        if plan.status is TaskStatus.ENABLED and plan.next_run_at is None:
            raise TimePassed
        if enable and plan.status is TaskStatus.COMPLETED:
            raise TimePassed("No run of this task is left; give it a new schedule.")
        lifted: dict[str, Any] = {}
        if enable:
            lifted = {"pause_reason": None, "pause_until": None, "failures_in_a_row": 0}
        return self.with_plan(plan, blocked_reason=None, **lifted)

    def ensure_switchable(self, verb: str, otherwise: str) -> None:
        """Refuse to pause or resume what runs or is finished; raises TaskNotMutable."""
        self._ensure_not_running(verb)
        if self.state.status not in (TaskStatus.ENABLED, TaskStatus.PAUSED):
            raise TaskNotMutable(f"A {self.state.status} task {otherwise}")

    def _ensure_not_running(self, verb: str) -> None:
        if self.state.status is TaskStatus.RUNNING:
            raise TaskNotMutable(
                f"A one-time task cannot be {verb} while it runs; cancel the run or wait for it."
            )
