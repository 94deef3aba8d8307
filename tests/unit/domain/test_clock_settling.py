"""What a look settles before it starts anything, and what it tells (SPEC sections 6, 10)."""

from datetime import datetime
from typing import Any

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND, statuses
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def waiting(world: World, number: int, due_at: datetime = DUE, **fields: Any) -> Task:
    """A stored `once` task that is due at an instant."""
    return world.add(builders.task(builders.once(due_at), number=number, **fields))


def launched(world: World) -> list[int]:
    """The numbers of the tasks that were launched, in order."""
    return [
        int(run_id.partition("-")[0].removeprefix("tsk_")) for run_id in world.executions.launched
    ]


# -- what is unsettled comes first --


def test_a_look_recovers_before_it_starts(world: World) -> None:
    """SPEC section 6: the launches whose lease is over, under their old names."""
    world.executions.lose_next(starts=False)
    first = waiting(world, 1)
    world.look(DUE)
    waiting(world, 2, DUE + MINUTE)
    world.look(DUE + 2 * MINUTE)
    assert [order.slot.task_id for order in world.executions.orders] == [
        first.id,
        first.id,
        builders.task_id(2),
    ]
    assert launched(world) == [1, 2]


def test_a_lease_that_is_not_over_is_left_to_its_owner(world: World) -> None:
    """SPEC section 6, B41."""
    world.executions.lose_next(starts=False)
    waiting(world, 1)
    world.look(DUE)
    world.look(DUE + 59 * SECOND)
    assert len(world.executions.orders) == 1


def test_a_look_frees_the_seat_of_a_run_that_ended_unheard(world: World) -> None:
    """B82: every event lost; the true outcome is written and the seat used at once."""
    world.set_policy(max_concurrent_runs=1)
    first = waiting(world, 1)
    second = waiting(world, 2, DUE + MINUTE)
    world.look(DUE)
    run_id = world.only_run(first).id
    world.started(run_id)
    world.executions.end(run_id, Outcome.FAILED, DUE + MINUTE, reason="timeout")
    world.look(DUE + 6 * MINUTE)
    assert statuses(world.history(first)) == ["failed: timeout"]
    assert world.only_run(second).status is RunStatus.QUEUED


def test_a_run_that_the_list_names_is_not_asked_for(world: World) -> None:
    """SPEC section 6: a page of running executions clears most candidates cheaply."""
    task = waiting(world, 1)
    world.look(DUE)
    run_id = world.only_run(task).id
    world.started(run_id)
    world.executions.end(run_id, Outcome.SUCCESS, DUE)
    world.inspector.list_as_running(run_id)
    world.look(DUE + HOUR)
    assert world.only_run(task).status is RunStatus.RUNNING


def test_absence_from_the_list_proves_nothing(world: World) -> None:
    """SPEC section 6, B40: only the execution's own description decides."""
    task = waiting(world, 1)
    world.look(DUE)
    world.executions.leave_out_of_the_list(world.only_run(task).id)
    world.look(DUE + 9 * HOUR)
    assert world.only_run(task).status is RunStatus.QUEUED


def test_a_look_without_verification_asks_about_nobody(world: World) -> None:
    """SPEC section 6: in-tick polling need not verify each time."""
    task = waiting(world, 1)
    world.look(DUE)
    run_id = world.only_run(task).id
    world.started(run_id)
    world.executions.end(run_id, Outcome.SUCCESS, DUE)
    world.look(DUE + HOUR, verify=False)
    assert world.only_run(task).status is RunStatus.RUNNING
    world.look(DUE + HOUR)
    assert world.only_run(task).status is RunStatus.SUCCESS


def test_every_look_stops_a_cancelled_run_again_until_it_has_ended(world: World) -> None:
    """P7, SPEC section 6."""
    task = waiting(world, 1)
    world.look(DUE)
    run_id = world.only_run(task).id
    world.started(run_id)
    assert world.store.runs.request_cancel(world.slot(task))
    world.executions.ignores_stops = True
    world.look(DUE + SECOND)
    world.look(DUE + 2 * SECOND)
    assert world.executions.stops == [run_id, run_id]
    world.executions.ignores_stops = False
    world.look(DUE + 3 * SECOND)
    world.look(DUE + 4 * SECOND)
    assert statuses(world.history(task)) == ["interrupted: cancelled"]
    assert world.read(task).state.status is TaskStatus.CANCELLED
    assert world.store.held_keys() == {}


# -- what an operator hears --


def test_each_look_tells_the_age_of_the_oldest_due_task_and_the_seats_in_use(
    world: World,
) -> None:
    """SPEC section 10: the signal to alarm on."""
    world.set_policy(max_concurrent_runs=1)
    waiting(world, 1, priority=9)
    waiting(world, 2, priority=0)
    world.look(DUE)
    world.look(DUE + 90 * SECOND)
    first, second = (event.facts for event in world.told("looked"))
    assert (first["oldest_due_seconds"], first["seats_in_use"], first["seats"]) == (0.0, 0, 1)
    assert (second["oldest_due_seconds"], second["seats_in_use"]) == (90.0, 1)
    assert (first["budget_full"], second["budget_full"]) == (0, 1)
    assert (first["oldest_run_seconds"], second["oldest_run_seconds"]) == (0.0, 90.0)


@pytest.mark.parametrize("late", [0, 42])
def test_a_launch_tells_how_long_the_task_waited(world: World, late: int) -> None:
    """SPEC section 10: dispatch lag."""
    task = waiting(world, 1)
    world.look(DUE + late * SECOND)
    (event,) = world.told("dispatch_launched")
    assert event.facts["lag_seconds"] == late
    assert event.facts["run_id"] == world.only_run(task).id


def test_no_event_carries_a_prompt(world: World) -> None:
    """SPEC section 10: ids and numbers only."""
    secret = "the launch code is 0000"
    task = builders.task()
    world.store.tasks.create(task, builders.payload(task, secret), max_tasks=9)
    world.executions.refuse_next()
    world.look(DUE)
    world.look(DUE + HOUR)
    assert len(world.events) >= 4
    assert all(secret not in repr(event) for event in world.events)
