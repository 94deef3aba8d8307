"""`TaskStore.delete`: a task goes with its history, a run in flight goes on (P5)."""

from dataclasses import replace

import pytest

import builders
from builders import HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completed, completion, created
from nightshift.domain.errors import (
    QuotaExceeded,
)
from nightshift.domain.model.enums import Trigger
from nightshift.domain.model.task import Task

POLICY = builders.policy()


def edited(task: Task, **definition: object) -> Task:
    """The task one revision on, as an edit makes it."""
    return task.edited(builders.with_definition(task, **definition), NOW + MINUTE, POLICY)


def test_delete_removes_task_payload_history_and_index_entry(stores: Stores) -> None:
    """TaskStore.delete, P5, B78: history goes with the task."""
    task = created(stores)
    held = completed(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored, NOW)
    assert stores.tasks.get(ref(task)) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.runs.get(task.id, held.run_id) is None
    assert not list(stores.tasks.due(NOW + 100 * HOUR).hints)


def test_delete_leaves_the_users_other_tasks_alone(stores: Stores) -> None:
    """TaskStore.delete."""
    task, other = (created(stores, builders.task(number=number)) for number in (1, 2))
    completed(stores, other)
    kept = stores.tasks.get(ref(other))
    assert stores.tasks.delete(task, NOW)
    assert stores.tasks.get(ref(other)) == kept
    assert stores.tasks.payload(ref(other), 1) == builders.payload(other)
    assert len(stores.runs.list(other.id, limit=9, keep=9).items) == 1


def test_delete_keeps_the_payload_that_a_launch_still_needs(stores: Stores) -> None:
    """TaskStore.delete, P5: a run in flight goes on, its keys stay until it ends."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored, NOW)
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)
    assert stores.runs.slot(task.id, task.slot_shard) == held
    assert stores.runs.get(task.id, held.run_id) is not None


def test_delete_removes_the_payload_of_a_run_past_the_fence(stores: Stores) -> None:
    """TaskStore.delete: that launch needs it no more; the keys stay."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, NOW)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored, NOW)
    assert stores.tasks.payload(ref(task), 1) is None
    assert set(stores.held_keys().values()) == {held.run_id}


def test_delete_of_a_task_whose_run_was_admitted_meanwhile_removes_nothing(
    stores: Stores,
) -> None:
    """TaskStore.delete: also a manual run, which moves no time."""
    task = created(stores)
    admitted(stores, task, trigger=Trigger.MANUAL)
    assert not stores.tasks.delete(task, NOW)
    assert stores.tasks.get(ref(task)) is not None
    assert stores.tasks.payload(ref(task), 1) is not None


def test_delete_of_a_task_that_was_edited_meanwhile_removes_nothing(stores: Stores) -> None:
    """TaskStore.delete: False."""
    task = created(stores)
    changed = edited(task, title="New title")
    assert stores.tasks.replace(task, changed)
    assert not stores.tasks.delete(task, NOW)
    assert stores.tasks.get(ref(task)) == changed


def test_a_task_is_deleted_once(stores: Stores) -> None:
    """TaskStore.delete: the second deletion says that there was nothing, and frees no quota."""
    task = created(stores, builders.task(number=1), max_tasks=2)
    created(stores, builders.task(number=2), max_tasks=2)
    assert stores.tasks.delete(task, NOW)
    assert not stores.tasks.delete(task, NOW)
    created(stores, builders.task(number=3), max_tasks=2)
    with pytest.raises(QuotaExceeded):
        created(stores, builders.task(number=4), max_tasks=2)


def test_a_deleted_task_whose_run_ends_leaves_no_row(stores: Stores) -> None:
    """P5: its keys are released when it ends, and its result is dropped."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored, NOW)
    stores.runs.complete(completion(held))
    assert stores.held_keys() == {}
    assert stores.runs.get(task.id, held.run_id) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.tasks.get(ref(task)) is None


def test_a_task_row_does_not_change_with_the_value_it_was_written_from(stores: Stores) -> None:
    """Ports: what is stored is a copy."""
    labels = {"team": "support"}
    task = created(stores, builders.task(labels=labels))
    labels["team"] = "sales"
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stored.definition.labels == {"team": "support"}
    assert replace(stored, definition=task.definition) == task


def test_a_task_that_cannot_be_read_is_discarded_with_what_is_its_own(stores: Stores) -> None:
    """TaskStore.discard, P5: its place in the quota is free again."""
    task = created(stores, builders.task(number=1), max_tasks=1)
    held = completed(stores, task)
    stores.damage_task(ref(task))
    assert stores.tasks.discard(ref(task))
    assert stores.tasks.get(ref(task)) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.runs.get(task.id, held.run_id) is None
    assert not list(stores.tasks.due(NOW + 100 * HOUR).hints)
    created(stores, builders.task(number=2), max_tasks=1)
    assert not stores.tasks.discard(ref(task))


def test_discarding_a_task_leaves_the_keys_of_its_active_run(stores: Stores) -> None:
    """TaskStore.discard, P5: they stay until the run ends."""
    task = created(stores)
    held = admitted(stores, task)
    stores.damage_task(ref(task))
    assert stores.tasks.discard(ref(task))
    assert stores.runs.slot(task.id, task.slot_shard) == held
    assert stores.runs.complete(completion(held)).recorded
    assert stores.runs.slot(task.id, task.slot_shard) is None
    assert stores.runs.get(task.id, held.run_id) is None
