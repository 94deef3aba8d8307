"""Dispatches that race: the transaction decides, and the fast look says the same (K4)."""

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW, statuses
from nightshift.domain.errors import PersistenceUncertain
from nightshift.domain.exchanged import AdmissionAnswer, Thread
from nightshift.domain.model.enums import DispatchExit, Outcome, TaskStatus
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def due(world: World, task: Task | None = None) -> Task:
    """A stored task that is due now."""
    stored = world.add(task or builders.task())
    world.now = DUE
    return stored


def admit_elsewhere(world: World, task: Task, *, seat: int = 0) -> None:
    """Let another tick win the occurrence at this very moment."""
    admission = builders.admission(task, nonce="elsewhere", seat=seat)
    assert world.store.runs.admit(admission).answer is AdmissionAnswer.ADMITTED


# -- the fast look equals the refused transaction --


def overlapping(kind: str) -> tuple[World, Task]:
    """A world in which the task's slot is taken while it is due again."""
    world = World()
    task = world.add(builders.task(builders.once(DUE) if kind == "once" else None))
    if kind == "same run":
        admit_elsewhere(world, task)
    else:
        world.started(world.trigger(task).id)
    stored = world.read(task)
    if stored.state.next_run_at != DUE:
        assert world.store.tasks.advance(stored, task.plan(TaskStatus.ENABLED, NOW))
    world.now = DUE
    return world, task


@pytest.mark.parametrize("kind", ["recurring", "once", "same run"])
def test_the_fast_look_and_the_refused_transaction_give_the_same_result(kind: str) -> None:
    """SPEC section 6: result, records, task and keys, to the letter."""
    seen = []
    for seen_slot in (True, False):
        world, task = overlapping(kind)
        result = world.dispatched(task, seen_slot=seen_slot)
        keys = world.store.held_keys()
        seen.append((result, world.history(task), world.read(task), keys))
    assert seen[0] == seen[1]
    expected = ("taken_elsewhere", 1) if kind == "same run" else ("overlap", 2)
    result, history, _, _ = seen[0]
    assert (result.reason, len(history)) == expected


# -- others were first --


def test_an_occurrence_that_another_tick_takes_meanwhile_is_a_conflict(world: World) -> None:
    """P13, B38: nothing is written, nothing launched twice."""
    task = due(world)
    world.store.before("runs.admit", lambda: admit_elsewhere(world, task))
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "taken_elsewhere")
    assert statuses(world.history(task)) == ["queued"]
    assert world.executions.orders == []


def test_an_occurrence_that_was_recorded_meanwhile_only_advances(world: World) -> None:
    """K4, B43: a task that still shows it moves on to its next time."""
    task = due(world)
    world.dispatched(task)
    world.ended(world.only_run(task).id)
    done = world.read(task)
    world.store.tasks.advance(done, task.plan(TaskStatus.ENABLED, NOW))
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "recorded")
    assert world.read(task).state.next_run_at == DUE + HOUR
    assert statuses(world.history(task)) == ["success"]


@pytest.mark.parametrize("change", ["edited", "paused", "deleted"])
def test_a_task_that_its_owner_changes_meanwhile_is_dropped(world: World, change: str) -> None:
    """B54, B65: no run, no record, no key."""
    task = due(world)

    def act() -> None:
        if change == "edited":
            definition = builders.with_definition(task, schedule=builders.every(600))
            changed = task.edited(definition, DUE, world.policy)
            assert world.store.tasks.replace(task, changed)
        elif change == "paused":
            assert world.store.tasks.switch(task, task.paused(None, DUE))
        else:
            assert world.store.tasks.delete(task, NOW)

    world.store.before("runs.admit", act)
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "changed")
    assert world.history(task) == []
    assert world.store.held_keys() == {}
    assert world.executions.orders == []


