"""`RunStore`: leases and cancellations of active runs, and the history of ended ones."""

from dataclasses import replace

import pytest

import builders
from builders import HOUR, MINUTE, NOW
from contract.backends import Stores
from contract.steps import admitted, completed, completion, created, read
from nightshift.domain.errors import CorruptRecord, InvalidCursor
from nightshift.domain.model.enums import RunStatus, SlotState, Trigger
from nightshift.domain.model.task import Task

DUE = NOW + HOUR


# -- leases --


def test_a_lease_is_taken_by_the_slot_as_it_was_read(stores: Stores) -> None:
    """RunStore.take_lease: the slot with its new lease, which is also what is stored."""
    held = admitted(stores, created(stores))
    until = held.lease_until + 2 * MINUTE
    leased = stores.runs.take_lease(held, until)
    assert leased == replace(held, lease_until=until)
    assert stores.runs.slots() == [leased]


def test_a_lease_is_taken_once(stores: Stores) -> None:
    """RunStore.take_lease, B41: of two that read the same slot, one owns the launch."""
    held = admitted(stores, created(stores))
    assert stores.runs.take_lease(held, held.lease_until + 2 * MINUTE) is not None
    assert stores.runs.take_lease(held, held.lease_until + 3 * MINUTE) is None
    (stored,) = stores.runs.slots()
    assert stored.lease_until == held.lease_until + 2 * MINUTE


def test_a_run_past_the_fence_has_no_launch_to_lease(stores: Stores) -> None:
    """RunStore.take_lease, B45: a running run is never launched again."""
    held = admitted(stores, created(stores))
    assert stores.pass_fence(held, DUE)
    assert stores.runs.take_lease(held, DUE + HOUR) is None
    (stored,) = stores.runs.slots()
    assert (stored.state, stored.started_at) == (SlotState.RUNNING, DUE)


def test_a_run_whose_cancellation_was_requested_is_not_leased(stores: Stores) -> None:
    """RunStore.take_lease: recovery never launches such a run."""
    held = admitted(stores, created(stores))
    assert stores.runs.request_cancel(held)
    (marked,) = stores.runs.slots()
    assert stores.runs.take_lease(held, DUE + HOUR) is None
    assert stores.runs.take_lease(marked, DUE + HOUR) is None


def test_the_slot_of_another_run_is_not_leased(stores: Stores) -> None:
    """RunStore.take_lease: nor is one that is gone."""
    task = created(stores)
    first = completed(stores, task)
    assert stores.runs.take_lease(first, DUE + HOUR) is None
    second = admitted(stores, read(stores, task), nonce="nonce-b")
    assert stores.runs.take_lease(first, DUE + HOUR) is None
    assert stores.runs.slots() == [second]


# -- cancellation --


def test_a_requested_cancellation_closes_the_fence(stores: Stores) -> None:
    """RunStore.request_cancel: no launch and no fence succeeds; the keys stay."""
    held = admitted(stores, created(stores))
    assert stores.runs.request_cancel(held)
    assert not stores.pass_fence(held, DUE)
    assert stores.runs.slots() == [replace(held, cancel_requested=True)]
    assert set(stores.held_keys().values()) == {held.run_id}


def test_a_cancellation_can_be_requested_again(stores: Stores) -> None:
    """RunStore.request_cancel: True as long as the slot holds the run, running or not."""
    held = admitted(stores, created(stores))
    assert stores.pass_fence(held, DUE)
    assert stores.runs.request_cancel(held)
    assert stores.runs.request_cancel(held)
    (stored,) = stores.runs.slots()
    assert stored.cancel_requested


def test_a_cancellation_of_a_run_that_ended_marks_nothing(stores: Stores) -> None:
    """RunStore.request_cancel: False, and the next run is not cancelled in its place."""
    task = created(stores)
    first = completed(stores, task)
    assert not stores.runs.request_cancel(first)
    assert list(stores.runs.slots()) == []
    second = admitted(stores, read(stores, task), nonce="nonce-b")
    assert not stores.runs.request_cancel(first)
    assert stores.runs.slots() == [second]


# -- the fence --


def test_the_fence_is_passed_by_the_run_that_holds_the_slot(stores: Stores) -> None:
    """SPEC section 6: both rows become running; passing twice keeps the first instant."""
    held = admitted(stores, created(stores))
    assert stores.pass_fence(held, DUE)
    assert stores.pass_fence(held, DUE + MINUTE)
    (stored,) = stores.runs.slots()
    assert stored == replace(held, state=SlotState.RUNNING, started_at=DUE)


def test_the_fence_refuses_another_nonce(stores: Stores) -> None:
    """SPEC section 6: an execution of an admission that was undone does no work."""
    held = admitted(stores, created(stores))
    assert not stores.pass_fence(replace(held, nonce="nonce-z"), DUE)
    assert stores.runs.slots() == [held]


# -- one run --


def test_a_run_that_was_never_recorded_is_none(stores: Stores) -> None:
    """RunStore.get."""
    task = created(stores)
    assert stores.runs.get(task.id, f"{task.id}-20260302T130000000Z") is None


def test_a_run_that_cannot_be_read_is_a_corrupt_record(stores: Stores) -> None:
    """RunStore.get: ports, `CorruptRecord`."""
    task = created(stores)
    admission = builders.admission(task)
    stores.runs.admit(admission)
    stores.damage_run(admission.run)
    with pytest.raises(CorruptRecord):
        stores.runs.get(task.id, admission.run.id)


