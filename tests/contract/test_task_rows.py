"""`TaskStore`: tasks, their payloads, and the changes people make."""

from dataclasses import replace

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completed, completion, created, ended
from nightshift.domain.errors import (
    CorruptRecord,
    QuotaExceeded,
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.model.enums import ActionKind, ContextMode, Outcome, TaskStatus, Trigger
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.ports import TaskRef, Thread

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
        jitter_seconds=30,
        labels={"team": "support", "ort": "Zürich"},
    )


# -- create and read --


def test_a_created_task_is_read_back_as_it_was_written(stores: Stores) -> None:
    """TaskStore.create and get: nothing of a task is lost or changed on its way."""
    stores.threads.register(Thread("support_1", ALICE, NOW))
    for task in (
        rich_task(),
        builders.task(builders.every(600), number=2),
        builders.task(builders.once(), number=3),
    ):
        created(stores, task)
        assert stores.tasks.get(ref(task)) == task


def test_a_created_payload_is_read_back_as_it_was_written(stores: Stores) -> None:
    """TaskStore.create and payload: prompts keep every character, up to 64 KiB."""
    text = "tab\t, line\n, “quotes”, 摘要 🦉 " + "x" * 60_000
    task = builders.task()
    stores.tasks.create(task, builders.payload(task, text), max_tasks=1)
    assert stores.tasks.payload(ref(task), 1) == Payload(task.id, ALICE, 1, ActionKind.AGENT, text)


def test_a_task_that_was_never_created_is_none(stores: Stores) -> None:
    """TaskStore.get and payload."""
    assert stores.tasks.get(TaskRef(ALICE, builders.task_id(1))) is None
    assert stores.tasks.payload(TaskRef(ALICE, builders.task_id(1)), 1) is None


def test_a_task_is_found_under_its_user_alone(stores: Stores) -> None:
    """P8: the same id under another user is another address."""
    task = created(stores)
    assert stores.tasks.get(TaskRef(BOB, task.id)) is None
    assert stores.tasks.payload(TaskRef(BOB, task.id), 1) is None


def test_a_row_that_cannot_be_read_is_a_corrupt_record(stores: Stores) -> None:
    """Ports: CorruptRecord is not the client's mistake and no missing row."""
    task = created(stores)
    stores.damage_task(ref(task))
    with pytest.raises(CorruptRecord):
        stores.tasks.get(ref(task))


def test_a_user_with_as_many_tasks_as_allowed_gets_no_more(stores: Stores) -> None:
    """TaskStore.create: QuotaExceeded, and nothing of the task is written."""
    for number in (1, 2):
        created(stores, builders.task(number=number), max_tasks=2)
    third = builders.task(number=3)
    with pytest.raises(QuotaExceeded):
        created(stores, third, max_tasks=2)
    assert stores.tasks.get(ref(third)) is None
    assert stores.tasks.payload(ref(third), 1) is None


def test_a_quota_of_nothing_allows_nothing(stores: Stores) -> None:
    """TaskStore.create: also for a user who never had a task."""
    with pytest.raises(QuotaExceeded):
        created(stores, max_tasks=0)


def test_each_user_has_a_quota_of_their_own(stores: Stores) -> None:
    """TaskStore.create: the count is the user's."""
    created(stores, builders.task(number=1), max_tasks=1)
    created(stores, builders.task(number=2, user_id=BOB), max_tasks=1)


def test_a_deleted_task_gives_back_its_place_in_the_quota(stores: Stores) -> None:
    """TaskStore.create and delete: the count falls with the task."""
    task = created(stores, builders.task(number=1), max_tasks=1)
    assert stores.tasks.delete(task)
    created(stores, builders.task(number=2), max_tasks=1)


@pytest.mark.parametrize("owner", [None, BOB])
def test_a_task_that_reuses_a_thread_that_is_not_the_users_is_refused(
    stores: Stores, owner: str | None
) -> None:
    """TaskStore.create, P8: another user's thread does not exist; nothing is written."""
    if owner is not None:
        stores.threads.register(Thread("talk", owner, NOW))
    task = builders.task(thread_id="talk")
    with pytest.raises(ThreadNotFound):
        created(stores, task, max_tasks=1)
    assert stores.tasks.get(ref(task)) is None
    created(stores, builders.task(number=2), max_tasks=1)


# -- lists --


def test_a_list_shows_the_users_tasks_from_the_oldest_on(stores: Stores) -> None:
    """TaskStore.list, P8."""
    tasks = [created(stores, builders.task(number=number)) for number in (3, 1, 2)]
    created(stores, builders.task(number=4, user_id=BOB))
    page = stores.tasks.list(ALICE, limit=10)
    assert list(page.items) == sorted(tasks, key=lambda task: task.id)
    assert page.next is None
    assert not page.corrupt


def test_a_list_is_walked_page_by_page(stores: Stores) -> None:
    """TaskStore.list: at most `limit` a page, and `next` is None on the last."""
    for number in range(1, 6):
        created(stores, builders.task(number=number))
    pages = []
    after = None
    while True:
        page = stores.tasks.list(ALICE, limit=2, after=after)
        pages.append([task.id for task in page.items])
        if page.next is None:
            break
        after = page.next
    first, second, third = pages
    assert first + second + third == [builders.task_id(number) for number in range(1, 6)]
    assert [len(page) for page in pages] == [2, 2, 1]


