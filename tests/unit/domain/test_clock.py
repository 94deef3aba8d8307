"""One look of the clock: who is started, in which order, and within which budget (P14, P15)."""

from datetime import datetime
from typing import Any

import builders
from builders import ALICE, DAY, HOUR, MINUTE, NOW, SECOND, statuses
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.task import Task
from nightshift.domain.services.turns import BATCH
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


# -- who and in which order --


def test_an_idle_look_starts_nothing_and_reads_no_task(world: World) -> None:
    """SPEC section 6: the same calls with no task and with many sleeping ones."""
    calls = []
    for _ in range(2):
        world.store.forget_calls()
        world.look(NOW)
        assert world.store.calls("tasks.read") == world.store.calls("tasks.get") == 0
        calls.append(world.store.all_calls())
        for number in range(50):
            world.add(builders.task(number=number + 50 * len(calls)))
    assert calls[0] == calls[1]
    assert world.executions.launched == []


def test_due_tasks_are_started_by_priority_then_age_then_id(world: World) -> None:
    """P14."""
    waiting(world, 1, DUE, priority=5)
    waiting(world, 2, DUE - MINUTE, priority=5)
    waiting(world, 3, DUE, priority=9)
    waiting(world, 4, DUE, priority=5)
    waiting(world, 5, DUE - HOUR / 2, priority=0)
    world.look(DUE)
    assert launched(world) == [3, 2, 1, 4, 5]


def test_a_look_starts_each_occurrence_once(world: World) -> None:
    """P13: and so do any number of looks at the same instant."""
    task = world.add(builders.task())
    for _ in range(3):
        world.look(DUE)
    assert statuses(world.history(task)) == ["queued"]
    assert len(world.executions.orders) == 1


def test_more_tasks_than_a_batch_holds_are_all_started_in_order(world: World) -> None:
    """P14: the order holds from batch to batch."""
    for number in range(1, 2 * BATCH + 6):
        waiting(world, number, DUE + number * SECOND)
    world.look(DUE + HOUR)
    assert launched(world) == list(range(1, 2 * BATCH + 6))


def test_several_workers_start_the_same_tasks(world: World) -> None:
    """P14: starts of one batch overlap, nothing else changes."""
    crowd = World(workers=8)
    for number in range(1, 61):
        waiting(crowd, number)
    crowd.look(DUE)
    assert sorted(launched(crowd)) == list(range(1, 61))
    assert len(crowd.store.active_slots()) == 60


# -- within the budget --


def test_ten_due_tasks_share_three_seats_in_due_order(world: World) -> None:
    """P14: never more than three active, all ten run."""
    world.set_policy(max_concurrent_runs=3)
    for number in range(1, 11):
        waiting(world, number, DUE + number * SECOND)
    most = 0
    now = DUE + MINUTE
    while len(world.executions.launched) < 10:
        world.look(now)
        most = max(most, len(world.executions.running))
        world.ended(min(world.executions.running))
        now += MINUTE
    assert most == 3
    assert launched(world) == list(range(1, 11))


def test_a_task_that_waited_for_a_seat_runs_with_its_own_time(world: World) -> None:
    """P14, B61: the cap is full at 9:00 and free at 9:04."""
    world.set_policy(max_concurrent_runs=1)
    waiting(world, 1)
    daily = world.add(builders.task(builders.cron("0 13 * * *"), number=2))
    world.look(DUE)
    world.now = DUE + 4 * MINUTE
    world.ended(world.executions.launched[0])
    world.look(DUE + 5 * MINUTE)
    assert world.only_run(daily).scheduled_for == DUE
    assert world.read(daily).state.next_run_at == DUE + DAY


def test_the_kill_switch_starts_nothing_and_stops_nothing(world: World) -> None:
    """P14: a limit of 0; runs go on, and due tasks wait."""
    first, second = (waiting(world, number, DUE + number * MINUTE) for number in (0, 1))
    world.look(DUE)
    world.set_policy(max_concurrent_runs=0)
    world.look(DUE + MINUTE)
    assert world.executions.running == {world.only_run(first).id}
    assert world.history(second) == []
    world.set_policy(max_concurrent_runs=2)
    world.look(DUE + 2 * MINUTE)
    assert world.only_run(second).status is RunStatus.QUEUED


def test_a_lowered_budget_drains(world: World) -> None:
    """P14, K5: nothing is killed, nothing starts before there is room below the new limit."""
    world.set_policy(max_concurrent_runs=4)
    for number in range(1, 9):
        waiting(world, number, DUE + number * SECOND)
    now = DUE + MINUTE
    world.look(now)
    world.set_policy(max_concurrent_runs=2)
    seen = []
    while len(world.executions.launched) < 8:
        world.ended(min(world.executions.running))
        now += MINUTE
        world.look(now)
        seen.append(len(world.executions.running))
    assert seen == [3, 2, 2, 2, 2, 2]
    assert launched(world) == list(range(1, 9))


