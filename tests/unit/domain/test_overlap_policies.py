"""What becomes of an occurrence whose task still runs, by the task's own overlap policy (P13)."""

from typing import Any

import pytest

import builders
from builders import HOUR, MINUTE, NOW, statuses
from nightshift.domain.commands import EditTask, ScheduleEdit
from nightshift.domain.errors import ActiveRun
from nightshift.domain.model.enums import DispatchExit, Outcome, OverlapPolicy, TaskStatus
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def overlapping(world: World, overlap: OverlapPolicy, **fields: Any) -> tuple[Task, str]:
    """A task that is due again while its run, whose id is the second, is at work."""
    task = world.add(builders.task(builders.every(3600), overlap_policy=overlap, **fields))
    world.look(DUE)
    run_id = world.only_run(task).id
    world.started(run_id)
    world.now = DUE + HOUR
    return task, run_id


def test_one_that_queues_stays_due_and_runs_when_the_other_has_ended(world: World) -> None:
    """P13: nothing is written while it waits; it is not skipped and not lost."""
    task, run_id = overlapping(world, OverlapPolicy.QUEUE_ONE)
    before = world.read(task)
    for minute in range(3):
        world.look(DUE + HOUR + minute * MINUTE)
    assert world.read(task) == before
    assert statuses(world.history(task)) == ["running"]
    world.lifecycle.record_outcome(world.executions.end(run_id, Outcome.SUCCESS, world.now))
    world.look(DUE + HOUR + 3 * MINUTE)
    assert statuses(world.history(task)) == ["queued", "success"]
    assert world.history(task)[0].scheduled_for == DUE + HOUR


def test_further_ones_fold_into_the_one_that_waits(world: World) -> None:
    """P13, P15: one run for all of them, which names them."""
    task, run_id = overlapping(world, OverlapPolicy.QUEUE_ONE)
    world.look(DUE + 3 * HOUR)
    world.lifecycle.record_outcome(world.executions.end(run_id, Outcome.SUCCESS, world.now))
    world.look(DUE + 3 * HOUR + MINUTE)
    run = world.history(task)[0]
    assert (run.scheduled_for, run.folded, run.folded_through) == (DUE + HOUR, 2, DUE + 3 * HOUR)
    assert world.read(task).state.next_run_at == DUE + 4 * HOUR


def test_one_that_queues_holds_no_seat(world: World) -> None:
    """P14: the seat that is left is another task's."""
    world.set_policy(max_concurrent_runs=2)
    task, _ = overlapping(world, OverlapPolicy.QUEUE_ONE)
    other = world.add(builders.task(builders.once(DUE + HOUR), number=2))
    world.look(DUE + HOUR)
    assert statuses(world.history(other)) == ["queued"]
    assert statuses(world.history(task)) == ["running"]


def test_one_that_waits_for_itself_does_not_count_as_waiting_for_a_seat(world: World) -> None:
    """SPEC section 10: the age to alarm on speaks of a budget that is too small."""
    overlapping(world, OverlapPolicy.QUEUE_ONE)
    world.look(DUE + 2 * HOUR)
    assert world.told("looked")[-1].facts["oldest_due_seconds"] == 0


def test_one_that_queues_too_long_is_too_late(world: World) -> None:
    """P16: the task's own limit holds for the wait as well."""
    task, _ = overlapping(world, OverlapPolicy.QUEUE_ONE, max_lateness_seconds=600)
    world.look(DUE + HOUR + 11 * MINUTE)
    assert statuses(world.history(task)) == ["skipped: too_late", "running"]


def test_a_once_that_queues_waits_like_any_other(world: World) -> None:
    """P13: its only chance is not gone."""
    task, run_id = overlapping(world, OverlapPolicy.QUEUE_ONE)
    world.management.edit_task(
        EditTask(
            user_id=task.user_id,
            task_id=task.id,
            schedule=ScheduleEdit(spec={"once": format_instant(DUE + 2 * HOUR)}),
        ),
        world.now,
    )
    world.look(DUE + 2 * HOUR)
    assert world.read(task).state.status is TaskStatus.ENABLED
    world.lifecycle.record_outcome(world.executions.end(run_id, Outcome.SUCCESS, world.now))
    world.look(DUE + 2 * HOUR + MINUTE)
    assert statuses(world.history(task)) == ["queued", "success"]


def test_one_that_cancels_starts_when_the_end_of_the_other_is_confirmed(world: World) -> None:
    """P13, P7: Step Functions says that it is stopped, and in the same look the new one starts."""
    task, run_id = overlapping(world, OverlapPolicy.CANCEL_PREVIOUS)
    world.look(DUE + HOUR)
    assert statuses(world.history(task)) == ["queued", "interrupted: cancelled"]
    assert world.executions.stops == [run_id]


def test_one_that_cancels_waits_while_the_other_is_not_confirmed(world: World) -> None:
    """P7: keys are free only when Step Functions says so; every look stops it again."""
    task, run_id = overlapping(world, OverlapPolicy.CANCEL_PREVIOUS)
    world.executions.ignores_stops = True
    world.look(DUE + HOUR)
    world.look(DUE + HOUR + MINUTE)
    assert statuses(world.history(task)) == ["running"]
    assert world.slot(task).cancel_requested
    world.executions.ignores_stops = False
    world.look(DUE + HOUR + 2 * MINUTE)
    assert statuses(world.history(task)) == ["queued", "interrupted: cancelled"]
    assert world.history(task)[0].scheduled_for == DUE + HOUR
    assert run_id in world.executions.stops


def test_one_that_cancels_lets_a_run_keep_the_end_it_had(world: World) -> None:
    """P7: never both; a run that had already ended is what it was."""
    task, run_id = overlapping(world, OverlapPolicy.CANCEL_PREVIOUS)
    world.executions.end(run_id, Outcome.SUCCESS, world.now)
    world.look(DUE + HOUR)
    assert statuses(world.history(task)) == ["queued", "success"]


@pytest.mark.parametrize("overlap", list(OverlapPolicy))
def test_a_trigger_is_refused_whatever_the_policy(world: World, overlap: OverlapPolicy) -> None:
    """P4: never queued, and nobody else's run is stopped for it."""
    task, _ = overlapping(world, overlap)
    with pytest.raises(ActiveRun):
        world.trigger(task)


@pytest.mark.parametrize("seen_slot", [True, False])
@pytest.mark.parametrize(
    ("overlap", "reason"),
    [
        (OverlapPolicy.QUEUE_ONE, "waiting_for_previous"),
        (OverlapPolicy.CANCEL_PREVIOUS, "cancelling_previous"),
    ],
)
def test_the_fast_look_and_the_refused_transaction_say_the_same(
    world: World, overlap: OverlapPolicy, reason: str, *, seen_slot: bool
) -> None:
    """SPEC section 6: to the letter."""
    task, _ = overlapping(world, overlap)
    world.executions.ignores_stops = True
    result = world.dispatched(task, seen_slot=seen_slot)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, reason)
