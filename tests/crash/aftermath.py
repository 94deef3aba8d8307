"""What goes on after a crash, by itself, and what must be true in the end."""

from datetime import timedelta

import builders
from crash.harness import LIMIT, Stage, acted
from crash.machine import SUCCESS
from crash.promises import about_occurrences, about_work, is_waiting
from nightshift.domain.services.setbacks import LONGEST_BACK_OFF
from nightshift_toolkit.audit import check

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
            if self._is_quiet() and not self._late_calls_arrive():
                break
            self._go_on(span, work_ends=number >= 2)
            if number == 1:
                self._late_calls_arrive()
        if not self._is_quiet():
            self.complaints.append("there is still something to do")
        self._next_occurrence()
        self._check(at_rest=True)
        machine = self.stage.machine
        self.complaints += about_work(
            self._seen, machine.worked, machine.reported, prunes=self.stage.prunes
        )
        if self.stage.afterwards is not None:
            self.complaints += self.stage.afterwards(self._seen)
        for task in self.stage.watched:
            self.complaints += about_occurrences(self._seen, task, self.stage.now)

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

    def _late_calls_arrive(self) -> bool:
        arrived = self.stage.victim.fate.deliver()
        self._check(at_rest=False)
        return arrived

    def _is_quiet(self) -> bool:
        stage = self.stage
        if stage.machine.running or self._seen.slots:
            return False
        return not any(is_waiting(task, stage.now) for task in self._seen.tasks)

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
