"""Verification never guesses; a cancelled run ends as Step Functions says (P7, SPEC section 6)."""

import pytest

import builders
from builders import ALICE, BOB, DAY, HOUR, MINUTE, NOW, statuses
from nightshift.domain.commands import CancelRun
from nightshift.domain.errors import ExecutionsUnavailable, RunNotFound, TaskNotFound
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def active(world: World, task: Task | None = None, *, started: bool = True) -> Slot:
    """The slot of a launched run, past the fence or not."""
    stored = world.add(task or builders.task())
    world.now = DUE
    world.dispatched(stored)
    if started:
        world.started(world.only_run(stored).id)
    return world.slot(stored)


def cancel(world: World, slot: Slot, user_id: str = ALICE) -> Run:
    """Cancel a run as its owner does."""
    return world.lifecycle.cancel_run(CancelRun(user_id, slot.task_id, slot.run_id))


def only_run(world: World) -> Run:
    """The one run of the one task."""
    return world.only_run(builders.task())


# -- verification --


@pytest.mark.parametrize("started", [True, False])
def test_a_running_execution_is_left_alone_however_old(world: World, started: bool) -> None:
    """B40, B45: RUNNING frees nothing."""
    slot = active(world, started=started)
    before = (only_run(world), world.store.held_keys())
    assert not world.lifecycle.verify(slot, DUE + 365 * DAY)
    assert (only_run(world), world.store.held_keys()) == before


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("started", [True, False])
def test_an_ended_execution_completes_the_run_with_its_true_outcome(
    world: World, started: bool, outcome: Outcome
) -> None:
    """B82, SPEC section 6: also one that ended before anybody saw it run."""
    slot = active(world, started=started)
    world.executions.end(slot.run_id, outcome, DUE + MINUTE, reason="a_reason")
    assert world.lifecycle.verify(slot, DUE + HOUR)
    run = only_run(world)
    assert (run.status, run.finished_at) == (RunStatus(outcome.value), DUE + MINUTE)
    assert world.store.held_keys() == {}


def test_an_execution_that_does_not_exist_may_still_come_before_the_deadline(
    world: World,
) -> None:
    """SPEC section 6: absence proves nothing."""
    slot = active(world, started=False)
    world.executions.forget(slot.run_id)
    assert not world.lifecycle.verify(slot, slot.launch_deadline - MINUTE)
    assert only_run(world).status is RunStatus.QUEUED


@pytest.mark.parametrize(("started", "reason"), [(False, "not_launched"), (True, "execution_lost")])
def test_an_execution_that_does_not_exist_after_the_deadline_failed(
    world: World, started: bool, reason: str
) -> None:
    """SPEC section 6: failed, with a text, and the keys are free."""
    slot = active(world, started=started)
    world.executions.forget(slot.run_id)
    assert world.lifecycle.verify(slot, slot.launch_deadline)
    run = only_run(world)
    assert (run.status, run.reason) == (RunStatus.FAILED, reason)
    assert run.error
    assert world.store.held_keys() == {}


def test_a_run_that_was_fenced_off_ends_as_interrupted(world: World) -> None:
    """SPEC section 6: `Fenced` completes a run that still holds its keys."""
    slot = active(world, builders.task(builders.once(DUE)), started=False)
    world.executions.end(slot.run_id, Outcome.INTERRUPTED, DUE + MINUTE, reason="fenced")
    assert world.lifecycle.verify(slot, DUE + HOUR)
    assert statuses([only_run(world)]) == ["interrupted: fenced"]
    assert world.read(builders.task()).state.status is TaskStatus.CANCELLED


def test_verifying_a_run_that_ended_meanwhile_changes_nothing(world: World) -> None:
    """B90: nor does it touch the run that came after it."""
    slot = active(world)
    world.executions.end(slot.run_id, Outcome.FAILED, DUE + MINUTE, reason="nonzero_exit")
    world.lifecycle.verify(slot, DUE + MINUTE)
    world.now = DUE + HOUR
    second = world.dispatched(builders.task()).run_id
    keys = world.store.held_keys()
    assert world.lifecycle.verify(slot, DUE + HOUR)
    assert world.store.held_keys() == keys
    assert set(keys.values()) == {second}
    assert statuses(world.history(builders.task())) == ["queued", "failed: nonzero_exit"]


def test_a_slot_whose_record_is_gone_is_freed_by_its_verification(world: World) -> None:
    """B51: a `once` task is not left running."""
    slot = active(world, builders.task(builders.once(DUE)))
    world.executions.end(slot.run_id, Outcome.SUCCESS, DUE + MINUTE)
    world.store.lose_run(slot.run_id)
    assert world.lifecycle.verify(slot, DUE + HOUR)
    assert world.store.held_keys() == {}
    assert world.read(builders.task()).state.status is TaskStatus.COMPLETED


# -- cancellation --


def test_a_cancelled_run_is_marked_then_stopped_and_keeps_its_keys(world: World) -> None:
    """P7: confirmed by Step Functions before its keys are free."""
    slot = active(world)
    run = cancel(world, slot)
    assert run.status is RunStatus.RUNNING
    assert world.slot(builders.task()).cancel_requested
    assert world.executions.stops == [slot.run_id]
    assert len(world.store.held_keys()) == 2


