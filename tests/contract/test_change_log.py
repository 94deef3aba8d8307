"""`TaskStore.changes`: every change of a task has its entry, written with it."""

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completed, created, read
from nightshift.domain.errors import InvalidCursor, PersistenceUncertain, TaskNotMutable
from nightshift.domain.model.change import Change, ChangeVerb, FieldChange, definition_facts, folded
from nightshift.domain.model.task import Task

POLICY = builders.policy()


def renamed(stores: Stores, task: Task, title: str) -> Task:
    """The task once it has another title."""
    changed = task.edited(builders.with_definition(task, title=title), NOW + MINUTE, POLICY)
    assert stores.tasks.replace(task, changed)
    return changed


def log(stores: Stores, task: Task) -> list[Change]:
    """The whole log, newest first."""
    return list(stores.tasks.changes(task.id, limit=99).items)


def verbs(stores: Stores, task: Task) -> list[tuple[str, int]]:
    """What was done, newest first, with the revision it led to."""
    return [(change.verb.value, change.revision) for change in log(stores, task)]


def test_every_change_leaves_an_entry_that_says_who_when_and_what(stores: Stores) -> None:
    """SPEC section 4: who changed what, when."""
    task = created(stores)
    second = renamed(stores, task, "Another")
    paused = second.paused("holiday", NOW + HOUR)
    assert stores.tasks.switch(second, paused)
    resumed = paused.resumed(NOW + 2 * HOUR, POLICY)
    assert stores.tasks.switch(paused, resumed)
    creation, edit, pause, resumption = reversed(log(stores, task))
    assert creation.verb is ChangeVerb.CREATED
    assert creation.fields["title"] == FieldChange(None, "Task 1")
    assert edit == Change(
        task_id=task.id,
        revision=2,
        at=NOW + MINUTE,
        by=ALICE,
        verb=ChangeVerb.EDITED,
        fields={"title": FieldChange("Task 1", "Another")},
    )
    assert (pause.verb, pause.fields["pause_reason"].new) == (ChangeVerb.PAUSED, "holiday")
    assert (resumption.verb, resumption.revision) == (ChangeVerb.RESUMED, 4)


def test_the_log_adds_up_to_the_definition(stores: Stores) -> None:
    """The log is complete: folding it gives what is stored."""
    task = created(stores, builders.task(labels={"team": "support"}, max_lateness_seconds=60))
    emptied = builders.with_definition(task, labels={}, max_lateness_seconds=None, priority=9)
    second = task.edited(emptied, NOW + MINUTE, POLICY)
    assert stores.tasks.replace(task, second)
    paused = second.paused("holiday", NOW + HOUR)
    assert stores.tasks.switch(second, paused)
    assert folded(reversed(log(stores, task))) == definition_facts(read(stores, task))


def test_a_change_that_was_not_written_leaves_no_entry(stores: Stores) -> None:
    """TaskStore.changes: in the same transaction."""
    task = created(stores)
    renamed(stores, task, "Another")
    stale = task.edited(builders.with_definition(task, title="Late"), NOW + MINUTE, POLICY)
    assert not stores.tasks.replace(task, stale)
    assert not stores.tasks.switch(task, task.paused(None, NOW))
    assert not stores.tasks.delete(task, NOW)
    stored = read(stores, task)
    admitted(stores, stored)
    stored = read(stores, task)
    with pytest.raises(TaskNotMutable):
        renamed(stores, stored, "Too early")
    assert verbs(stores, task) == [("edited", 2), ("created", 1)]


def test_what_dispatch_and_completion_write_is_no_change(stores: Stores) -> None:
    """P19: the log is of the definition."""
    task = created(stores)
    completed(stores, task)
    assert verbs(stores, task) == [("created", 1)]


def test_a_change_without_an_answer_is_in_the_log_once(stores: Stores) -> None:
    """Ports: PersistenceUncertain; the entry came with the change."""
    task = created(stores)
    paused = task.paused("holiday", NOW)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.tasks.switch(task, paused)
    assert not stores.tasks.switch(task, paused)
    assert verbs(stores, task) == [("paused", 2), ("created", 1)]


def test_the_log_comes_in_pages_from_its_end(stores: Stores) -> None:
    """TaskStore.changes: newest first, nothing lost or doubled, no empty last page."""
    task = created(stores)
    for number in range(2, 13):
        task = renamed(stores, task, f"Title {number}")
    seen: list[int] = []
    after: str | None = None
    for _ in range(3):
        page = stores.tasks.changes(task.id, limit=4, after=after)
        seen += [change.revision for change in page.items]
        after = page.next
    assert seen == list(range(12, 0, -1))
    assert after is None


@pytest.mark.parametrize("after", ["", "x", "-1", "1.5", "\u0661"])
def test_a_position_that_is_no_revision_is_refused(stores: Stores, after: str) -> None:
    """TaskStore.changes: InvalidCursor."""
    with pytest.raises(InvalidCursor):
        stores.tasks.changes(builders.task().id, limit=1, after=after)


def test_the_history_of_runs_is_not_disturbed_by_the_log(stores: Stores) -> None:
    """SPEC section 4: both lie in the partition of the task."""
    task = created(stores)
    held = completed(stores, task)
    renamed(stores, read(stores, task), "Another")
    assert [run.id for run in stores.runs.list(task.id, limit=9, keep=9).items] == [held.run_id]
    assert stores.runs.prune(task.id, 0) == 1
    assert verbs(stores, task) == [("edited", 2), ("created", 1)]


def test_the_log_outlives_its_task_and_ends_with_the_deletion(stores: Stores) -> None:
    """SPEC section 4: append only, TTL after delete."""
    task = created(stores)
    assert stores.tasks.delete(task, NOW + HOUR)
    assert stores.tasks.get(ref(task)) is None
    last, _ = log(stores, task)
    assert (last.verb, last.revision, last.at) == (ChangeVerb.DELETED, 2, NOW + HOUR)
    assert last.fields["title"] == FieldChange("Task 1", None)


def test_a_prompt_is_in_no_entry(stores: Stores) -> None:
    """The log never holds the prompt's text."""
    task = created(stores)
    changed = task.edited(builders.with_definition(task, payload_revision=2), NOW, POLICY)
    assert stores.tasks.replace(task, changed, builders.payload(changed, "a great secret"))
    entries = repr(log(stores, task))
    assert "secret" not in entries
    assert builders.payload(task).text not in entries
    assert log(stores, task)[0].fields["action"].new == {"kind": "agent", "revision": 2}
