"""Before an occurrence is lost to an old holder, the holder is verified (SPEC section 6)."""

from datetime import timedelta

import builders
from builders import ALICE, DAY, HOUR, MINUTE, NOW
from nightshift.domain.errors import ExecutionsUnavailable
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import DispatchExit, Outcome
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def two_in_one_thread(world: World) -> tuple[Task, Task]:
    """Two tasks of one thread; the first is due, launched and past the fence."""
    world.store.threads.register(Thread("talk", ALICE, NOW))
    first = builders.task(number=1, thread_id="talk")
    second = builders.task(builders.cron("30 * * * *"), number=2, thread_id="talk")
    world.add(first, second)
    world.now = DUE
    world.dispatched(first)
    world.started(world.only_run(first).id)
    return first, second


def test_a_thread_whose_old_run_ended_unheard_is_not_busy(world: World) -> None:
    """B82: the lost completion of one task costs another no occurrence."""
    first, second = two_in_one_thread(world)
    world.executions.end(world.only_run(first).id, Outcome.SUCCESS, DUE + MINUTE)
    world.now = DUE + timedelta(minutes=30)
    assert world.dispatched(second).exit is DispatchExit.LAUNCHED


def test_a_thread_whose_old_run_still_runs_is_busy(world: World) -> None:
    """P13: RUNNING is left alone, however old."""
    _, second = two_in_one_thread(world)
    world.now = DUE + timedelta(minutes=30)
    result = world.dispatched(second)
    assert (result.exit, result.reason) == (DispatchExit.SKIPPED, "thread_busy")


def test_a_trigger_verifies_the_old_holder_of_its_thread(world: World) -> None:
    """P4: 409 only while the other run really is active."""
    first, second = two_in_one_thread(world)
    world.executions.end(world.only_run(first).id, Outcome.SUCCESS, DUE + MINUTE)
    world.now = DUE + timedelta(minutes=10)
    assert world.trigger(second).task_id == second.id


def test_due_tasks_start_though_step_functions_lists_nothing(world: World) -> None:
    """SPEC section 6: what the list would have cleared waits; the others are not stopped by it."""
    old = world.add(builders.task(builders.every(DAY.days * 86_400), number=1))
    world.now = NOW + DAY
    world.dispatched(old)
    world.started(world.only_run(old).id)
    due = world.add(builders.task(builders.once(NOW + DAY + MINUTE), number=2))
    world.inspector.stay_silent(ExecutionsUnavailable())
    world.look(NOW + DAY + HOUR)
    assert [run.task_id for run in world.history(due)] == [due.id]
    assert world.told("settling_failed")