def test_a_list_begins_after_a_task_id(stores: Stores) -> None:
    """TaskStore.list: after the task id `after`, whether or not that task still exists."""
    tasks = [created(stores, builders.task(number=number)) for number in (1, 2, 3)]
    assert stores.tasks.delete(tasks[0])
    page = stores.tasks.list(ALICE, limit=10, after=tasks[0].id)
    assert list(page.items) == tasks[1:]


def test_a_list_passes_over_a_row_that_cannot_be_read_and_names_it(stores: Stores) -> None:
    """TaskStore.list: one user's corrupt task hides none of the others."""
    tasks = [created(stores, builders.task(number=number)) for number in (1, 2, 3)]
    stores.damage_task(ref(tasks[1]))
    page = stores.tasks.list(ALICE, limit=10)
    assert list(page.items) == [tasks[0], tasks[2]]
    (named,) = page.corrupt
    assert tasks[1].id in named


def test_a_user_without_tasks_has_an_empty_list(stores: Stores) -> None:
    """TaskStore.list."""
    page = stores.tasks.list(ALICE, limit=10)
    assert (list(page.items), page.next) == ([], None)


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
    assert stores.tasks.delete(task)
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
    assert stores.tasks.pause(task, paused)
    assert stores.tasks.get(ref(task)) == paused
    assert not list(stores.tasks.due(NOW + HOUR).hints)
    resumed = paused.resumed(NOW + HOUR, POLICY)
    assert stores.tasks.pause(paused, resumed)
    assert stores.tasks.get(ref(task)) == resumed
    assert resumed.state.due_at is not None
    assert len(list(stores.tasks.due(resumed.state.due_at).hints)) == 1


def test_pause_is_allowed_while_a_run_is_being_dispatched(stores: Stores) -> None:
    """TaskStore.pause: a launch that is under way goes on."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.pause(stored, stored.paused(None, NOW + HOUR))
    assert stores.runs.slot(task.id, task.slot_shard) == held
    assert stores.tasks.payload(ref(task), 1) == builders.payload(task)


def test_pause_of_a_task_that_changed_meanwhile_writes_nothing(stores: Stores) -> None:
    """TaskStore.pause: False after an edit, a dispatch and a deletion."""
    task = created(stores)
    renamed = edited(task, title="New title")
    assert stores.tasks.replace(task, renamed)
    assert not stores.tasks.pause(task, task.paused(None, NOW))
    assert stores.tasks.get(ref(task)) == renamed
    admitted(stores, renamed)
    assert not stores.tasks.pause(renamed, renamed.paused(None, NOW))
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stored.state.status is TaskStatus.ENABLED
    assert stores.tasks.delete(stored)
    assert not stores.tasks.pause(stored, stored.paused(None, NOW))
    assert stores.tasks.get(ref(task)) is None


# -- delete --


def test_delete_removes_task_payload_history_and_index_entry(stores: Stores) -> None:
    """TaskStore.delete, P5, B78: history goes with the task."""
    task = created(stores)
    held = completed(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored)
    assert stores.tasks.get(ref(task)) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.runs.get(task.id, held.run_id) is None
    assert not list(stores.tasks.due(NOW + 100 * HOUR).hints)


def test_delete_leaves_the_users_other_tasks_alone(stores: Stores) -> None:
    """TaskStore.delete."""
    task, other = (created(stores, builders.task(number=number)) for number in (1, 2))
    completed(stores, other)
    kept = stores.tasks.get(ref(other))
    assert stores.tasks.delete(task)
    assert stores.tasks.get(ref(other)) == kept
    assert stores.tasks.payload(ref(other), 1) == builders.payload(other)
    assert len(stores.runs.list(other.id, limit=9, keep=9).items) == 1


def test_delete_keeps_the_payload_that_a_launch_still_needs(stores: Stores) -> None:
    """TaskStore.delete, P5: a run in flight goes on, its keys stay until it ends."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored)
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
    assert stores.tasks.delete(stored)
    assert stores.tasks.payload(ref(task), 1) is None
    assert set(stores.held_keys().values()) == {held.run_id}


def test_delete_of_a_task_whose_run_was_admitted_meanwhile_removes_nothing(
    stores: Stores,
) -> None:
    """TaskStore.delete: also a manual run, which moves no time."""
    task = created(stores)
    admitted(stores, task, trigger=Trigger.MANUAL)
    assert not stores.tasks.delete(task)
    assert stores.tasks.get(ref(task)) is not None
    assert stores.tasks.payload(ref(task), 1) is not None


def test_delete_of_a_task_that_was_edited_meanwhile_removes_nothing(stores: Stores) -> None:
    """TaskStore.delete: False."""
    task = created(stores)
    changed = edited(task, title="New title")
    assert stores.tasks.replace(task, changed)
    assert not stores.tasks.delete(task)
    assert stores.tasks.get(ref(task)) == changed


def test_a_task_is_deleted_once(stores: Stores) -> None:
    """TaskStore.delete: the second deletion says that there was nothing, and frees no quota."""
    task = created(stores, builders.task(number=1), max_tasks=2)
    created(stores, builders.task(number=2), max_tasks=2)
    assert stores.tasks.delete(task)
    assert not stores.tasks.delete(task)
    created(stores, builders.task(number=3), max_tasks=2)
    with pytest.raises(QuotaExceeded):
        created(stores, builders.task(number=4), max_tasks=2)


def test_a_deleted_task_whose_run_ends_leaves_no_row(stores: Stores) -> None:
    """P5: its keys are released when it ends, and its result is dropped."""
    task = created(stores)
    held = admitted(stores, task)
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    assert stores.tasks.delete(stored)
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