def test_a_running_task_is_skipped_though_the_budget_is_full(world: World) -> None:
    """P13, P14: its own run stands in its way, not the budget."""
    world.set_policy(max_concurrent_runs=1)
    task = world.add(builders.task())
    world.look(DUE)
    world.started(world.only_run(task).id)
    world.look(DUE + HOUR)
    assert statuses(world.history(task)) == ["skipped: overlap", "running"]
    assert world.read(task).state.next_run_at == DUE + 2 * HOUR


def test_a_skipped_task_uses_up_no_seat(world: World) -> None:
    """P14: the one behind it starts in the same look."""
    world.set_policy(max_concurrent_runs=2)
    world.store.threads.register(Thread("talk", ALICE, NOW))
    for number in (1, 2):
        waiting(world, number, DUE + number * MINUTE, thread_id="talk")
    waiting(world, 3, DUE + 3 * MINUTE)
    world.look(DUE + MINUTE)
    world.look(DUE + 3 * MINUTE)
    assert launched(world) == [1, 3]


def test_a_backlog_after_a_downtime_is_one_run_per_task_within_the_budget(world: World) -> None:
    """P15, B59: 200 tasks overdue by twelve hours."""
    world.set_policy(max_concurrent_runs=10)
    tasks = [world.add(builders.task(number=number)) for number in range(200)]
    now = NOW + 12 * HOUR
    for _ in range(20):
        world.look(now)
        assert len(world.executions.running) == 10
        for run_id in list(world.executions.running):
            world.ended(run_id)
        now += SECOND
    for task in tasks:
        run = world.only_run(task)
        assert (run.scheduled_for, run.folded) == (DUE, 11)
        assert run.folded_through == NOW + 12 * HOUR
        assert world.read(task).state.next_run_at == NOW + 13 * HOUR


def test_a_look_stops_before_an_admission_that_it_has_no_time_to_launch(world: World) -> None:
    """SPEC section 6: what was admitted was launched, the others stay due."""
    for number in range(1, 6):
        waiting(world, number, DUE + number * SECOND)
    world.look(DUE + MINUTE, has_time=lambda: len(world.executions.orders) < 2)
    assert launched(world) == [1, 2]
    assert len(world.store.active_slots()) == 2
    assert world.due_now() == [builders.task_id(number) for number in (3, 4, 5)]


# -- one user's share --


def test_a_user_at_their_limit_is_passed_over_and_nobody_waits_behind_them(world: World) -> None:
    """P14: 1,000 due tasks of one user and 5 newer ones of another; each gets their share."""
    world.set_policy(max_concurrent_runs=10, max_concurrent_runs_per_user=5)
    for number in range(1, 1001):
        waiting(world, number, DUE)
    for number in range(2001, 2006):
        waiting(world, number, DUE + MINUTE, user_id="bob")
    world.store.forget_calls()
    world.look(DUE + MINUTE)
    assert launched(world) == [1, 2, 3, 4, 5, 2001, 2002, 2003, 2004, 2005]
    assert world.store.calls("tasks.read") <= 2


def test_the_share_of_a_user_is_exact_and_goes_on_with_the_oldest(world: World) -> None:
    """P14: as many as allowed, the next when one has ended, in order."""
    world.set_policy(max_concurrent_runs=10, max_concurrent_runs_per_user=2)
    tasks = [waiting(world, number, DUE + number * SECOND) for number in range(1, 6)]
    for _ in range(3):
        world.look(DUE + MINUTE)
        assert len(world.store.active_slots()) <= 2
        for slot in world.store.active_slots():
            world.ended(slot.run_id)
    assert launched(world) == [1, 2, 3, 4, 5]
    assert [world.read(task).state.status.value for task in tasks] == ["completed"] * 5


def test_a_skip_of_a_user_at_their_limit_is_recorded_all_the_same(world: World) -> None:
    """P13: whoever is in the way of its own occurrence needs no place to be told so."""
    world.set_policy(max_concurrent_runs=3, max_concurrent_runs_per_user=1)
    task = world.add(builders.task())
    world.look(DUE)
    world.started(world.only_run(task).id)
    world.look(DUE + HOUR)
    assert statuses(world.history(task)) == ["skipped: overlap", "running"]


def test_with_the_budget_full_a_higher_priority_that_comes_later_goes_first(world: World) -> None:
    """P14: strict priority; among equals the oldest."""
    world.set_policy(max_concurrent_runs=1)
    waiting(world, 1, DUE)
    world.look(DUE)
    waiting(world, 2, DUE + SECOND)
    waiting(world, 3, DUE + 2 * SECOND)
    world.look(DUE + MINUTE)
    waiting(world, 4, DUE + 2 * MINUTE, priority=9)
    for _ in range(3):
        for slot in world.store.active_slots():
            world.ended(slot.run_id)
        world.look(DUE + 3 * MINUTE)
    assert launched(world) == [1, 4, 2, 3]
