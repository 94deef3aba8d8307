"""A task that fails again and again is paused, if its owner asked for that (section 3)."""

from typing import Any

import pytest

import builders
from builders import HOUR, MINUTE, NOW
from nightshift.domain.commands import (
    EditTask,
    PauseTask,
    ResumeTask,
    ScheduleEdit,
    ScheduleRequest,
)
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.enums import Outcome, TaskStatus, Trigger
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.streak import Streak, streak_of
from nightshift.domain.model.task import State, Task
from worlds import World

FAILED = Outcome.FAILED


def fickle(world: World, limit: int | None = 3) -> Task:
    """A stored hourly task that is paused after so many failures in a row."""
    return world.add(builders.task(pause_after_failures=limit))


def run_on(world: World, task: Task, *outcomes: Outcome) -> State:
    """What the task says after its next runs by the clock ended so."""
    for outcome in outcomes:
        world.look(world.now + HOUR)
        world.ended(world.slot(task).run_id, outcome, error="it broke")
    return world.read(task).state


def edited(world: World, task: Task, **changes: Any) -> Task:
    """The task after its owner edited it."""
    command = EditTask(user_id=task.user_id, task_id=task.id, **changes)
    return world.management.edit_task(command, world.now).task


def test_a_task_that_only_fails_comes_to_an_end(world: World) -> None:
    """B131: paused after so many failures in a row, with why and how many shown on it."""
    task = fickle(world)
    state = run_on(world, task, FAILED, FAILED)
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 2)
    state = run_on(world, task, FAILED)
    assert (state.status, state.failures_in_a_row) == (TaskStatus.PAUSED, 3)
    assert state.pause_reason == "Paused after 3 failures in a row."
    assert state.last_error == "it broke"
    world.look(world.now + 9 * HOUR)
    assert len(world.history(task)) == 3


def test_a_success_starts_the_count_anew(world: World) -> None:
    """B131: in a row means without a success in between."""
    task = fickle(world)
    state = run_on(world, task, FAILED, FAILED, Outcome.SUCCESS, FAILED, FAILED)
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 2)


def test_a_cancelled_run_is_neither_a_failure_nor_a_success(world: World) -> None:
    """SPEC section 2: a recurring task is unaffected by a run that is cancelled."""
    task = fickle(world)
    state = run_on(world, task, FAILED, FAILED, Outcome.INTERRUPTED)
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 2)
    assert run_on(world, task, FAILED).status is TaskStatus.PAUSED


def test_an_occurrence_that_is_skipped_leaves_the_count(world: World) -> None:
    """P13: the task did not run, so it did not fail."""
    task = fickle(world, 1)
    world.look(NOW + HOUR)
    world.look(NOW + 2 * HOUR)
    assert builders.statuses(world.history(task)) == ["skipped: overlap", "queued"]
    assert world.read(task).state.failures_in_a_row == 0


def test_a_launch_that_the_clock_was_refused_counts(world: World) -> None:
    """SPEC section 2: it is a failed run of the task, and the next would fail as well."""
    task = fickle(world, 2)
    for hours in (1, 2):
        world.executions.refuse_next("no")
        world.look(NOW + hours * HOUR)
    state = world.read(task).state
    assert (state.status, state.failures_in_a_row) == (TaskStatus.PAUSED, 2)
    assert world.due_now() == []


@pytest.mark.parametrize("outcome", [FAILED, Outcome.SUCCESS])
def test_a_run_by_hand_neither_counts_nor_starts_anew(world: World, outcome: Outcome) -> None:
    """P4: somebody tries what is wrong; what the clock gets done is another matter."""
    task = fickle(world, 2)
    run_on(world, task, FAILED)
    world.now += MINUTE
    world.ended(world.trigger(task).id, outcome)
    state = world.read(task).state
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 1)


def test_a_failed_run_by_hand_leaves_the_pause_as_it_is(world: World) -> None:
    """P3: a task that was paused for its failures can be tried by hand and stays paused."""
    task = fickle(world, 1)
    before = run_on(world, task, FAILED)
    world.now += MINUTE
    world.ended(world.trigger(task).id, FAILED)
    after = world.read(task).state
    assert (after.status, after.pause_reason) == (before.status, before.pause_reason)
    assert after.failures_in_a_row == 1


def test_whoever_resumes_it_gives_it_as_many_tries_again(world: World) -> None:
    """P3, B131: resume forgets the failures and the reason."""
    task = fickle(world, 2)
    run_on(world, task, FAILED, FAILED)
    world.pausing.resume_task(ResumeTask(task.user_id, task.id), world.now)
    state = world.read(task).state
    assert (state.status, state.pause_reason) == (TaskStatus.ENABLED, None)
    assert state.failures_in_a_row == 0
    assert run_on(world, task, FAILED).status is TaskStatus.ENABLED
    assert run_on(world, task, FAILED).status is TaskStatus.PAUSED


def test_a_pause_that_ends_by_itself_forgets_nothing(world: World) -> None:
    """P3: nobody looked at what is wrong, so the next failure is one more in the row."""
    task = fickle(world, 2)
    run_on(world, task, FAILED)
    until = world.now + 2 * HOUR + MINUTE
    command = PauseTask(task.user_id, task.id, until=format_instant(until))
    world.pausing.pause_task(command, world.now)
    world.look(until)
    assert world.read(task).state.status is TaskStatus.ENABLED
    state = run_on(world, task, FAILED)
    assert (state.status, state.pause_reason) == (
        TaskStatus.PAUSED,
        "Paused after 2 failures in a row.",
    )


def test_a_single_failure_is_told_as_one() -> None:
    """pause_reason is what people read."""
    assert Streak(0, 1).pause_reason(FAILED) == "Paused after a failure."


def test_a_task_without_a_number_goes_on_failing(world: World) -> None:
    """B131: it is counted, and that is all."""
    task = fickle(world, None)
    state = run_on(world, task, *[FAILED] * 5)
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 5)


def test_a_task_that_ends_with_its_last_failure_is_completed(world: World) -> None:
    """P1: `max_runs` was reached at the admission; there is nothing left to pause."""
    task = world.add(builders.task(builders.every(3600, max_runs=1), pause_after_failures=1))
    assert run_on(world, task, FAILED).status is TaskStatus.COMPLETED


def test_only_the_clocks_runs_of_recurring_tasks_count() -> None:
    """SPEC section 3: a `once` fails as a whole."""
    once = builders.task(builders.once())
    assert streak_of(once, Trigger.SCHEDULE) is None
    assert streak_of(builders.task(), Trigger.MANUAL) is None
    assert streak_of(builders.task(), Trigger.SCHEDULE) == Streak(0, None)


def test_a_single_time_cannot_have_failures_in_a_row(world: World) -> None:
    """SPEC section 7: refused, and the field named."""
    schedule = ScheduleRequest(spec={"after_seconds": 600})
    with pytest.raises(InvalidRequest) as refused:
        world.created(builders.create(schedule=schedule, pause_after_failures=3))
    assert refused.value.field == "pause_after_failures"


def test_a_rule_that_becomes_a_single_time_loses_the_number(world: World) -> None:
    """P2: as it loses its bounds; sent together with it, the number is refused."""
    task = world.created(builders.create(pause_after_failures=3))
    single = ScheduleEdit(spec={"after_seconds": 600})
    with pytest.raises(InvalidRequest):
        edited(world, task, schedule=single, pause_after_failures=3)
    assert edited(world, task, schedule=single).definition.pause_after_failures is None
