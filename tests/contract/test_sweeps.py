"""`SweepStore`: every planned task on one page, and the place of the sweep."""

from dataclasses import replace
from datetime import datetime

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, created, read
from nightshift.domain.errors import StorageUnavailable
from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.replanning import Sweep
from nightshift.domain.model.task import Task

DUE = NOW + HOUR


def waiting(stores: Stores, number: int, due_at: datetime = DUE, **fields: object) -> Task:
    """A stored task that the clock will start."""
    task = builders.task(builders.once(due_at), number=number, **fields)  # type: ignore[arg-type]
    return created(stores, replace(task, due_shard=number % 2))


def pages(stores: Stores, limit: int) -> list[list[str]]:
    """The task ids of every page; one that is empty tells nothing."""
    found: list[list[str]] = []
    after: str | None = None
    while True:
        page = stores.sweeps.planned(limit=limit, after=after)
        found += [[task.id for task in page.items]] if page.items else []
        if (after := page.next) is None:
            return found


# -- the tasks --


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_every_planned_task_is_on_exactly_one_page(stores: Stores, limit: int) -> None:
    """SweepStore.planned: of all users, priorities and shards."""
    for number in range(1, 9):
        user = ALICE if number % 3 else BOB
        waiting(stores, number, DUE + number * MINUTE, priority=number, user_id=user)
    found = pages(stores, limit)
    assert all(len(page) <= limit for page in found)
    expected = [builders.task_id(number) for number in range(1, 9)]
    assert sorted(task_id for page in found for task_id in page) == expected


def test_tasks_of_one_bucket_come_soonest_first(stores: Stores) -> None:
    """SweepStore.planned: whoever is due soonest first in each part."""
    for number, minutes in ((2, 3), (4, 1), (6, 2)):
        waiting(stores, number, DUE + minutes * MINUTE)
    expected = [[builders.task_id(4)], [builders.task_id(6)], [builders.task_id(2)]]
    assert pages(stores, 1) == expected


def test_tasks_that_are_due_already_are_planned_tasks_too(stores: Stores) -> None:
    """SweepStore.planned: whatever time it is."""
    task = waiting(stores, 1, NOW + MINUTE)
    assert pages(stores, 10) == [[task.id]]


def test_a_page_holds_the_tasks_as_they_are_stored(stores: Stores) -> None:
    """SweepStore.planned: with all that planning needs, the beginning of the plan included."""
    task = created(stores, builders.task(builders.cron("0 9 * * *", zone="Asia/Tokyo")))
    (found,) = stores.sweeps.planned(limit=10).items
    assert found == read(stores, task) == task
    assert found.state.planned_from == NOW


def test_tasks_that_the_clock_will_not_start_are_on_no_page(stores: Stores) -> None:
    """SweepStore.planned: paused, blocked, or a `once` that runs."""
    paused, blocked, running = (waiting(stores, number) for number in (1, 2, 3))
    assert stores.tasks.switch(paused, paused.paused(None, NOW))
    assert stores.tasks.block(ref(blocked), "why", due_at=DUE)
    admitted(stores, running)
    assert read(stores, running).state.status is TaskStatus.RUNNING
    assert pages(stores, 10) == []


def test_a_row_that_cannot_be_read_is_named_and_passed_over(stores: Stores) -> None:
    """SweepStore.planned."""
    damaged, task = waiting(stores, 2), waiting(stores, 4)
    stores.damage_task(ref(damaged))
    page = stores.sweeps.planned(limit=10)
    assert [found.id for found in page.items] == [task.id]
    assert len(page.corrupt) == 1


def test_advancing_a_task_keeps_where_its_plan_began(stores: Stores) -> None:
    """TaskStore.advance: the whole plan is written."""
    task = created(stores, builders.task())
    plan = replace(task.plan(TaskStatus.ENABLED, DUE), planned_from=NOW + MINUTE)
    assert stores.tasks.advance(task, plan)
    assert read(stores, task).state.planned_from == NOW + MINUTE


# -- its place --


def test_before_the_first_sweep_there_is_no_progress(stores: Stores) -> None:
    """SweepStore.progress."""
    assert stores.sweeps.progress() is None


@pytest.mark.parametrize(
    "sweep",
    [
        Sweep("2026a"),
        Sweep("2026a", cursor="P5#0|x", found=True),
        Sweep("2026a", done=True),
    ],
)
def test_progress_is_what_was_recorded_last(stores: Stores, sweep: Sweep) -> None:
    """SweepStore.progress."""
    assert stores.sweeps.record(None, Sweep("2025z"))
    assert stores.sweeps.record(Sweep("2025z"), sweep)
    assert stores.sweeps.progress() == sweep


@pytest.mark.parametrize(
    "seen",
    [
        None,
        Sweep("2026a", "a"),
        Sweep("2026a", "b", found=True),
        Sweep("2026b", "a", found=True),
        Sweep("2026a", None, found=True),
        Sweep("2026a", "a", found=True, done=True),
    ],
)
def test_progress_is_recorded_only_from_where_it_stands(stores: Stores, seen: Sweep | None) -> None:
    """SweepStore.record: False when another tick was first, and nothing was written."""
    stands = Sweep("2026a", "a", found=True)
    stores.sweeps.record(None, stands)
    assert not stores.sweeps.record(seen, Sweep("2026a", "c"))
    assert stores.sweeps.progress() == stands


def test_a_store_that_does_not_answer_says_so(stores: Stores) -> None:
    """Ports: `StorageUnavailable` when nothing was written."""
    stores.unplug()
    with pytest.raises(StorageUnavailable):
        stores.sweeps.progress()
    with pytest.raises(StorageUnavailable):
        stores.sweeps.planned(limit=1)
