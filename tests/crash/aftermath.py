"""What goes on after a crash, by itself, and what must be true in the end."""

from collections import Counter
from datetime import datetime, timedelta

import builders
from crash.harness import LIMIT, Stage, acted
from crash.machine import SUCCESS
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.run import Run, task_id_of
from nightshift.domain.model.task import Task
from nightshift.domain.ports import TaskRef
from nightshift.domain.services.clock import LONGEST_BACK_OFF
from nightshift_toolkit.audit import check

NEVER_LAUNCHED = ("launch_failed", "not_launched")

AFTER_THE_LEASE = builders.policy().launch_lease_seconds + 5
AFTER_THE_VERIFICATION = builders.policy().verify_after_seconds + 5
AFTER_THE_DEADLINE = builders.policy().launch_deadline_seconds + 5
LOOKS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        20,
        AFTER_THE_LEASE,
        AFTER_THE_VERIFICATION,
        AFTER_THE_DEADLINE,
        60,
        LONGEST_BACK_OFF.total_seconds(),
        60,
        AFTER_THE_VERIFICATION,
    )
)
"""Time that passes before each look of the clock that follows a crash, until all is quiet."""


class Aftermath:
    """Lets the others go on until all is quiet; `complaints` are the promises that were broken."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.complaints: list[str] = []
        self._seen = stage.snapshot()

    def settle(self) -> None:
        """Let the clock look, executions start late and work end, until nothing is left to do."""
        self._check(at_rest=False)
        for number, span in enumerate(LOOKS):
            if self._is_quiet():
                break
            self._go_on(span, work_ends=number >= 2)
        if not self._is_quiet():
            self.complaints.append("there is still something to do")
        self._next_occurrence()
        self._check(at_rest=True)
        self._check_work()
        for task in self.stage.watched:
            self._check_occurrences(task)

    def _go_on(self, span: timedelta, *, work_ends: bool) -> None:
        stage = self.stage
        stage.pass_time(span)
        stage.machine.begin()
        if work_ends:
            stage.machine.report_all(SUCCESS)
        failure = acted(stage.others.look)
        if failure is not None:
            self.complaints.append(f"a later look failed: {failure!r}")
        self._check(at_rest=False)

    def _is_quiet(self) -> bool:
        stage = self.stage
        if stage.machine.running or self._seen.slots:
            return False
        return not any(_is_waiting(task, stage.now) for task in self._seen.tasks)

    def _next_occurrence(self) -> None:
        """A recurring task has to be alive after all: its next occurrence runs."""
        times = [
            task.state.due_at for task in self._seen.tasks if task.recurring and task.state.due_at
        ]
        if not times:
            return
        self._go_on(max(times) - self.stage.now, work_ends=False)
        self._go_on(timedelta(seconds=1), work_ends=True)
        self._go_on(timedelta(seconds=1), work_ends=True)

    # -- promises --

    def _check(self, *, at_rest: bool) -> None:
        self._seen = self.stage.snapshot(with_index=at_rest)
        found = check(self._seen, at_rest=at_rest, limit=LIMIT)
        self.complaints += [
            f"{line.invariant}: {line.subject}: {line.detail}"
            for line in found
            if line.subject not in self.stage.damaged
        ]

    def _check_work(self) -> None:
        """Each record and the work that was done for it agree; no run is worked on twice."""
        snapshot = self._seen
        worked = self.stage.machine.worked
        for run_id, times in worked.items():
            if times > 1:
                self.complaints.append(f"{run_id} was worked on {times} times")
            kept = task_id_of(run_id) in snapshot.task_of and not self.stage.prunes
            if kept and run_id not in snapshot.run_of:
                self.complaints.append(f"{run_id} was worked on and has no record")
        self.complaints += [
            f"{run.id} is {run.status} ({run.reason}), worked on {worked[run.id]} times"
            for run in snapshot.runs
            if not _agrees(run, worked)
        ]

    def _check_occurrences(self, task: Task) -> None:
        """Every instant of the schedule that has passed is in exactly one record (P6)."""
        history = self.stage.others.history(task)
        stored = self.stage.others.tasks.get(TaskRef(task.user_id, task.id))
        if stored is None:
            return
        covered = Counter(instant for run in history for instant in _instants(task, run))
        expected = _passed(task, self.stage.now)
        for instant in sorted(set(expected) | set(covered)):
            if covered[instant] != 1 or instant not in expected:
                times = covered[instant]
                self.complaints.append(f"{task.id}: {instant} is in {times} records")


def _agrees(run: Run, worked: Counter[str]) -> bool:
    times = worked[run.id]
    if run.status is RunStatus.SKIPPED or run.reason in NEVER_LAUNCHED:
        return times == 0
    if run.status is RunStatus.INTERRUPTED:
        return times <= 1
    return times == 1


def _is_waiting(task: Task, now: datetime) -> bool:
    """Whether an occurrence has come that the clock has not dealt with, even if it backs off."""
    upcoming = task.state.next_run_at
    return task.is_armed and upcoming is not None and upcoming <= now


def _passed(task: Task, now: datetime) -> list[datetime]:
    instants = []
    upcoming = task.definition.schedule.next_after(task.created_at)
    while upcoming is not None and upcoming <= now:
        instants.append(upcoming)
        upcoming = task.definition.schedule.next_after(upcoming)
    return instants


def _instants(task: Task, run: Run) -> list[datetime]:
    """The instants that a record covers: its own, and those that were folded into it."""
    if run.scheduled_for is None:
        return []
    instants = [run.scheduled_for]
    while run.folded_through is not None and instants[-1] < run.folded_through:
        following = task.definition.schedule.next_after(instants[-1])
        assert following is not None
        instants.append(following)
    return instants
