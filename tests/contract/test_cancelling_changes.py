"""A change of a task that cancels its active run: one transaction, on any store (P7)."""

from collections.abc import Callable

import pytest

import builders
from builders import HOUR, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, created, ended, read
from nightshift.domain.errors import TaskNotMutable
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

DUE = NOW + HOUR

Change = Callable[[Stores, Task, Slot | None], bool]


def edit(stores: Stores, task: Task, cancel: Slot | None) -> bool:
    """Give the task another title."""
    definition = builders.with_definition(task, title="Another title")
    changed = task.edited(definition, DUE, builders.policy())
    return stores.tasks.replace(task, changed, cancel=cancel)


def pause(stores: Stores, task: Task, cancel: Slot | None) -> bool:
    """Pause the task."""
    return stores.tasks.switch(task, task.paused(None, DUE), cancel=cancel)


def delete(stores: Stores, task: Task, cancel: Slot | None) -> bool:
    """Delete the task."""
    return stores.tasks.delete(task, DUE, cancel=cancel)


CHANGES = pytest.mark.parametrize("change", [edit, pause, delete])


def slot_of(stores: Stores, task: Task) -> Slot | None:
    """The slot as it is now."""
    return stores.runs.slot(task.id, task.slot_shard)


@CHANGES
def test_a_change_requests_the_cancellation_with_it(stores: Stores, change: Change) -> None:
    """TaskStore: the slot says so as soon as the change is written."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    assert change(stores, read(stores, task), held)
    slot = slot_of(stores, task)
    assert slot is not None
    assert (slot.run_id, slot.cancel_requested) == (held.run_id, True)


@CHANGES
def test_without_it_the_run_goes_on(stores: Stores, change: Change) -> None:
    """P5: a run in flight goes on."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    assert change(stores, read(stores, task), None)
    slot = slot_of(stores, task)
    assert slot is not None
    assert not slot.cancel_requested


@CHANGES
def test_a_run_that_has_ended_meanwhile_makes_the_change_stale(
    stores: Stores, change: Change
) -> None:
    """TaskStore: nothing is written; who asked looks again."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    ended(stores, held)
    after = read(stores, task)
    assert not change(stores, after, held)
    assert read(stores, task) == after
    assert slot_of(stores, task) is None


@CHANGES
def test_the_next_run_is_not_the_one_that_was_to_be_cancelled(
    stores: Stores, change: Change
) -> None:
    """TaskStore, B90: by the name of the run."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    ended(stores, held)
    following = admitted(stores, read(stores, task), nonce="nonce-b")
    assert stores.pass_fence(following, DUE)
    assert not change(stores, read(stores, task), held)
    slot = slot_of(stores, task)
    assert slot is not None
    assert (slot.run_id, slot.cancel_requested) == (following.run_id, False)


def test_an_edit_does_not_cancel_a_launch_that_is_under_way(stores: Stores) -> None:
    """K7: its repetition would send what the edit replaced."""
    task = created(stores)
    held = admitted(stores, task)
    with pytest.raises(TaskNotMutable):
        edit(stores, read(stores, task), held)
    slot = slot_of(stores, task)
    assert slot is not None
    assert not slot.cancel_requested


@pytest.mark.parametrize("change", [pause, delete])
def test_a_pause_and_a_deletion_cancel_a_launch_that_is_under_way(
    stores: Stores, change: Change
) -> None:
    """P7: a run that is not yet launched is then never launched."""
    task = created(stores)
    held = admitted(stores, task)
    assert change(stores, read(stores, task), held)
    slot = slot_of(stores, task)
    assert slot is not None
    assert slot.cancel_requested
    assert not stores.pass_fence(held, DUE)
    assert (stores.tasks.get(ref(task)) is None) == (change is delete)
