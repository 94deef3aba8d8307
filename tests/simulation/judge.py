"""Compares what is stored with what should be, after everything that happens."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

import builders
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import check
from simulation.executions import Executions
from simulation.model import Expected
from simulation.rows import SeenRows
from simulation.work import Made

Order = tuple[int, datetime, str]


class Wrong(AssertionError):
    """Something is not as it should be."""


@dataclass(frozen=True)
class Before:
    """What was so just before something happened."""

    slots: dict[str, Slot]
    waiting: dict[str, Order]
    oversleeping: frozenset[str]


class Judge:
    """Knows every task as it should be.

    `ends` counts runs by outcome, `woken` ends of pauses, `given_up` pauses that failures brought,
    `handed` runs that were handed a previous result.
    """

    def __init__(self, rows: SeenRows, executions: Executions) -> None:
        self.expected: dict[str, Expected] = {}
        self.ends: Counter[str] = Counter()
        self.woken = 0
        self.given_up = 0
        self.handed = 0
        self._successes: dict[str, str] = {}
        self._rows = rows
        self._executions = executions
        self._seen: dict[str, Task] = {}
        self._known: dict[str, set[str]] = defaultdict(set)
        self._active: dict[str, str] = {}
        self._now = builders.NOW
        self._ended_since = 0

    def before(self, clock: datetime) -> Before:
        """Remember what is so now, and who should be started by a clock."""
        return Before(
            slots=self._rows.slots(),
            waiting={
                task.task_id: self._order(task)
                for task in self.expected.values()
                if task.waits(clock)
            },
            oversleeping=frozenset(
                task.task_id for task in self.expected.values() if task.overslept(clock)
            ),
        )

    def _order(self, task: Expected) -> Order:
        assert task.due is not None
        priority = self._rows.task(task.user_id, task.task_id).definition.priority
        return (-priority, task.due, task.task_id)

    # -- after something happened --

    def created(self, task: Task, now: datetime) -> None:
        """Expect a task from now on."""
        self.expected[task.id] = Expected.created(task, now)
        self.compare(now)

    def deleted(self, task_id: str) -> None:
        """Expect a task no more."""
        del self.expected[task_id]
        self._active.pop(task_id, None)
        self._seen.pop(task_id, None)

    def compare(self, clock: datetime, before: Before | None = None, *, calm: bool = True) -> None:
        """Take in every change of the rows, and find each as it should be.

        Args:
            clock: the clock of the process that was at work.
            before: what was so before a look of the clock function; None for anything else.
            calm: whether every call was answered, so that nothing excuses a delay.
        """
        self._now, self._ended_since = clock, 0
        changed = [row for row in self._rows.all_tasks() if self._seen.get(row.id) is not row]
        for row in changed:
            self._seen[row.id] = row
            self._take_in(row, clock, before, calm=calm)
        if before is not None and calm:
            self._nothing_waits_without_reason(clock, before, {row.id for row in changed})

    def _take_in(self, row: Task, clock: datetime, before: Before | None, *, calm: bool) -> None:
        expected = self.expected[row.id]
        records = self._rows.runs_of(row.id)
        active = self._active.get(row.id)
        if active is not None and not records[active].status.active:
            self._end(expected, records[active], clock)
        if before is not None:
            self._wake(expected, row, clock)
        for run_id in sorted(records.keys() - self._known[row.id]):
            self._known[row.id].add(run_id)
            self._begin(expected, records[run_id], row, clock, before, calm=calm)
        if before is not None:
            self._adjust(expected, row, clock)
        last = self._successes.get(row.id)
        self._demand(row.state.last_success_run_id == last, "another last success", row.id)
        self._fail(expected.differences(row) + expected.take_due(row, failed=not calm))

    def _wake(self, expected: Expected, row: Task, clock: datetime) -> None:
        """A pause may have ended, at its end and not before."""
        if expected.sleeps_until() is not None and row.state.pause_until is None:
            self._demand(expected.overslept(clock), "its pause ended early", row.id)
            expected.woken()
            self.woken += 1

    def _adjust(self, expected: Expected, row: Task, clock: datetime) -> None:
        """A task may be blocked by the policy, or be advanced past what was recorded before."""
        if row.state.blocked_reason is not None and not expected.blocked:
            shell = row.definition.action_kind.value == "shell"
            self._demand(shell and not self._rows.policy.allow_shell_actions, "blocked", row.id)
            expected.blocked = True
        if expected.next is not None and expected.next != row.state.next_run_at:
            recorded = f"{row.id}-{expected.next:%Y%m%dT%H%M%S}000Z"
            self._demand(recorded in self._known[row.id], "an occurrence was lost", row.id)
            expected.passed_over(clock)

    # -- runs --

    def _begin(
        self,
        expected: Expected,
        run: Run,
        row: Task,
        clock: datetime,
        before: Before | None,
        *,
        calm: bool,
    ) -> None:
        """Find a new record right, and expect what follows from it."""
        if run.status.active or run.reason == "launch_failed":
            self._active[row.id] = run.id
        if run.status.value != "skipped":
            self._is_handed_the_last_success(run, row)
        if run.trigger.value == "manual":
            expected.triggered()
        else:
            self._is_right(expected, run, clock)
            if run.status.value == "skipped":
                self.ends["skipped"] += 1
                self._skip_is_right(expected, run, clock, before, calm=calm)
            expected.recorded(run, clock)
        if run.reason == "launch_failed":
            self._end(expected, run, clock)

    def _is_handed_the_last_success(self, run: Run, row: Task) -> None:
        asks, last = row.definition.include_previous_result, self._successes.get(row.id)
        right = run.previous == (Previous(last) if asks else None)
        self._demand(right, f"it is handed {run.previous}, its last success is {last}", run.id)
        self.handed += asks and last is not None

    def _is_right(self, expected: Expected, run: Run, clock: datetime) -> None:
        self._demand(expected.next is not None, "a run that was not planned", run.id)
        assert expected.next is not None
        assert expected.due is not None
        passed = expected.folded(clock)
        self._demand(run.scheduled_for == expected.next, "another occurrence", run.id)
        self._demand(expected.due <= clock, "too early", run.id)
        self._demand(run.folded == len(passed), f"folded {run.folded}", run.id)
        self._demand(run.folded_through == (passed[-1] if passed else None), "through", run.id)
        late = run.reason == "too_late"
        self._demand(late == expected.is_too_late(clock), "lateness", run.id)

    def _skip_is_right(
        self, expected: Expected, run: Run, clock: datetime, before: Before | None, *, calm: bool
    ) -> None:
        assert before is not None
        holder = before.slots.get(run.task_id)
        if run.reason == "overlap":
            self._demand(expected.overlap == "skip", "skipped, should have waited", run.id)
            self._demand(holder is not None, "skipped without a holder", run.id)
            assert holder is not None
            ended = calm and self.could_be_settled(holder, clock)
            self._demand(not ended, f"skipped for {holder.run_id}, which has ended", run.id)
        if run.reason == "thread_busy":
            thread = self._rows.task(run.user_id, run.task_id).definition.thread_id
            slots = [*before.slots.values(), *self._rows.slots().values()]
            lock = (expected.user_id, thread)
            busy = [s for s in slots if (s.keys.user_id, s.keys.locked_thread_id) == lock]
            self._demand(bool(busy), "skipped though its thread was free", run.id)

    def _end(self, expected: Expected, run: Run, clock: datetime) -> None:
        """Find the end of a run true, and expect what follows from it."""
        del self._active[run.task_id]
        self._ended_since += 1
        self.ends[run.status.value] += 1
        made = self._executions.made.get(run.id)
        self._demand(self._is_true(run, made), f"{run.status}: {run.reason} is not true", run.id)
        self._attempts_are_right(run, made)
        if run.status.value == "success":
            self._successes[run.task_id] = run.id
        status = expected.status
        expected.ended(run)
        self.given_up += expected.status != status and expected.status == "paused"

    def _attempts_are_right(self, run: Run, made: Made | None) -> None:
        """Every attempt that failed is recorded as it was, and no pause outlives its run."""
        wanted = (made.attempt, tuple(made.failed)) if made else (1, ())
        self._demand((run.attempt, run.attempts) == wanted, f"attempts, not {wanted}", run.id)
        paused = round(made.paused.total_seconds()) if made else 0
        self._demand(run.paused_seconds == paused, f"paused for {run.paused_seconds}", run.id)
        self._demand(run.paused_at is None and not run.pause_requested, "paused", run.id)

    def _is_true(self, run: Run, made: Made | None) -> bool:
        """Whether a run ended as Step Functions and its worker say (P7, P18)."""
        status, reason = run.status.value, run.reason
        if made is None:
            refused = reason == "launch_failed" and run.task_id in self._executions.refused
            return refused or reason in ("not_launched", "cancelled")
        if made.report is not None:
            return status == made.report["outcome"] and made.works == made.attempt
        if made.status == "ABORTED":
            return status == "interrupted"
        if made.error == "Fenced":
            return status == "interrupted" and made.works == 0
        silence = "worker_lost" if made.picked_up == made.attempt else "not_picked_up"
        return made.error == "States.HeartbeatTimeout" and reason == silence

    def could_be_settled(self, slot: Slot, clock: datetime) -> bool:
        """Whether a look at `clock` has to find out that this run is over."""
        made = self._executions.made.get(slot.run_id)
        old = clock - (slot.started_at or slot.admitted_at)
        long_enough = old >= timedelta(seconds=self._rows.policy.verify_after_seconds)
        if made is None:
            return slot.launch_deadline <= clock
        return long_enough and made.ended is not None and made.ended < self._executions.now

    # -- what nobody may wait for --

    def _nothing_waits_without_reason(
        self, clock: datetime, before: Before, changed: set[str]
    ) -> None:
        """P13, P14: whoever could start did, highest priority first; old ends are found out."""
        slots = self._rows.slots()
        limit = self._rows.policy.max_concurrent_runs
        self._demand(len(slots) <= max(limit, len(before.slots)), "too many runs", str(len(slots)))
        for task_id, slot in before.slots.items():
            same = slots.get(task_id)
            if same is not None and same.run_id == slot.run_id:
                settled = not self.could_be_settled(slot, clock)
                self._demand(settled, "an end was not found out", slot.run_id)
                lost = same.needs_launch(clock) and not same.cancel_requested
                self._demand(not lost, "a lost launch was not recovered", slot.run_id)
        started = {
            task_id: order
            for task_id, order in before.waiting.items()
            if task_id in slots and slots[task_id].admitted_at == clock
        }
        asleep = [task_id for task_id in before.oversleeping if task_id not in changed]
        self._demand(not asleep, "its pause did not end", str(asleep))
        # A seat that comes free in the midst of a look is for the next look.
        freed = self._ended_since > 0
        for task_id, order in before.waiting.items():
            if task_id in changed or task_id not in self.expected:
                continue
            overlap, holder = self.expected[task_id].overlap, slots.get(task_id)
            if holder is not None and overlap != "skip":
                stopped = overlap == "queue_one" or holder.cancel_requested
                self._demand(stopped, "it lets the run before it go on", task_id)
                continue
            self._demand(freed or len(slots) >= limit, "it waits though seats are free", task_id)
            overtaken = [other for other, first in started.items() if first > order]
            self._demand(not overtaken, f"it was overtaken by {overtaken}", task_id)

    def audit(self, *, at_rest: bool) -> None:
        """Find every invariant of the auditor true."""
        self._fail(
            [str(finding) for finding in check(self._rows.snapshot(self._now), at_rest=at_rest)]
        )

    def _demand(self, holds: bool, complaint: str, subject: str) -> None:
        if not holds:
            raise Wrong(f"{subject}: {complaint} (clock {self._now:%Y-%m-%d %H:%M:%S})")

    def _fail(self, complaints: list[str]) -> None:
        if complaints:
            raise Wrong("\n".join([*complaints, f"(clock {self._now:%Y-%m-%d %H:%M:%S})"]))
