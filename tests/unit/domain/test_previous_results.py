"""What a run is handed of the last success of its task, at its launch."""

from typing import Any

import pytest

import builders
from builders import HOUR, NOW
from nightshift.domain.commands import EditTask
from nightshift.domain.model.enums import Outcome, Trigger
from nightshift.domain.model.previous import Previous, PreviousResult, previous_of
from nightshift.domain.model.run import Run
from nightshift.domain.model.task import Task
from worlds import World

ASKS: dict[str, Any] = {"include_previous_result": True}


def test_a_run_is_handed_the_last_success_if_its_owner_asks() -> None:
    task = builders.task(**ASKS)
    assert previous_of(task) == Previous(None)
    assert previous_of(builders.with_state(task, last_success_run_id="run")) == Previous("run")
    assert previous_of(builders.with_state(builders.task(), last_success_run_id="run")) is None


@pytest.mark.parametrize("trigger", Trigger)
def test_runs_by_hand_are_handed_it_too(trigger: Trigger) -> None:
    task = builders.with_state(builders.task(**ASKS), last_success_run_id="run")
    slot = builders.slot(task, trigger=trigger)
    assert slot.previous == Previous("run")
    assert Run.admitted(task, slot, None).previous == Previous("run")


def handed(world: World) -> PreviousResult | None:
    """What the latest launch was told of."""
    return world.executions.orders[-1].previous


def next_run(world: World, task: Task) -> Run:
    """The run of the task's next occurrence, launched."""
    world.pass_time(HOUR)
    world.look()
    return world.history(task)[0]


def test_the_launch_tells_the_result_of_the_last_success(world: World) -> None:
    """Also when the run in between failed, and none was there at first."""
    task = world.add(builders.task(**ASKS))
    first = next_run(world, task)
    assert handed(world) == PreviousResult()
    world.ended(first.id)
    ended_at = world.now
    world.ended(next_run(world, task).id, Outcome.FAILED)
    next_run(world, task)
    assert handed(world) == PreviousResult(
        run_id=first.id, scheduled_for=NOW + HOUR, finished_at=ended_at, result=None
    )


def test_a_run_that_does_not_ask_is_launched_with_nothing(world: World) -> None:
    task = world.add(builders.task())
    world.ended(next_run(world, task).id)
    next_run(world, task)
    assert handed(world) is None


def test_a_result_that_is_gone_from_the_history_is_told_as_gone(world: World) -> None:
    """K10, K11: nothing but the words of the result derives from the history."""
    task = world.add(builders.task(**ASKS))
    first = next_run(world, task)
    world.ended(first.id)
    world.pass_time(HOUR)
    assert world.store.runs.prune(task.id, 0) == 1
    world.look()
    assert handed(world) == PreviousResult(run_id=first.id)


def test_a_record_that_cannot_be_read_keeps_no_run_from_its_launch(world: World) -> None:
    task = world.add(builders.task(**ASKS))
    first = next_run(world, task)
    world.ended(first.id)
    world.store.corrupt_run(first.id)
    world.pass_time(HOUR)
    world.look()
    assert handed(world) == PreviousResult(run_id=first.id)
    assert len(world.told("previous_unreadable")) == 1


def test_a_recovered_launch_tells_the_same(world: World) -> None:
    """SPEC section 6: a launch is repeated with what it was to be launched with."""
    task = world.add(builders.task(**ASKS))
    world.ended(next_run(world, task).id)
    world.pass_time(HOUR)
    world.executions.lose_next(starts=False)
    world.look()
    world.pass_time(HOUR / 20)
    world.look()
    last, repeated = world.executions.orders[-2:]
    assert last.run_id == repeated.run_id
    assert last.previous == repeated.previous != PreviousResult()


def test_an_owner_changes_it_and_an_edit_of_something_else_leaves_it(world: World) -> None:
    """P2"""
    task = world.created(builders.create(**ASKS))
    edits: tuple[dict[str, Any], ...] = (
        {"title": "Another"},
        {"include_previous_result": False},
        {"title": "A third"},
    )
    found = []
    for fields in edits:
        command = EditTask(user_id=task.user_id, task_id=task.id, **fields)
        edited = world.management.edit_task(command, world.now).task
        found.append(edited.definition.include_previous_result)
    assert found == [True, False, False]
