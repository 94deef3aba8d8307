"""What should become of one task, by SPEC sections 2, 3 and 5 alone.

Nothing of dispatch or of the task's own rules is called; of the schedule only `next_after`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nightshift.domain.errors import (
    NeverFires,
    NightshiftError,
    TaskNotMutable,
    TimePassed,
)
from nightshift.domain.model.run import Run
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.task import Task


def _times(schedule: Schedule) -> dict[str, Any]:
    """What of a schedule decides its times."""
    stored = schedule.to_dict()
    bounds = {k: v for k, v in stored.get("bounds", {}).items() if k != "max_runs"}
    zone = stored["zone"] if schedule.kind == "cron" else None
    return stored | {"bounds": bounds, "zone": zone}


MILLISECOND = timedelta(milliseconds=1)
ONCE_AFTER = {"success": "completed", "interrupted": "cancelled", "failed": "failed"}


@dataclass
class Expected:
    """A task as it should be.

    `next` is nominal; `due` is taken from the row within its bounds. `consumed` says that the
    active run is the one run of a `once`, whatever the task has become since. `found` is what an
    active run by the clock found: failures in a row, and the number of them that pauses.
    """

    task_id: str
    user_id: str
    schedule: Schedule
    jitter: int
    lateness: int | None
    overlap: str = "skip"
    status: str = "enabled"
    next: datetime | None = None
    due: datetime | None = None
    until: datetime | None = None
    backed_off: datetime | None = None
    blocked: bool = False
    consumed: bool = False
    runs: int = 0
    clock_runs: int = 0
    last_error: str | None = None
    patience: int | None = None
    failures: int = 0
    found: "tuple[int, int | None] | None" = None
    overwritten: "tuple[str, datetime | None, datetime | None]" = ("enabled", None, None)

    @classmethod
    def created(cls, task: Task, now: datetime) -> "Expected":
        """A task that was created at `now` (P1)."""
        definition = task.definition
        made = cls(
            task_id=task.id,
            user_id=task.user_id,
            schedule=definition.schedule,
            jitter=definition.jitter_seconds,
            lateness=definition.max_lateness_seconds,
            overlap=definition.overlap_policy.value,
            patience=definition.pause_after_failures,
        )
        made.plan(now)
        return made

    @property
    def once(self) -> bool:
        """Whether there is a single occurrence."""
        return self.schedule.kind == "once"

    def waits(self, clock: datetime) -> bool:
        """Whether the clock may start it now."""
        armed = self.status == "enabled" and not self.blocked
        return armed and self.due is not None and self.due <= clock

    def plan(self, now: datetime) -> None:
        """The next time strictly after `now`; completed when none is left (section 3)."""
        self.next = self.due = self.backed_off = None
        if self.status != "enabled":
            return
        if not self._spent:
            self.next = self.due = self.schedule.next_after(now)
        if self.next is None and not self.once:
            self.status = "completed"

    @property
    def _spent(self) -> bool:
        limit = self.schedule.bounds.max_runs
        return limit is not None and self.clock_runs >= limit

    def _is_over_before(self, until: datetime | None) -> bool:
        """Whether a pause until then would leave no time."""
        return until is not None and self.schedule.next_after(until - MILLISECOND) is None

    # -- what the clock does --

    def folded(self, clock: datetime) -> list[datetime]:
        """The occurrences that passed since the stored one (P15)."""
        passed: list[datetime] = []
        following = self.next and self.schedule.next_after(self.next)
        while following is not None and following <= clock:
            passed.append(following)
            following = self.schedule.next_after(following)
        return passed

    def is_too_late(self, clock: datetime) -> bool:
        """Whether the latest passed instant lies further back than the task allows (P16)."""
        if self.lateness is None or self.next is None:
            return False
        latest = (self.folded(clock) or [self.next])[-1]
        return clock - latest > timedelta(seconds=self.lateness)

    def recorded(self, run: Run, clock: datetime) -> None:
        """The stored occurrence has its record: a run or a tombstone (P6, P13, P15)."""
        assert self.next is not None
        admitted = run.status.value != "skipped"
        self.runs += admitted
        self.clock_runs += admitted
        if admitted:
            self.consumed = self.once
            self.found = None if self.once else (self.failures, self.patience)
        if self.once:
            self.status = "running" if admitted else "failed"
            if not admitted:
                self.last_error = f"skipped: {run.reason}"
        self.plan(max(clock, self.next))

    def passed_over(self, clock: datetime) -> None:
        """The stored occurrence had its record already; the task goes on (K4)."""
        assert self.next is not None
        if self.once:
            self.status = "failed"
        self.plan(max(clock, self.next))

    def sleeps_until(self) -> datetime | None:
        """When its pause is to end by itself; a blocked task does not wake (P20)."""
        return self.until if self.status == "paused" and not self.blocked else None

    def overslept(self, clock: datetime) -> bool:
        """Whether a look at this time has to end its pause."""
        end = self.sleeps_until()
        return end is not None and max(end, self.due or end) <= clock

    def woken(self) -> None:
        """The end of its pause has come: the first time from the end on counts (P3)."""
        assert self.until is not None
        self.status = "enabled"
        end, self.until = self.until, None
        self.plan(end - MILLISECOND)

    # -- what people do --

    def triggered(self) -> None:
        """A manual run: it consumes a `once`, and leaves a recurring task's times alone (P4)."""
        self.runs += 1
        self.consumed = self.once
        self.found = None
        if self.once:
            self.overwritten = (self.status, self.next, self.due)
            self.status, self.next, self.due = "running", None, None

    def untriggered(self) -> None:
        """The launch of a manual run was refused: the task is as it was."""
        self.runs -= 1
        if self.consumed:
            self.status, self.next, self.due = self.overwritten

    def pause(self, now: datetime, until: datetime | None) -> type[NightshiftError] | None:
        """P3; the refusal, if it is refused."""
        if self.status not in ("enabled", "paused"):
            return TaskNotMutable
        if self.status == "paused" and until == self.until:
            return None
        if self._is_over_before(until):
            return NeverFires
        self.status, self.until = "paused", until
        self.plan(now)
        self.due = self.sleeps_until()
        return None

    def resume(self, now: datetime) -> type[NightshiftError] | None:
        """P3: strictly after now, never by surprise; P20 for one that is blocked."""
        if self.status not in ("enabled", "paused"):
            return TaskNotMutable
        if self.status == "enabled" and not self.blocked:
            return None
        if self.schedule.next_after(now) is None or self._spent:
            return TimePassed
        self.status, self.blocked, self.until, self.failures = "enabled", False, None, 0
        self.plan(now)
        return None

    def edit(
        self,
        schedule: Schedule | None,
        patience: int | None,
        now: datetime,
        *,
        dispatching: bool,
    ) -> type[NightshiftError] | None:
        """P2: only a schedule with other times moves a task, and re-arms one that is through.

        A paused task stays paused; P20: one that is blocked is planned anew.
        """
        if self.status == "running" or dispatching:
            return TaskNotMutable
        before, self.schedule = self.schedule, schedule or self.schedule
        self.patience = None if self.once else patience
        moved = _times(self.schedule) != _times(before)
        more = self.schedule.bounds.max_runs != before.bounds.max_runs
        blocked, self.blocked = self.blocked, False
        if more and self._spent:
            return NeverFires
        if self.status == "paused":
            self.due, self.backed_off = self.until, None
            return NeverFires if moved and self._is_over_before(self.until) else None
        if moved or (more and self.status != "enabled"):
            if self._spent or self.schedule.next_after(now) is None:
                return NeverFires
            self.status, self.until = "enabled", None
            self.plan(now)
        elif self.status == "enabled" and blocked:
            self.plan(now)
            if self.once and self.next is None:
                return TimePassed
        return None

    # -- what runs do --

    def ended(self, run: Run) -> None:
        """A run of this task has ended (section 3)."""
        status = run.status.value
        if run.trigger.value == "manual" and run.reason == "launch_failed":
            self.untriggered()
            return
        if self.consumed:
            self.status = ONCE_AFTER[status]
        if status == "success":
            self.last_error = None
        elif status == "failed":
            self.last_error = run.error or run.reason
        if self.found is not None:
            self._count(status)

    def _count(self, status: str) -> None:
        """Failures in a row, and the pause they bring unless people were at the task meanwhile."""
        if status == "interrupted":
            return
        same = self.found == (self.failures, self.patience)
        self.failures = self.failures + 1 if status == "failed" else 0
        enough = self.patience is not None and self.failures >= self.patience
        if same and enough and status == "failed" and self.status == "enabled":
            self.status, self.until = "paused", None
            self.next = self.due = self.backed_off = None

    # -- the comparison --

    def differences(self, row: Task) -> list[str]:
        """Where the stored task is not as it should be."""
        state = row.state
        seen = {
            "schedule": row.definition.schedule,
            "status": state.status.value,
            "next": state.next_run_at,
            "blocked": state.blocked_reason is not None,
            "until": state.pause_until if state.status.value == "paused" else None,
            "runs": state.run_count,
            "runs by the clock": state.scheduled_run_count,
            "last error": state.last_error,
            "failures in a row": state.failures_in_a_row,
            "number that pauses": row.definition.pause_after_failures,
        }
        wanted = {
            "schedule": self.schedule,
            "status": self.status,
            "next": self.next,
            "blocked": self.blocked,
            "until": self.until if self.status == "paused" else None,
            "runs": self.runs,
            "runs by the clock": self.clock_runs,
            "last error": self.last_error,
            "failures in a row": self.failures,
            "number that pauses": self.patience,
        }
        return [
            f"{self.task_id}: {name} is {seen[name]}, should be {wanted[name]}"
            for name in wanted
            if seen[name] != wanted[name]
        ]

    def take_due(self, row: Task, *, failed: bool) -> list[str]:
        """Take the effective time from the row, and find it where jitter may put it.

        A dispatch that `failed` may move it back.
        """
        if failed and self.due and row.state.due_at and row.state.due_at > self.due:
            self.backed_off = row.state.due_at
        due, self.due = row.state.due_at, row.state.due_at
        if self.status == "paused":
            right = due in (self.sleeps_until(), self.backed_off)
            return [] if right else [f"{self.task_id}: it wakes at {due}"]
        if due is None or self.next is None or due == self.backed_off:
            return []
        following = self.schedule.next_after(self.next)
        latest = self.next + timedelta(seconds=self.jitter)
        within = self.next <= due <= latest and (following is None or due < following)
        return [] if within else [f"{self.task_id}: {self.next} is due at {due}"]