def test_a_slot_that_cannot_be_read_is_a_corrupt_record(stores: Stores) -> None:
    """RunStore.slot: ports, `CorruptRecord`."""
    task = created(stores)
    stores.damage_slot(admitted(stores, task))
    with pytest.raises(CorruptRecord):
        stores.runs.slot(task.id, task.slot_shard)


# -- history --


def with_history(stores: Stores, ended: int, *, active: bool = False) -> Task:
    """A task with some ended runs, and perhaps an active one that is the oldest of all."""
    task = created(stores)
    if active:
        oldest = replace(builders.slot(task, trigger=Trigger.MANUAL, now=NOW), nonce="oldest")
        admission = builders.admission(task, trigger=Trigger.MANUAL, now=NOW, nonce="oldest")
        assert admission.slot == oldest
        assert stores.runs.admit(admission).holder is None
    for _ in range(ended):
        stored = read(stores, task)
        plan = stored.plan_after_dispatch(None, NOW, counted=False)
        assert stores.runs.skip(builders.tombstone(stored), stored, plan)
    return task


def hours(stores: Stores, task: Task, *, limit: int, keep: int) -> list[list[int]]:
    """The history, page by page, as the hour of each record."""
    pages: list[list[int]] = []
    after = None
    while True:
        page = stores.runs.list(task.id, limit=limit, after=after, keep=keep)
        pages.append([run.created_at.hour for run in page.items])
        if page.next is None:
            return pages
        after = page.next


def test_a_history_is_newest_first(stores: Stores) -> None:
    """RunStore.list, P6."""
    task = with_history(stores, 3)
    assert hours(stores, task, limit=10, keep=10) == [[15, 14, 13]]


def test_manual_runs_and_occurrences_are_sorted_together(stores: Stores) -> None:
    """RunStore.list, K2: by time, whatever asked for them."""
    task = created(stores)
    for trigger, now in (
        (Trigger.SCHEDULE, DUE),
        (Trigger.MANUAL, DUE + 30 * MINUTE),
        (Trigger.SCHEDULE, DUE + HOUR),
    ):
        stored = read(stores, task)
        held = admitted(stores, stored, trigger=trigger, now=now, nonce=f"nonce-{now}")
        stores.runs.complete(completion(held))
    page = stores.runs.list(task.id, limit=10, keep=10)
    assert [run.trigger for run in page.items] == ["schedule", "manual", "schedule"]


def test_a_history_is_walked_page_by_page(stores: Stores) -> None:
    """RunStore.list: at most `limit`, after the page before."""
    task = with_history(stores, 5)
    assert hours(stores, task, limit=2, keep=10) == [[17, 16], [15, 14], [13]]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_no_walk_shows_more_than_the_newest_that_are_kept(stores: Stores, limit: int) -> None:
    """RunStore.list, K10: reads are cut at once, on whatever page the limit falls."""
    task = with_history(stores, 6)
    assert [hour for page in hours(stores, task, limit=limit, keep=3) for hour in page] == [
        18,
        17,
        16,
    ]


def test_a_page_that_is_not_of_this_history_is_refused(stores: Stores) -> None:
    """RunStore.list: InvalidCursor, not a page from somewhere else."""
    task = with_history(stores, 2)
    with pytest.raises(InvalidCursor):
        stores.runs.list(task.id, limit=1, after="nonsense", keep=10)


def test_a_history_passes_over_a_record_that_cannot_be_read_and_names_it(
    stores: Stores,
) -> None:
    """RunStore.list: Page, `corrupt`."""
    task = with_history(stores, 3)
    middle = stores.runs.list(task.id, limit=10, keep=10).items[1]
    stores.damage_run(middle)
    page = stores.runs.list(task.id, limit=10, keep=10)
    assert [run.created_at.hour for run in page.items] == [15, 13]
    (named,) = page.corrupt
    assert middle.id in named


def test_a_task_without_runs_has_an_empty_history(stores: Stores) -> None:
    """RunStore.list."""
    task = created(stores)
    page = stores.runs.list(task.id, limit=10, keep=10)
    assert (list(page.items), page.next) == ([], None)


def test_pruning_removes_what_is_beyond_the_newest(stores: Stores) -> None:
    """RunStore.prune, K10: and says how many."""
    task = with_history(stores, 5)
    assert stores.runs.prune(task.id, keep=2) == 3
    assert hours(stores, task, limit=10, keep=10) == [[17, 16]]
    assert stores.runs.prune(task.id, keep=2) == 0


def test_pruning_never_removes_an_active_run(stores: Stores) -> None:
    """RunStore.prune, K10: however old it is."""
    task = with_history(stores, 4, active=True)
    assert stores.runs.prune(task.id, keep=1) == 3
    statuses = [run.status for run in stores.runs.list(task.id, limit=10, keep=10).items]
    assert statuses == [RunStatus.SKIPPED, RunStatus.QUEUED]


def test_pruning_a_history_changes_nothing_of_its_task(stores: Stores) -> None:
    """K11, B80: counters and times never derive from history."""
    task = with_history(stores, 4)
    stored = read(stores, task)
    assert stores.runs.prune(task.id, keep=1) == 3
    assert read(stores, task) == stored
