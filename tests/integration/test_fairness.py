"""Who is next when there is too little room, through real ticks: priority, age, and fairness."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import builders
from nightshift.domain.commands import ScheduleRequest
from nightshift.domain.model.task import Task
from real import RealWorld

BACKLOG = 1000
FIVE = 5
PAGE = 250
"""Index entries of a later page of the line."""


def once_after(real: RealWorld, seconds: int, user: str = builders.ALICE, priority: int = 5) -> str:
    """The id of a task that is due once, so many seconds from now."""
    schedule = ScheduleRequest(spec={"after_seconds": seconds})
    command = builders.create(user_id=user, schedule=schedule, priority=priority)
    return real.created(command).id


def store(real: RealWorld, tasks: list[Task]) -> None:
    """Store tasks as they are."""

    def create(task: Task) -> None:
        real.tasks.create(task, builders.payload(task), max_tasks=2 * BACKLOG)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, tasks))


def test_a_backlog_of_one_user_keeps_nobody_else_waiting_and_costs_few_reads(
    real: RealWorld,
) -> None:
    """P14: a user at the own limit is passed over by key, however long the backlog.

    The seats are read once, the line in pages of 250, the rows of those who start in
    batches; nothing is read of the tasks that are passed over.
    """
    real.build(builders.policy(max_concurrent_runs=10, max_concurrent_runs_per_user=FIVE))
    due = builders.NOW + timedelta(minutes=1)
    backlog = [builders.task(builders.once(due), number=number) for number in range(1, BACKLOG + 1)]
    later = builders.once(due + timedelta(minutes=1))
    others = [
        builders.task(later, number=BACKLOG + number, user_id=builders.BOB)
        for number in range(1, FIVE + 1)
    ]
    store(real, backlog[:1])
    store(real, backlog[1:] + others)
    real.pass_time(timedelta(minutes=3))
    with real.billed() as bill:
        real.look()
    started = [slot.task_id for slot in real.runs.slots()]
    assert sorted(started) == [task.id for task in (*backlog[:FIVE], *others)]
    assert bill.calls["TransactWriteItems"] == bill.calls["StartExecution"] == 10
    pages = 1 + BACKLOG // PAGE
    assert bill.calls["Query"] <= 1 + 10 + pages
    assert bill.calls["GetItem"] <= 1
    assert bill.calls["BatchGetItem"] <= 2
    assert bill.items_read <= BACKLOG + FIVE, bill
    assert set(bill.calls) == {
        *("Query", "GetItem", "BatchGetItem", "TransactWriteItems", "StartExecution")
    }


def test_who_is_due_later_starts_before_those_of_a_lower_priority_who_wait(
    real: RealWorld,
) -> None:
    """P14: highest priority first, then oldest due first, whoever came first to the table."""
    real.build(builders.policy(max_concurrent_runs=1))
    holder = once_after(real, 1)
    real.pass_time(timedelta(seconds=2))
    real.look()
    assert [slot.task_id for slot in real.runs.slots()] == [holder]
    waiting = {seconds: once_after(real, seconds) for seconds in (30, 10, 20)}
    real.pass_time(timedelta(seconds=60))
    real.look()
    urgent = once_after(real, 5, priority=9)
    low = once_after(real, 1, priority=0)
    real.pass_time(timedelta(seconds=10))
    real.look()
    order = []
    for _ in range(5):
        (slot,) = real.runs.slots()
        real.end(slot.run_id)
        real.look()
        order += [slot.task_id for slot in real.runs.slots()]
    assert order == [urgent, waiting[10], waiting[20], waiting[30], low]


def test_of_equal_priority_and_time_the_order_is_that_of_the_ids(real: RealWorld) -> None:
    """P14: so that every tick sees one order."""
    real.build(builders.policy(max_concurrent_runs=2))
    due = builders.once(builders.NOW + timedelta(minutes=1))
    tasks = [builders.task(due, number=number) for number in (3, 1, 4, 2)]
    store(real, tasks)
    real.pass_time(timedelta(minutes=2))
    real.look()
    started = sorted(slot.task_id for slot in real.runs.slots())
    assert started == [builders.task_id(1), builders.task_id(2)]
