"""A task run by hand: now, and its schedule none the wiser (P4)."""

import pytest

import builders
from builders import HOUR, MINUTE, NOW, statuses
from nightshift.domain.model.enums import (
    DispatchExit,
    Outcome,
    RunStatus,
    TaskStatus,
    Trigger,
)
from worlds import World

DUE = NOW + HOUR


def test_a_triggered_run_is_launched_at_once(world: World) -> None:
    """P4: and returned as it was admitted."""
    task = world.add(builders.task())
    run = world.trigger(task)
    assert (run.trigger, run.status) == (Trigger.MANUAL, RunStatus.QUEUED)
    assert run == world.only_run(task)
    assert world.executions.launched == [run.id]


def test_a_manual_run_has_a_key_of_its_own(world: World) -> None:
    """B69: no scheduled time, so that the real occurrence is not taken for done."""
    task = world.add(builders.task())
    world.now = DUE
    run = world.trigger(task)
    assert run.scheduled_for is None
    assert run.id != builders.slot(task).run_id


def test_a_manual_run_of_a_recurring_task_leaves_its_times_alone(world: World) -> None:
    """P4, B69: manual at noon, the hour's own run happens all the same."""
    task = world.add(builders.task())
    run = world.trigger(task)
    assert world.read(task) == builders.with_state(task, active_run_id=run.id, run_count=1)
    world.ended(run.id)
    world.now = DUE
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    assert statuses(world.history(task)) == ["queued", "success"]


def test_a_manual_run_leaves_an_overdue_occurrence_waiting(world: World) -> None:
    """P4, P14: what waits for a seat is not lost to a trigger."""
    task = world.add(builders.task())
    world.now = DUE + 5 * MINUTE
    world.ended(world.trigger(task).id)
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    assert world.history(task)[1].scheduled_for == DUE


def test_manual_runs_are_allowed_one_after_the_other(world: World) -> None:
    """B69: each once the one before has ended."""
    task = world.add(builders.task())
    for _ in range(3):
        world.ended(world.trigger(task).id)
    assert statuses(world.history(task)) == ["success"] * 3


def test_a_paused_task_can_be_triggered_and_stays_paused(world: World) -> None:
    """P3."""
    paused = builders.task().paused("on holiday", NOW)
    task = world.add(paused)
    run = world.trigger(task)
    assert world.read(task).state.status is TaskStatus.PAUSED
    world.ended(run.id)
    state = world.read(task).state
    assert (state.status, state.pause_reason) == (TaskStatus.PAUSED, "on holiday")
    assert state.next_run_at is None


@pytest.mark.parametrize("paused", [False, True])
def test_a_manual_run_of_a_once_task_is_its_run(world: World, paused: bool) -> None:
    """SPEC section 3, B70: it consumes it; also a paused one does not stay paused."""
    task = builders.task(builders.once(DUE))
    world.add(task.paused(None, NOW) if paused else task)
    run = world.trigger(task)
    assert world.read(task).state.status is TaskStatus.RUNNING
    world.ended(run.id)
    assert world.read(task).state.status is TaskStatus.COMPLETED
    world.now = DUE
    assert world.due_now() == []
    assert statuses(world.history(task)) == ["success"]


def test_a_finished_task_can_be_triggered_again(world: World) -> None:
    """P4: whatever the schedule says."""
    task = world.add(builders.task(builders.once(DUE)))
    world.ended(world.trigger(task).id, Outcome.FAILED)
    world.ended(world.trigger(task).id)
    assert world.read(task).state.status is TaskStatus.COMPLETED


def test_manual_runs_do_not_use_up_max_runs(world: World) -> None:
    """SPEC section 3."""
    task = world.add(builders.task(builders.cron("0 * * * *", max_runs=1)))
    world.ended(world.trigger(task).id)
    state = world.read(task).state
    assert (state.run_count, state.scheduled_run_count) == (1, 0)
    assert state.status is TaskStatus.ENABLED


def test_a_trigger_with_an_unknown_launch_answers_with_the_queued_run(world: World) -> None:
    """SPEC section 6: not an error; the next tick settles it under the same name."""
    task = world.add(builders.task())
    world.executions.lose_next(starts=False)
    run = world.trigger(task)
    assert run.status is RunStatus.QUEUED
    assert world.slot(task).run_id == run.id
    slot = world.slot(task)
    world.lifecycle.recover(slot, world.policy, slot.lease_until)
    assert world.executions.launched == [run.id]
