"""What people ask for in a life, and what they should be answered."""

from collections.abc import Callable
from copy import copy
from datetime import datetime, timedelta
from types import NoneType
from typing import Any

from explorer.stage import Death
from nightshift.domain.commands import (
    Action,
    CancelRun,
    CreateTask,
    DeleteTask,
    EditTask,
    PauseTask,
    ResumeTask,
    ScheduleEdit,
    ScheduleRequest,
    TriggerTask,
    Unset,
)
from nightshift.domain.errors import (
    ActiveRun,
    BudgetFull,
    ExecutionsUnavailable,
    LaunchFailed,
    LaunchImpossible,
    NeverFires,
    NightshiftError,
    PersistenceUncertain,
    StorageUnavailable,
    ThreadBusy,
)
from nightshift.domain.model.enums import ActionKind, SlotState
from nightshift.domain.model.instants import format_instant, truncate
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import Schedule
from simulation.crowds import pause_all, resume_all
from simulation.judge import Wrong
from simulation.life import Life
from simulation.model import Expected
from simulation.pauses import ask_for_a_pause
from simulation.population import PATIENCE, edited_schedule, new_task
from simulation.weather import Kind

UNCERTAIN = (PersistenceUncertain, StorageUnavailable, Death)
MOST_REFUSED = 3
FOR_A_WHILE = 0.6
"""The share of pauses that end by themselves."""
Refusal = type[NightshiftError] | None


