"""What goes wrong with one task stops nobody; what goes wrong with the clock is loud (P20)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND, statuses
from nightshift.domain.errors import (
    ExecutionsUnavailable,
    LaunchImpossible,
    PersistenceUncertain,
    StorageUnavailable,
)
from nightshift.domain.model.enums import ActionKind, Outcome, TaskStatus
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def waiting(world: World, number: int, **fields: Any) -> Task:
    """A stored `once` task; the lower its number, the longer it waits."""
    schedule = builders.once(DUE + number * SECOND)
    return world.add(builders.task(schedule, number=number, **fields))


def fail(failure: Exception) -> None:
    """Raise it."""
    raise failure


# -- one poisoned task --


def test_a_poisoned_row_at_the_front_is_blocked_and_the_others_start(world: World) -> None:
    """P20, B29: it does not come back every minute."""
    poisoned, *good = (waiting(world, number) for number in range(1, 7))
    world.store.corrupt_task(builders.ref(poisoned), "the zone is not known")
    world.look(DUE + MINUTE)
    assert len(world.executions.launched) == 5
    (event,) = world.told("task_blocked")
    assert event.facts == {
        "task_id": poisoned.id,
        "reason": "the zone is not known",
        "corrupt_rows": 1,
    }
    world.look(DUE + 2 * MINUTE)
    assert len(world.told("task_blocked")) == 1
    assert world.due_now() == []
    assert all(statuses(world.history(task)) == ["queued"] for task in good)


def test_a_row_that_is_mended_and_resumed_runs_again(world: World) -> None:
    """P20: blocked is not deleted; an edit or resume brings it back."""
    task = world.add(builders.task(action_kind=ActionKind.SHELL))
    world.set_policy(allow_shell_actions=False)
    world.look(DUE)
    blocked = world.read(task)
    assert blocked.state.blocked_reason is not None
    assert (blocked.state.status, world.history(task)) == (TaskStatus.ENABLED, [])
    world.look(DUE + HOUR)
    assert world.history(task) == []
    world.set_policy(allow_shell_actions=True)
    world.store.tasks.switch(blocked, blocked.resumed(DUE + HOUR, world.policy))
    world.look(DUE + 2 * HOUR)
    assert world.only_run(task).scheduled_for == DUE + 2 * HOUR


def test_a_task_without_its_prompt_is_blocked(world: World) -> None:
    """P20."""
    task = waiting(world, 1)
    world.store.lose_payload(builders.ref(task), 1)
    world.look(DUE + MINUTE)
    assert world.read(task).state.blocked_reason == "The task's prompt or command is missing."


def test_a_task_whose_zone_is_gone_is_blocked_and_not_completed(world: World) -> None:
    """P20, B77: the next time is computed before the launch, and its failure is an error state."""
    lost = builders.cron("0 * * * *", zone="Mars/Olympus")
    task = builders.task(number=1)
    definition = builders.with_definition(task, schedule=lost)
    stored = world.add(replace(task, definition=definition))
    other = world.add(builders.task(number=2))
    world.look(DUE)
    state = world.read(stored).state
    assert state.blocked_reason is not None
    assert state.status is TaskStatus.ENABLED
    assert world.store.held_keys().keys() == {f"slot {other.id}", "seat 0"}


def test_a_task_that_is_gone_is_passed_over(world: World) -> None:
    """P5, B54: its entry of the index was stale."""
    gone, kept = (waiting(world, number) for number in (1, 2))
    world.store.before("tasks.read", lambda: world.store.tasks.delete(gone, NOW))
    world.look(DUE + MINUTE)
    assert [run_id.partition("-")[0] for run_id in world.executions.launched] == [kept.id]


# -- one failing task --


def test_a_failing_task_is_told_backed_off_and_stops_nobody(world: World) -> None:
    """SPEC section 6: its `due_at` moves, its `next_run_at` does not."""
    first, second = (waiting(world, number) for number in (1, 2))
    world.store.before("runs.admit", lambda: fail(RuntimeError("a bug")))
    world.look(DUE + 10 * SECOND)
    assert len(world.store.active_slots()) == 1
    state = world.read(first).state
    assert state.next_run_at == DUE + SECOND
    assert state.due_at == DUE + 10 * SECOND + MINUTE
    (event,) = world.told("dispatch_failed")
    assert event.facts == {
        "task_id": first.id,
        "run_id": occurrence_run_id(first.id, DUE + SECOND),
    }
    assert isinstance(event.error, RuntimeError)
    assert statuses(world.history(second)) == ["queued"]
    world.look(DUE + 70 * SECOND)
    assert world.only_run(first).scheduled_for == DUE + SECOND


@pytest.mark.parametrize(
    ("waited", "delay"),
    [(SECOND, MINUTE), (MINUTE, MINUTE), (5 * MINUTE, 5 * MINUTE), (DAY, HOUR)],
)
def test_a_task_is_backed_off_as_long_as_it_has_waited(
    world: World, waited: timedelta, delay: timedelta
) -> None:
    """SPEC section 6: from a minute to an hour, so that others get their turn."""
    task = world.add(builders.task(builders.once(DUE)))
    world.store.before("runs.admit", lambda: fail(RuntimeError("a bug")))
    world.look(DUE + waited)
    assert world.read(task).state.due_at == DUE + waited + delay


def test_a_table_that_gave_no_answer_makes_a_late_task_wait_a_moment_only(world: World) -> None:
    """P15: after a downtime one throttle does not cost an hour more."""
    task = world.add(builders.task(builders.once(DUE)))
    world.store.before("runs.admit", lambda: fail(StorageUnavailable()))
    world.look(DUE + 5 * HOUR)
    assert world.read(task).state.due_at == DUE + 5 * HOUR + MINUTE


def test_a_transient_failure_never_disables_a_task(world: World) -> None:
    """B76."""
    task = world.add(builders.task())
    for look in range(3):
        world.store.before("runs.admit", lambda: fail(StorageUnavailable()))
        world.look(DUE + look * HOUR)
        assert world.read(task).state.status is TaskStatus.ENABLED
    world.look(DUE + 4 * HOUR)
    assert world.only_run(task).scheduled_for == DUE


def test_an_uncertain_admission_is_not_backed_off_and_is_launched_later(world: World) -> None:
    """P18: the run that was admitted after all is found by its slot."""
    task = waiting(world, 1)
    world.store.after("runs.admit", lambda: fail(PersistenceUncertain()))
    world.look(DUE + MINUTE)
    assert world.executions.orders == []
    world.look(DUE + 3 * MINUTE)
    assert world.executions.launched == [world.only_run(task).id]


def test_a_back_off_that_fails_leaves_the_task_due(world: World) -> None:
    """SPEC section 6: it is met again in the next look."""
    task = waiting(world, 1)
    world.store.before("runs.admit", lambda: fail(StorageUnavailable()))
    world.store.before("tasks.back_off", lambda: fail(StorageUnavailable()))
    world.look(DUE + MINUTE)
    assert len(world.told("dispatch_failed")) == 2
    world.look(DUE + MINUTE)
    assert statuses(world.history(task)) == ["queued"]


def test_a_block_that_fails_leaves_the_task_due(world: World) -> None:
    """P20: told, and met again."""
    task = waiting(world, 1)
    world.store.corrupt_task(builders.ref(task))
    world.store.before("tasks.block", lambda: fail(StorageUnavailable()))
    world.look(DUE + MINUTE)
    assert len(world.told("dispatch_failed")) == 1
    world.look(DUE + MINUTE)
    assert len(world.told("task_blocked")) == 1


def test_one_runs_trouble_in_settling_stops_nobody(world: World) -> None:
    """SPEC section 6: nor the tasks that are due."""
    for number in (1, 2):
        waiting(world, number)
    for _ in range(2):
        world.executions.lose_next(starts=False)
    world.look(DUE + 2 * SECOND)
    third = waiting(world, 3)
    world.store.before("runs.take_lease", lambda: fail(StorageUnavailable()))
    world.look(DUE + 2 * MINUTE)
    assert len(world.told("settling_failed")) == 1
    assert len(world.executions.launched) == 2
    assert statuses(world.history(third)) == ["queued"]
    world.look(DUE + 3 * MINUTE)
    assert len(world.executions.launched) == 3


def test_a_slot_that_cannot_be_read_keeps_its_seat_and_stops_nobody(world: World) -> None:
    """P14: nobody runs on a seat that is not known to be free."""
    world.set_policy(max_concurrent_runs=2)
    first, second = (waiting(world, number) for number in (1, 2))
    world.look(DUE + SECOND)
    world.store.corrupt_slot(first.id)
    world.look(DUE + 3 * SECOND)
    assert world.slot(second).keys.seat == 1
    assert world.told("corrupt_slot")


# -- the clock itself --


def test_a_clock_that_may_not_start_executions_is_loud_and_admits_no_more(
    world: World,
) -> None:
    """SPEC section 2: what it admitted stays queued and is launched when that is mended."""
    first, *others = (waiting(world, number) for number in range(1, 6))
    world.executions.forbid_next()
    with pytest.raises(LaunchImpossible):
        world.look(DUE + MINUTE)
    assert len(world.executions.orders) == 1
    assert [slot.task_id for slot in world.store.active_slots()] == [first.id]
    assert world.due_now() == [task.id for task in others]
    world.look(DUE + 3 * MINUTE)
    assert len(world.executions.launched) == 5
    assert statuses(world.history(first)) == ["queued"]


def test_a_clock_that_cannot_recover_for_lack_of_permission_admits_nothing(
    world: World,
) -> None:
    """SPEC section 2."""
    waiting(world, 1)
    world.executions.lose_next(starts=False)
    world.look(DUE + SECOND)
    second = waiting(world, 2)
    world.executions.forbid_next()
    with pytest.raises(LaunchImpossible):
        world.look(DUE + 2 * MINUTE)
    assert world.history(second) == []
    assert world.due_now() == [second.id]


@pytest.mark.parametrize("operation", ["policies.current", "runs.slots", "tasks.due"])
def test_a_failure_of_the_look_itself_raises(world: World, operation: str) -> None:
    """SPEC section 6: nothing was admitted; the next minute comes anyway."""
    task = waiting(world, 1)
    world.store.before(operation, lambda: fail(StorageUnavailable()))
    with pytest.raises(StorageUnavailable):
        world.look(DUE + MINUTE)
    assert world.history(task) == []
    world.look(DUE + MINUTE)
    assert statuses(world.history(task)) == ["queued"]


def test_an_execution_that_gives_no_answer_about_its_run_frees_nothing(world: World) -> None:
    """SPEC section 6: verification never guesses."""
    task = waiting(world, 1)
    world.look(DUE + SECOND)
    run_id = world.only_run(task).id
    world.executions.end(run_id, Outcome.SUCCESS, DUE + SECOND)
    world.inspector.stay_silent(ExecutionsUnavailable())
    other = waiting(world, 2)
    world.look(DUE + HOUR)
    assert statuses(world.history(task)) == ["queued"]
    assert world.told("settling_failed")
    assert statuses(world.history(other)) == ["queued"]