def test_a_confirmed_stop_ends_the_run_as_interrupted(world: World) -> None:
    """P7, SPEC section 2: `once` cancelled, not failed."""
    slot = active(world, builders.task(builders.once(DUE)))
    cancel(world, slot)
    world.lifecycle.cancel_again(world.slot(builders.task()), DUE + MINUTE)
    assert statuses([only_run(world)]) == ["interrupted: cancelled"]
    assert world.read(builders.task()).state.status is TaskStatus.CANCELLED
    assert world.store.held_keys() == {}


def test_a_cancelled_run_leaves_a_recurring_task_unaffected(world: World) -> None:
    """SPEC section 2: neither schedule nor error."""
    slot = active(world)
    before = world.read(builders.task()).state
    cancel(world, slot)
    world.lifecycle.cancel_again(world.slot(builders.task()), DUE + MINUTE)
    after = world.read(builders.task()).state
    assert (after.status, after.next_run_at) == (before.status, before.next_run_at)
    assert (after.last_status, after.last_error) == ("interrupted", None)


def test_a_stop_is_repeated_while_the_execution_runs(world: World) -> None:
    """SPEC section 6: every tick stops it again."""
    slot = active(world)
    world.executions.ignores_stops = True
    cancel(world, slot)
    for _ in range(3):
        world.lifecycle.cancel_again(world.slot(builders.task()), DUE + HOUR)
    assert world.executions.stops == [slot.run_id] * 4
    assert only_run(world).status is RunStatus.RUNNING


def test_a_run_that_had_already_ended_keeps_its_outcome(world: World) -> None:
    """P7: the outcome is what Step Functions says."""
    slot = active(world)
    world.executions.end(slot.run_id, Outcome.SUCCESS, DUE + MINUTE)
    cancel(world, slot)
    world.lifecycle.cancel_again(world.slot(builders.task()), DUE + HOUR)
    assert only_run(world).status is RunStatus.SUCCESS


def test_a_recorded_run_is_returned_as_it_is_and_nothing_is_stopped(world: World) -> None:
    """P7."""
    slot = active(world)
    news = world.executions.end(slot.run_id, Outcome.SUCCESS, DUE + MINUTE)
    world.lifecycle.record_outcome(news)
    assert cancel(world, slot) == only_run(world)
    assert world.executions.stops == []


def test_a_run_cancelled_before_its_launch_ends_without_an_execution(world: World) -> None:
    """P7, SPEC section 6: recovery never launches it, the fence would not let it pass."""
    slot = active(world, started=False)
    world.executions.forget(slot.run_id)
    cancel(world, slot)
    assert not world.store.pass_fence(slot.run_id, slot.nonce, DUE)
    world.lifecycle.cancel_again(world.slot(builders.task()), DUE + MINUTE)
    assert statuses([only_run(world)]) == ["interrupted: cancelled"]
    assert world.store.held_keys() == {}


def test_the_next_run_is_not_cancelled_in_place_of_the_one_that_ended(world: World) -> None:
    """B90: the mark goes to the run that was named."""
    slot = active(world)
    world.lifecycle.record_outcome(world.executions.end(slot.run_id, Outcome.SUCCESS, DUE))
    world.now = DUE + HOUR
    second = world.dispatched(builders.task()).run_id
    cancel(world, slot)
    assert not world.slot(builders.task()).cancel_requested
    assert world.slot(builders.task()).run_id == second
    assert world.executions.stops == []


def test_a_run_that_ends_under_its_cancellation_passes_it_to_nobody(world: World) -> None:
    """B90: the slot that is found must be the run's own."""
    slot = active(world)

    def make_way() -> None:
        world.lifecycle.record_outcome(world.executions.end(slot.run_id, Outcome.SUCCESS, DUE))
        world.now = DUE + HOUR
        world.dispatched(builders.task())

    world.store.before("runs.slot", make_way)
    assert cancel(world, slot).status is RunStatus.SUCCESS
    assert not world.slot(builders.task()).cancel_requested
    assert world.executions.stops == []


def test_only_the_owner_cancels_a_run(world: World) -> None:
    """P8: another user's task and run do not exist; nor does one that never was."""
    slot = active(world)
    with pytest.raises(TaskNotFound):
        cancel(world, slot, user_id=BOB)
    theirs = world.add(builders.task(number=2, user_id=BOB))
    with pytest.raises(RunNotFound):
        world.lifecycle.cancel_run(CancelRun(BOB, theirs.id, slot.run_id))
    with pytest.raises(RunNotFound):
        world.lifecycle.cancel_run(CancelRun(ALICE, slot.task_id, f"{slot.task_id}-x"))
    assert not world.slot(builders.task()).cancel_requested
    assert world.executions.stops == []


def test_a_requested_cancellation_stands_though_the_stop_got_no_answer(world: World) -> None:
    """P7: the mark is what counts; the next tick stops it again."""
    slot = active(world)
    world.executions.deafen_stops(ExecutionsUnavailable())
    assert cancel(world, slot).status is RunStatus.RUNNING
    assert world.slot(builders.task()).cancel_requested
    assert len(world.told("stop_unanswered")) == 1
