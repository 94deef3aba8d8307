"""Launches that are unsettled: leased, and repeated under the same name (SPEC section 6)."""

from datetime import datetime

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND, statuses
from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.model.enums import Outcome, RunStatus, SlotState, TaskStatus, Trigger
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def unsettled(world: World, task: Task | None = None, *, starts: bool = False) -> Slot:
    """The slot of a run whose launch got no answer."""
    stored = world.add(task or builders.task())
    world.now = DUE
    world.executions.lose_next(starts=starts)
    world.dispatched(stored)
    return world.slot(stored)


def recover(world: World, slot: Slot, now: datetime | None = None) -> None:
    """Recover the launch when its lease is over, or at another time."""
    world.now = now or slot.lease_until
    world.lifecycle.recover(slot, world.policy, world.now)


def stored(world: World) -> Slot:
    """The slot of the one task as it is now."""
    return world.slot(builders.task())


@pytest.mark.parametrize("starts", [True, False])
def test_a_launch_without_an_answer_is_repeated_under_the_same_name(
    world: World, starts: bool
) -> None:
    """SPEC section 2, B93: one execution, whether or not the first request arrived."""
    slot = unsettled(world, starts=starts)
    recover(world, slot)
    assert world.executions.launched == [slot.run_id]
    assert len(world.executions.orders) == 2


def test_a_repeated_launch_says_the_same(world: World) -> None:
    """K2, B93: of all that an execution is started with, only the lease has changed."""
    slot = unsettled(world)
    recover(world, slot)
    first, second = world.executions.orders
    assert first.payload == second.payload
    changed = {
        name for name in Slot.__slots__ if getattr(first.slot, name) != getattr(second.slot, name)
    }
    assert changed == {"lease_until"}


def test_a_recovery_takes_the_lease_before_it_launches(world: World) -> None:
    """SPEC section 6, B41: of two ticks that read the same slot, one launches."""
    slot = unsettled(world)
    recover(world, slot)
    recover(world, slot)
    assert len(world.executions.orders) == 2
    assert stored(world).lease_until == slot.lease_until + 60 * SECOND


def test_a_lease_that_is_lost_again_can_be_recovered_again(world: World) -> None:
    """SPEC section 2: any Lambda may die between any two calls."""
    slot = unsettled(world)
    world.executions.lose_next(starts=False)
    recover(world, slot)
    recover(world, stored(world))
    assert world.executions.launched == [slot.run_id]
    assert len(world.executions.orders) == 3


def test_a_run_that_passed_the_fence_meanwhile_is_not_launched_again(world: World) -> None:
    """B45, B91."""
    slot = unsettled(world, starts=True)
    world.store.before("runs.take_lease", lambda: world.started(slot.run_id))
    recover(world, slot)
    assert len(world.executions.orders) == 1
    assert stored(world).state is SlotState.RUNNING


def test_a_recovered_launch_that_is_refused_fails_the_run(world: World) -> None:
    """SPEC section 2: by the same rules as the first attempt."""
    slot = unsettled(world, builders.task(builders.once(DUE)))
    world.executions.refuse_next("no")
    recover(world, slot)
    task = world.read(builders.task())
    assert (task.state.status, task.state.last_error) == (TaskStatus.FAILED, "no")
    assert statuses(world.history(task)) == ["failed: launch_failed"]
    assert world.store.held_keys() == {}


def test_a_recovered_manual_launch_that_is_refused_leaves_the_task_as_it_was(
    world: World,
) -> None:
    """SPEC section 3: what the slot kept is put back, whoever launches."""
    task = world.add(builders.task(builders.once(DUE)))
    world.executions.lose_next(starts=False)
    world.trigger(task)
    world.executions.refuse_next("no")
    recover(world, world.slot(task))
    assert world.read(task) == task
    world.now = DUE
    assert world.due_now() == [task.id]


def test_a_run_of_a_deleted_task_is_still_launched(world: World) -> None:
    """P5: a run in flight goes on; slot and payload are enough."""
    slot = unsettled(world)
    assert world.store.tasks.delete(world.read(builders.task()), NOW)
    recover(world, slot)
    assert world.executions.launched == [slot.run_id]
    world.ended(slot.run_id)
    assert world.store.held_keys() == {}


def test_a_launch_is_loud_when_nothing_can_be_launched_at_all(world: World) -> None:
    """SPEC section 2: the run stays queued."""
    slot = unsettled(world)
    world.executions.forbid_next()
    with pytest.raises(LaunchImpossible):
        recover(world, slot)
    assert stored(world).run_id == slot.run_id


# -- past the deadline --


def test_past_the_launch_deadline_step_functions_is_asked_and_nothing_launched(
    world: World,
) -> None:
    """SPEC section 6, B40: an execution that runs is left alone."""
    slot = unsettled(world, starts=True)
    recover(world, slot, slot.launch_deadline)
    assert len(world.executions.orders) == 1
    assert stored(world) == slot
    assert world.only_run(builders.task()).status is RunStatus.QUEUED


def test_past_the_launch_deadline_a_run_that_does_not_exist_is_failed(world: World) -> None:
    """SPEC section 6: keys free; the fence stops a latecomer."""
    slot = unsettled(world)
    recover(world, slot, slot.launch_deadline)
    assert statuses(world.history(builders.task())) == ["failed: not_launched"]
    assert world.store.held_keys() == {}
    assert not world.store.pass_fence(slot.run_id, slot.nonce, world.now)
    assert world.read(builders.task()).state.last_error is not None


def test_past_the_launch_deadline_an_ended_execution_is_recorded_as_it_ended(
    world: World,
) -> None:
    """SPEC section 6."""
    slot = unsettled(world, starts=True)
    world.executions.end(slot.run_id, Outcome.SUCCESS, DUE + MINUTE)
    recover(world, slot, slot.launch_deadline)
    run = world.only_run(builders.task())
    assert (run.status, run.finished_at) == (RunStatus.SUCCESS, DUE + MINUTE)


# -- what cannot be launched --


def test_a_run_whose_cancellation_was_requested_is_never_launched(world: World) -> None:
    """P7, SPEC section 6: it ends as interrupted, without an execution."""
    slot = unsettled(world)
    assert world.store.runs.request_cancel(slot)
    recover(world, stored(world))
    assert len(world.executions.orders) == 1
    assert statuses(world.history(builders.task())) == ["interrupted: cancelled"]
    assert world.store.held_keys() == {}


def test_a_launch_without_its_payload_waits_for_the_word_of_step_functions(
    world: World,
) -> None:
    """P18: it is not called failed before nothing can have started."""
    slot = unsettled(world, starts=True)
    task = world.read(builders.task())
    world.store.lose_payload(builders.ref(task), 1)
    recover(world, slot)
    assert world.only_run(task).status is RunStatus.QUEUED
    assert [event.facts["run_id"] for event in world.told("payload_missing")] == [slot.run_id]
    world.executions.forget(slot.run_id)
    recover(world, stored(world), slot.launch_deadline)
    assert statuses(world.history(task)) == ["failed: not_launched"]


def test_a_manual_run_is_recovered_like_any_other(world: World) -> None:
    """SPEC section 6."""
    task = world.add(builders.task())
    world.executions.lose_next(starts=False)
    run = world.trigger(task)
    recover(world, world.slot(task))
    assert world.executions.launched == [run.id]
    assert world.slot(task).trigger is Trigger.MANUAL
