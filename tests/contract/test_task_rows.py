"""`TaskStore`: tasks and payloads are read back as they were written."""

import pytest

import builders
from builders import ALICE, BOB, NOW, ref
from contract.backends import Stores
from contract.steps import created
from nightshift.domain.errors import (
    CorruptRecord,
    QuotaExceeded,
    ThreadNotFound,
)
from nightshift.domain.exchanged import TaskRef, Thread
from nightshift.domain.model.enums import ActionKind
from nightshift.domain.model.task import Payload, Task


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
    assert stores.tasks.delete(task, NOW)
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
    assert stores.tasks.delete(tasks[0], NOW)
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