def test_a_task_that_changes_before_its_tombstone_is_dropped(world: World) -> None:
    """P13: a tombstone and the advance are one step."""
    task = due(world, builders.task(max_lateness_seconds=0))
    world.now = DUE + MINUTE
    paused = task.paused(None, DUE)
    world.store.before("runs.skip", lambda: world.store.tasks.switch(task, paused))
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "changed")
    assert world.history(task) == []
    assert world.read(task) == paused


def test_a_taken_seat_is_answered_by_the_next_free_one(world: World) -> None:
    """K4: under another nonce, since the body is another."""
    other, task = (world.add(builders.task(number=number)) for number in (1, 2))
    world.now = DUE
    world.store.before("runs.admit", lambda: admit_elsewhere(world, other, seat=0))
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    assert world.slot(task).keys.seat == 1


def test_an_occurrence_waits_when_the_last_seat_is_taken_meanwhile(world: World) -> None:
    """P14, K4: exactly the limit, however many race."""
    world.set_policy(max_concurrent_runs=1)
    other, task = (world.add(builders.task(number=number)) for number in (1, 2))
    world.now = DUE
    world.store.before("runs.admit", lambda: admit_elsewhere(world, other, seat=0))
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "budget_full")
    assert world.due_now() == [task.id]
    assert len(world.store.active_slots()) == 1


def test_a_thread_that_gets_busy_meanwhile_is_a_skip(world: World) -> None:
    """K4: read from the refused transaction; the seat is not used up."""
    world.store.threads.register(Thread("talk", ALICE, NOW))
    other, task = (world.add(builders.task(number=number, thread_id="talk")) for number in (1, 2))
    world.now = DUE
    world.store.before("runs.admit", lambda: admit_elsewhere(world, other, seat=5))
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.SKIPPED, "thread_busy")
    assert len(world.store.active_slots()) == 1


def test_an_admission_whose_answer_was_lost_is_settled_by_recovery(world: World) -> None:
    """K4, B44: the claim belongs to its run; the next look launches it under the same name."""
    task = due(world)

    def lose() -> None:
        raise PersistenceUncertain

    world.store.after("runs.admit", lose)
    with pytest.raises(PersistenceUncertain):
        world.dispatched(task)
    slot = world.slot(task)
    assert world.executions.orders == []
    world.now = slot.lease_until
    world.lifecycle.recover(slot, world.policy, world.now)
    assert world.executions.launched == [slot.run_id]


# -- old holders --


def test_an_old_holder_that_ended_makes_way(world: World) -> None:
    """SPEC section 6: before an occurrence is skipped, its old holder is verified."""
    task = due(world)
    world.dispatched(task)
    first = world.only_run(task)
    world.started(first.id)
    world.executions.end(first.id, Outcome.SUCCESS, DUE + MINUTE)
    for seen_slot in (True, False):
        world.now = (world.read(task).state.next_run_at or DUE) + MINUTE
        before = len(world.executions.launched)
        result = world.dispatched(task, seen_slot=seen_slot)
        assert result.exit is DispatchExit.LAUNCHED
        assert len(world.executions.launched) == before + 1
        newest = world.history(task)[0]
        world.started(newest.id)
        world.executions.end(newest.id, Outcome.FAILED, world.now)
    assert statuses(world.history(task))[1:] == ["failed", "success"]


def test_an_old_holder_that_runs_is_an_overlap_however_old(world: World) -> None:
    """B40, B45: RUNNING is left alone."""
    task = due(world)
    world.dispatched(task)
    world.started(world.only_run(task).id)
    world.now = DUE + 48 * HOUR
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.SKIPPED, "overlap")


def test_a_young_holder_is_believed_without_asking(world: World) -> None:
    """SPEC section 6: candidates are slots older than verify_after_seconds."""
    world.set_policy(verify_after_seconds=7200)
    task = due(world)
    world.dispatched(task)
    first = world.only_run(task)
    world.executions.end(first.id, Outcome.SUCCESS, DUE)
    world.now = DUE + HOUR
    assert world.dispatched(task).exit is DispatchExit.SKIPPED
    assert world.history(task)[1].status.active
