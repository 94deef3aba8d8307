"""`TaskStore`: an edit, a pause or a resume is written if the task is still as it was seen."""

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completed, created, ended
from nightshift.domain.errors import (
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import ContextMode, Outcome, TaskStatus, Trigger
from nightshift.domain.model.task import Task

POLICY = builders.policy()


def edited(task: Task, **definition: object) -> Task:
    """The task one revision on, as an edit makes it."""
    return task.edited(builders.with_definition(task, **definition), NOW + MINUTE, POLICY)


def rich_task() -> Task:
    """A task that uses every field of its definition."""
    return builders.task(
        builders.cron("0 9 * * 1-5", "30 18 * * 5", zone="America/New_York", max_runs=9),
        title="Zusammenfassung – 摘要",
        thread_id="support_1",
        assistant_id="assistant-7",
        priority=9,
        max_lateness_seconds=0,
        jitter_seconds=90,
        jitter_place=65,
        labels={"team": "support", "ort": "Zürich"},
    )


# -- replace --


def test_replace_writes_the_definition_and_the_plan(stores: Stores) -> None:
    """TaskStore.replace."""
    stores.threads.register(Thread("support_1", ALICE, NOW))
    task = created(stores)
    changed = task.edited(rich_task().definition, NOW + MINUTE, POLICY)
    assert stores.tasks.replace(task, changed)
    assert stores.tasks.get(ref(task)) == changed


def test_replace_clears_what_was_set(stores: Stores) -> None:
    """TaskStore.replace: None leaves nothing of the old value."""
    stores.threads.register(Thread("support_1", ALICE, NOW))
    task = created(stores, rich_task())
    changed = task.edited(builders.task().definition, NOW + MINUTE, POLICY)
    assert stores.tasks.replace(task, changed)
    assert stores.tasks.get(ref(task)) == changed


def test_replace_keeps_what_dispatch_and_completion_wrote_meanwhile(stores: Stores) -> None:
    """P19: nobody rewrites a whole row from an old read."""
    task = created(stores)
    held = admitted(stores, task, trigger=Trigger.MANUAL)
    stores.pass_fence(held, NOW)
    changed = edited(task, title="New title")
    ended(stores, held, error="it broke", outcome=Outcome.FAILED)
    assert stores.tasks.replace(task, changed)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stored.definition.title == "New title"
    assert stored.state.last_error == "it broke"
    assert stored.state.last_run_id == held.run_id
    assert stored.state.run_count == 1


def test_replace_swaps_the_payload(stores: Stores) -> None:
    """TaskStore.replace: the new one is written and the one it replaces removed."""
    task = created(stores)
    changed = edited(task, payload_revision=2)
    payload = builders.payload(changed, "another prompt")
    assert stores.tasks.replace(task, changed, payload)
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.tasks.payload(ref(task), 2) == payload


def test_replace_without_a_payload_keeps_the_one_there_is(stores: Stores) -> None:
    """TaskStore.replace: a renamed task still has its prompt."""
    task = created(stores)
    assert stores.tasks.replace(task, edited(task, title="New title"))
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)


def test_replace_of_a_task_that_was_edited_meanwhile_writes_nothing(stores: Stores) -> None:
    """TaskStore.replace: False, and the first edit stands."""
    task = created(stores)
    first = edited(task, title="First")
    assert stores.tasks.replace(task, first)
    second = edited(task, title="Second", payload_revision=2)
    assert not stores.tasks.replace(task, second, builders.payload(second, "second"))
    assert stores.tasks.get(ref(task)) == first
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)
    assert stores.tasks.payload(ref(task), 2) is None


def test_replace_of_a_task_that_was_dispatched_meanwhile_writes_nothing(stores: Stores) -> None:
    """TaskStore.replace, B65: the next time is no longer the one that was seen."""
    task = created(stores)
    completed(stores, task)
    dispatched = stores.tasks.get(ref(task))
    assert not stores.tasks.replace(task, edited(task, title="Late"))
    assert stores.tasks.get(ref(task)) == dispatched


def test_replace_never_recreates_a_deleted_task(stores: Stores) -> None:
    """K7: every update requires the row to exist."""
    task = created(stores)
    assert stores.tasks.delete(task, NOW)
    changed = edited(task, payload_revision=2)
    assert not stores.tasks.replace(task, changed, builders.payload(changed))
    assert stores.tasks.get(ref(task)) is None
    assert stores.tasks.payload(ref(task), 2) is None


def test_replace_is_refused_while_a_run_is_being_dispatched(stores: Stores) -> None:
    """TaskStore.replace, K7, P2: admitted and not yet past the fence."""
    task = created(stores)
    admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    changed = edited(stored, title="Too early", payload_revision=2)
    with pytest.raises(TaskNotMutable):
        stores.tasks.replace(stored, changed, builders.payload(changed))
    assert stores.tasks.get(ref(task)) == stored
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)


def test_replace_is_allowed_while_a_run_past_the_fence_goes_on(stores: Stores) -> None:
    """TaskStore.replace: an active run past the fence never needs its payload again."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, NOW)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    changed = edited(stored, payload_revision=2)
    assert stores.tasks.replace(stored, changed, builders.payload(changed))
    assert stores.tasks.get(ref(task)) == changed


def test_replace_by_a_thread_that_is_not_the_users_is_refused(stores: Stores) -> None:
    """TaskStore.replace, P8."""
    stores.threads.register(Thread("talk", BOB, NOW))
    task = created(stores)
    changed = edited(task, context_mode=ContextMode.REUSE_THREAD, thread_id="talk")
    with pytest.raises(ThreadNotFound):
        stores.tasks.replace(task, changed)
    assert stores.tasks.get(ref(task)) == task


# -- pause --


def test_pause_writes_status_and_plan(stores: Stores) -> None:
    """TaskStore.pause, P3: out of the clock's reach, and back again."""
    task = created(stores)
    paused = task.paused("on holiday", NOW + MINUTE)
    assert stores.tasks.switch(task, paused)
    assert stores.tasks.get(ref(task)) == paused
    assert not list(stores.tasks.due(NOW + HOUR).hints)
    resumed = paused.resumed(NOW + HOUR, POLICY)
    assert stores.tasks.switch(paused, resumed)
    assert stores.tasks.get(ref(task)) == resumed
    assert resumed.state.due_at is not None
    assert len(list(stores.tasks.due(resumed.state.due_at).hints)) == 1


def test_pause_is_allowed_while_a_run_is_being_dispatched(stores: Stores) -> None:
    """TaskStore.pause: a launch that is under way goes on."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.switch(stored, stored.paused(None, NOW + HOUR))
    assert stores.runs.slot(task.id, task.slot_shard) == held
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)


def test_pause_of_a_task_that_changed_meanwhile_writes_nothing(stores: Stores) -> None:
    """TaskStore.pause: False after an edit, a dispatch and a deletion."""
    task = created(stores)
    renamed = edited(task, title="New title")
    assert stores.tasks.replace(task, renamed)
    assert not stores.tasks.switch(task, task.paused(None, NOW))
    assert stores.tasks.get(ref(task)) == renamed
    admitted(stores, renamed)
    assert not stores.tasks.switch(renamed, renamed.paused(None, NOW))
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stored.state.status is TaskStatus.ENABLED
    assert stores.tasks.delete(stored, NOW)
    assert not stores.tasks.switch(stored, stored.paused(None, NOW))
    assert stores.tasks.get(ref(task)) is None