class Owners:
    """Creates tasks until there are `tasks` of them, and asks for something now and then."""

    def __init__(self, life: Life, tasks: int, *, requests_a_day: float) -> None:
        self._life = life
        self._wanted = tasks
        self._a_day = requests_a_day
        life.at(life.begin, self._populate)
        life.at(life.begin + timedelta(hours=1), self._ask)

    def _populate(self) -> None:
        """Replace those who are through, so that there is always somebody."""
        life = self._life
        finished = [
            task
            for task in life.judge.expected.values()
            if task.status in ("completed", "failed", "cancelled") and life.random.random() < 0.2
        ]
        for task in finished:
            if task.task_id not in life.rows.slots():
                self._delete(task)
        while len(life.judge.expected) < self._wanted and not self._is_rough():
            self._create()
        life.at(life.now + timedelta(hours=life.random.uniform(1, 30)), self._populate)

    def _is_rough(self) -> bool:
        return self._life.weather.rages(Kind.TABLE_OUT) or self._life.weather.rages(Kind.FLAKY)

    def _ask(self) -> None:
        life = self._life
        life.counts.owners += 1
        ask = life.random.choice(
            (
                self._edit_schedule,
                self._edit_prompt,
                self._edit_patience,
                self._pause,
                self._resume,
                life.random.choice((self._resume, self._resume, self._resume_all)),
                life.random.choice((self._pause, self._pause, self._pause_all)),
                self._trigger,
                self._trigger,
                self._delete,
                self._cancel,
                self._cancel,
                self._poison,
                self._limit,
                *[self._pause_run] * 4,
            )
        )
        tasks = list(life.judge.expected.values())
        if tasks:
            ask(life.random.choice(tasks))
        if life.now < life.end:
            hours = life.random.expovariate(self._a_day) * 24
            life.at(life.now + timedelta(hours=hours), self._ask)

    # -- requests --

    def _create(self) -> None:
        life, clock = self._life, self._life.a_clock()
        command: CreateTask = new_task(life.random, clock)
        if command.action.kind is ActionKind.SHELL and not life.rows.policy.allow_shell_actions:
            return
        try:
            task = life.management.create_task(command, clock).task
        except NeverFires:
            # Its end may come before its first time.
            if schedule_of(command.schedule, None, clock).next_after(clock) is not None:
                raise
        else:
            life.judge.created(task, clock)

    def _edit_schedule(self, task: Expected) -> None:
        sent = edited_schedule(self._life.random, self._life.now)
        self._edit(task, schedule=sent)

    def _edit_prompt(self, task: Expected) -> None:
        row = self._life.rows.task(task.user_id, task.task_id)
        self._edit(task, action=Action(row.definition.action_kind, "Do it differently."))

    def _edit_patience(self, task: Expected) -> None:
        if not task.once:
            self._edit(task, pause_after_failures=self._life.random.choice(PATIENCE))

    def _edit(self, task: Expected, **fields: Any) -> None:
        life, clock = self._life, self._life.a_clock()
        if self._is_forbidden(task):
            return
        edit = EditTask(user_id=task.user_id, task_id=task.task_id, **fields)
        sent = edit.schedule
        schedule = None if isinstance(sent, Unset) else schedule_of(sent, task.schedule, clock)
        dispatching = self._is_dispatching(task)
        patience = task.patience
        if not isinstance(edit.pause_after_failures, Unset):
            patience = edit.pause_after_failures
        self._manage(
            task,
            clock,
            lambda expected: expected.edit(schedule, patience, clock, dispatching=dispatching),
            lambda: life.management.edit_task(edit, clock),
        )

    def _pause(self, task: Expected) -> None:
        life, clock = self._life, self._life.a_clock()
        until = self._end_of_a_pause(clock)
        end = None if until is None else format_instant(until)
        command = PauseTask(task.user_id, task.task_id, until=end)
        self._manage(
            task,
            clock,
            lambda expected: expected.pause(clock, until),
            lambda: life.pausing.pause_task(command, clock),
        )

    def _end_of_a_pause(self, clock: datetime) -> datetime | None:
        if self._life.random.random() >= FOR_A_WHILE:
            return None
        return truncate(clock + timedelta(hours=self._life.random.uniform(0.1, 72)))

    def _pause_all(self, task: Expected) -> None:
        clock = self._life.a_clock()
        pause_all(self._life, task.user_id, clock, self._end_of_a_pause(clock))

    def _resume_all(self, task: Expected) -> None:
        life = self._life
        if not any(map(self._is_forbidden, life.judge.expected.values())):
            resume_all(life, task.user_id, life.a_clock())

    def _resume(self, task: Expected) -> None:
        life, clock = self._life, self._life.a_clock()
        if self._is_forbidden(task):
            return
        command = ResumeTask(task.user_id, task.task_id)
        self._manage(
            task,
            clock,
            lambda expected: expected.resume(clock),
            lambda: life.pausing.resume_task(command, clock),
        )

    def _delete(self, task: Expected) -> None:
        life = self._life
        command = DeleteTask(task.user_id, task.task_id)
        failure = life.tried(lambda: life.management.delete_task(command, life.now))
        if task.task_id not in life.rows.task_ids():
            life.judge.deleted(task.task_id)
        elif not isinstance(failure, UNCERTAIN):
            raise Wrong(f"{task.task_id} was not deleted: {failure!r}")
        life.judge.compare(life.now)

    def _trigger(self, task: Expected) -> None:
        life, clock = self._life, self._life.a_clock()
        if self._is_forbidden(task):
            return
        command = TriggerTask(task.user_id, task.task_id)
        wanted = self._refusals_of_a_trigger(task, clock)
        failure = life.tried(lambda: life.dispatch.trigger_task(command, clock))
        certain = not isinstance(failure, (*UNCERTAIN, LaunchImpossible, ExecutionsUnavailable))
        if certain and type(failure) not in wanted:
            raise Wrong(f"a trigger of {task.task_id} gave {failure!r}, should be {wanted}")
        life.judge.compare(clock)

    def _refusals_of_a_trigger(self, task: Expected, clock: datetime) -> set[type]:
        """How a trigger may be answered (P4); `NoneType` is a run."""
        life, slots = self._life, self._life.rows.slots()
        holder = slots.get(task.task_id)
        if holder is not None:
            over = life.judge.could_be_settled(holder, clock)
            return {ActiveRun} if not over else {ActiveRun, LaunchFailed, BudgetFull, NoneType}
        started = {LaunchFailed if task.task_id in life.executions.refused else NoneType}
        if life.weather.rages(Kind.EXECUTIONS_OUT):
            started.add(NoneType)
        thread = life.rows.task(task.user_id, task.task_id).definition.thread_id
        lock = (task.user_id, thread)
        if thread and any(
            (s.keys.user_id, s.keys.locked_thread_id) == lock for s in slots.values()
        ):
            return {ThreadBusy, BudgetFull} | started
        full = len(slots) >= life.rows.policy.max_concurrent_runs
        return {BudgetFull} if full else started

    def _cancel(self, _task: Expected) -> None:
        life = self._life
        slots = [s for s in life.rows.slots().values() if s.task_id in life.judge.expected]
        if not slots:
            return
        slot = life.random.choice(slots)
        command = CancelRun(slot.keys.user_id, slot.task_id, slot.run_id)
        life.tried(lambda: life.lifecycle.cancel_run(command))
        life.judge.compare(life.now)

    def _pause_run(self, _task: Expected) -> None:
        ask_for_a_pause(self._life)

    # -- the operator, and the input that is never acceptable --

    def _poison(self, task: Expected) -> None:
        """Let the input of one task be refused, in place of another when there are a few."""
        life = self._life
        refused = life.executions.refused
        for other in sorted(refused - life.rows.slots().keys()):
            if len(refused) > MOST_REFUSED or other not in life.judge.expected:
                refused.remove(other)
        if task.task_id not in life.rows.slots() and len(refused) <= MOST_REFUSED:
            refused.add(task.task_id)

    def _limit(self, _task: Expected) -> None:
        """Lower the number of seats, or forbid shell actions, for some hours."""
        life = self._life
        seats = life.random.choice((0, 1, life.seats // 2, life.seats, life.seats))
        life.change_policy(
            max_concurrent_runs=seats, allow_shell_actions=life.random.random() < 0.5
        )
        life.at(life.now + timedelta(hours=life.random.uniform(1, 12)), life.change_policy)

    # -- shared steps --

    def _is_forbidden(self, task: Expected) -> bool:
        """Whether today's policy would refuse anything that starts this task (P20)."""
        definition = self._life.rows.task(task.user_id, task.task_id).definition
        shell = definition.action_kind is ActionKind.SHELL
        return shell and not self._life.rows.policy.allow_shell_actions

    def _is_dispatching(self, task: Expected) -> bool:
        slot = self._life.rows.slots().get(task.task_id)
        return slot is not None and slot.state is SlotState.QUEUED

    def _manage(
        self,
        task: Expected,
        clock: datetime,
        expect: Callable[[Expected], Refusal],
        action: Callable[[], Any],
    ) -> None:
        """Ask for something; it is done or refused as expected, or both in rough weather."""
        life = self._life
        after = copy(task)
        refusal = expect(after)
        failure = life.tried(action)
        life.counts.refused += failure is not None
        row = life.rows.task(task.user_id, task.task_id)
        if isinstance(failure, UNCERTAIN):
            done = refusal is None and not after.differences(row)
        elif (refusal is None) == (failure is None) and isinstance(failure, refusal or NoneType):
            done = failure is None
        else:
            raise Wrong(f"{task.task_id}: {failure!r}, should be {refusal} ({task})")
        if done:
            life.judge.expected[task.task_id] = after
        life.judge.compare(clock)


def schedule_of(
    sent: ScheduleRequest | ScheduleEdit, before: Schedule | None, clock: datetime
) -> Schedule:
    """The schedule that was sent whole, as it is read at `clock`."""
    assert not isinstance(sent.spec, Unset)
    assert not isinstance(sent.timezone, Unset)
    bounds = parse_bounds(starts_at=sent.starts_at, ends_at=sent.ends_at, max_runs=sent.max_runs)
    return parse_schedule(sent.spec, zone=sent.timezone, now=clock, bounds=bounds, previous=before)
