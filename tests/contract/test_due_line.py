"""`TaskStore`: the due index, and what the clock does to a task without a run."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW, SECOND, ref
from contract.backends import Stores
from contract.steps import admitted, created, read
from nightshift.domain.exchanged import CorruptTask, DueHint, TaskRef
from nightshift.domain.model.enums import TaskStatus, Trigger
from nightshift.domain.model.task import Plan, Task

DUE = NOW + HOUR
MILLISECOND = SECOND / 1000


def waiting(stores: Stores, number: int, due_at: datetime = DUE, **fields: Any) -> Task:
    """A stored task that is due at an instant."""
    task = builders.task(builders.once(due_at), number=number, **fields)
    return created(stores, task)


def in_line(stores: Stores, now: datetime) -> list[str]:
    """Who is due, in order."""
    return [hint.ref.task_id for hint in stores.tasks.due(now).hints]


# -- the line --


def test_a_task_is_due_from_its_instant_on(stores: Stores) -> None:
    """TaskStore.due: by `now`, to the millisecond."""
    task = waiting(stores, 1)
    assert in_line(stores, DUE - MILLISECOND) == []
    assert in_line(stores, DUE) == [task.id]
    assert in_line(stores, DUE + 1000 * HOUR) == [task.id]


def test_the_line_is_ordered_by_priority_then_age_then_id(stores: Stores) -> None:
    """TaskStore.due, P14."""
    waiting(stores, 1, DUE, priority=5)
    waiting(stores, 2, DUE - MINUTE, priority=5)
    waiting(stores, 4, DUE, priority=9)
    waiting(stores, 3, DUE, priority=9)
    waiting(stores, 5, DUE - 2 * MINUTE, priority=0)
    assert in_line(stores, DUE) == [builders.task_id(number) for number in (3, 4, 2, 1, 5)]


def test_the_shards_of_a_priority_are_one_line(stores: Stores) -> None:
    """TaskStore.due, K1: shards spread rows, not the order."""
    for number in range(1, 7):
        task = builders.task(builders.once(DUE + number * SECOND), number=7 - number)
        created(stores, replace(task, due_shard=number % 2))
    line = in_line(stores, DUE + MINUTE)
    assert line == [builders.task_id(number) for number in (6, 5, 4, 3, 2, 1)]


def test_a_hint_says_where_the_task_is_and_since_when_it_waits(stores: Stores) -> None:
    """DueHint: enough to read the task, and to block it unread."""
    task = waiting(stores, 1, user_id=BOB, priority=7)
    assert list(stores.tasks.due(DUE).hints) == [DueHint(ref(task), 7, DUE)]


def test_the_line_is_in_the_order_of_the_places_that_its_hints_tell(stores: Stores) -> None:
    """DueHint.place, P14: who is ahead of whom is told by the hints themselves."""
    for number, priority in enumerate((5, 9, 5, 0, 9), start=1):
        waiting(stores, number, DUE - number % 2 * MINUTE, priority=priority)
    line = stores.tasks.due(DUE)
    hints = list(line.hints)
    assert hints == sorted(line.first, key=lambda hint: hint.place)
    assert len(hints) == 5


def test_the_line_of_all_users_is_one_line(stores: Stores) -> None:
    """P14: the budget is global."""
    waiting(stores, 2, DUE, user_id=ALICE)
    waiting(stores, 1, DUE + SECOND, user_id=BOB)
    assert in_line(stores, DUE + MINUTE) == [builders.task_id(2), builders.task_id(1)]


def test_the_beginning_of_every_bucket_is_known_at_once(stores: Stores) -> None:
    """DueLine: `first` and `oldest` need no walk through the line."""
    waiting(stores, 1, DUE, priority=9)
    waiting(stores, 2, DUE - MINUTE, priority=0)
    line = stores.tasks.due(DUE)
    assert {hint.ref.task_id for hint in line.first} == {
        builders.task_id(1),
        builders.task_id(2),
    }
    assert min(hint.due_at for hint in line.first) == DUE - MINUTE
    assert len(list(line.hints)) == 2


def test_a_line_longer_than_a_page_loses_nobody(stores: Stores) -> None:
    """TaskStore.due: the pages after the first are read as they are used."""
    for number in range(1, 131):
        waiting(stores, number, DUE - number * SECOND)
    line = stores.tasks.due(DUE)
    ids = [hint.ref.task_id for hint in line.hints]
    assert ids == [builders.task_id(number) for number in range(130, 0, -1)]
    assert len(line.first) <= 130


def test_nobody_due_is_an_empty_line(stores: Stores) -> None:
    """TaskStore.due: with no tasks, and with sleeping ones."""
    assert list(stores.tasks.due(DUE).first) == []
    waiting(stores, 1, DUE + HOUR)
    line = stores.tasks.due(DUE)
    assert (list(line.first), list(line.hints)) == ([], [])


def test_the_line_reads_no_task_row(stores: Stores) -> None:
    """TaskStore.due: a row that nobody can read is in it like any other."""
    task = waiting(stores, 1)
    stores.damage_task(ref(task))
    assert in_line(stores, DUE) == [task.id]


def test_only_tasks_that_the_clock_may_start_are_in_the_line(stores: Stores) -> None:
    """K1: sparse; paused, running and deleted tasks have no entry."""
    paused, running, deleted, kept = (waiting(stores, number) for number in (1, 2, 3, 4))
    assert stores.tasks.switch(paused, paused.paused(None, NOW))
    admitted(stores, running)
    assert stores.tasks.delete(deleted, NOW)
    assert in_line(stores, DUE) == [kept.id]


def test_a_task_moves_in_the_line_with_its_priority(stores: Stores) -> None:
    """K1: the entry follows an edit."""
    first, second = (waiting(stores, number) for number in (1, 2))
    definition = builders.with_definition(second, priority=6)
    changed = second.edited(definition, NOW, builders.policy())
    assert stores.tasks.replace(second, changed)
    assert in_line(stores, DUE) == [second.id, first.id]


def test_a_manual_run_of_a_recurring_task_leaves_its_place_in_the_line(stores: Stores) -> None:
    """P4, K1."""
    task = created(stores)
    admitted(stores, task, trigger=Trigger.MANUAL)
    assert in_line(stores, DUE) == [task.id]


# -- read --


def test_read_returns_tasks_with_their_current_payloads(stores: Stores) -> None:
    """TaskStore.read."""
    task = created(stores)
    definition = builders.with_definition(task, payload_revision=2)
    changed = task.edited(definition, NOW, builders.policy())
    payload = builders.payload(changed, "the new prompt")
    assert stores.tasks.replace(task, changed, payload)
    assert stores.tasks.read([ref(task)]) == {ref(task): (changed, payload)}


def test_read_leaves_out_a_task_that_is_gone(stores: Stores) -> None:
    """TaskStore.read."""
    task = created(stores)
    gone = TaskRef(ALICE, builders.task_id(9))
    assert set(stores.tasks.read([gone, ref(task)])) == {ref(task)}
    assert stores.tasks.read([]) == {}


def test_read_tells_of_a_task_that_cannot_be_read(stores: Stores) -> None:
    """TaskStore.read: as a `CorruptTask`, and the others are there."""
    bad, good = (created(stores, builders.task(number=number)) for number in (1, 2))
    stores.damage_task(ref(bad))
    rows = stores.tasks.read([ref(bad), ref(good)])
    corrupt = rows[ref(bad)]
    assert isinstance(corrupt, CorruptTask)
    assert corrupt.ref == ref(bad)
    assert corrupt.reason
    assert rows[ref(good)] == (good, builders.payload(good))


def test_read_takes_more_tasks_than_one_batch_holds(stores: Stores) -> None:
    """TaskStore.read: in batches, none forgotten."""
    tasks = [created(stores, builders.task(number=number)) for number in range(120)]
    rows = stores.tasks.read([ref(task) for task in tasks])
    assert rows == {ref(task): (task, builders.payload(task)) for task in tasks}


# -- without a run --


def test_advance_gives_a_task_another_plan(stores: Stores) -> None:
    """TaskStore.advance: status, times and place in the line, nothing else."""
    task = created(stores)
    plan = task.plan_after_dispatch(None, DUE, counted=False)
    assert stores.tasks.advance(task, plan)
    assert read(stores, task) == task.with_plan(plan)
    assert in_line(stores, DUE) == []
    assert in_line(stores, DUE + HOUR) == [task.id]


def test_advance_ends_a_task(stores: Stores) -> None:
    """TaskStore.advance: a plan without times leaves the line."""
    task = waiting(stores, 1)
    plan = Plan(status=TaskStatus.FAILED, next_run_at=None, due_at=None, tzdata_version=None)
    assert stores.tasks.advance(task, plan)
    assert read(stores, task).state.status is TaskStatus.FAILED
    assert in_line(stores, DUE) == []


def test_back_off_moves_the_due_time_and_nothing_else(stores: Stores) -> None:
    """TaskStore.back_off: the occurrence stays what it is."""
    task = waiting(stores, 1)
    assert stores.tasks.back_off(task, DUE + MINUTE)
    assert read(stores, task) == builders.with_state(task, due_at=DUE + MINUTE)
    assert in_line(stores, DUE) == []
    assert in_line(stores, DUE + MINUTE) == [task.id]


def test_a_task_that_was_backed_off_is_still_as_seen(stores: Stores) -> None:
    """TaskStore.back_off: only `due_at` moved, so that the decision taken before it stands."""
    task = waiting(stores, 1)
    assert stores.tasks.back_off(task, DUE + MINUTE)
    admitted(stores, task)
    assert in_line(stores, DUE + HOUR) == []


def test_advance_and_back_off_of_a_task_that_changed_write_nothing(stores: Stores) -> None:
    """TaskStore.advance and back_off: False after a dispatch, a pause and a deletion."""
    task = created(stores)
    plan = task.plan_after_dispatch(None, DUE, counted=False)
    assert stores.tasks.advance(task, plan)
    assert not stores.tasks.advance(task, plan)
    assert not stores.tasks.back_off(task, DUE)
    advanced = read(stores, task)
    paused = advanced.paused(None, NOW)
    assert stores.tasks.switch(advanced, paused)
    assert not stores.tasks.advance(advanced, plan)
    assert not stores.tasks.back_off(advanced, DUE)
    assert read(stores, task) == paused
    assert stores.tasks.delete(paused, NOW)
    assert not stores.tasks.advance(paused, plan)
    assert not stores.tasks.back_off(paused, DUE)
    assert stores.tasks.get(ref(task)) is None


def test_block_takes_a_task_out_of_the_line_with_the_reason_shown(stores: Stores) -> None:
    """TaskStore.block, P20: it keeps its status."""
    task = waiting(stores, 1)
    assert stores.tasks.block(ref(task), "shell actions are switched off", due_at=DUE)
    blocked = read(stores, task)
    assert blocked.state.blocked_reason == "shell actions are switched off"
    assert blocked.state.status is TaskStatus.ENABLED
    assert in_line(stores, DUE + HOUR) == []


def test_block_works_on_a_row_that_nobody_can_read(stores: Stores) -> None:
    """TaskStore.block, P20: never at the front of the line for ever."""
    task = waiting(stores, 1)
    stores.damage_task(ref(task))
    assert stores.tasks.block(ref(task), "it cannot be read", due_at=DUE)
    assert in_line(stores, DUE + HOUR) == []


def test_block_of_another_entry_than_the_one_that_was_read_does_nothing(stores: Stores) -> None:
    """TaskStore.block: False when the task has moved, is out of the line, or is gone."""
    task = waiting(stores, 1)
    assert stores.tasks.back_off(task, DUE + MINUTE)
    assert not stores.tasks.block(ref(task), "stale", due_at=DUE)
    assert read(stores, task).state.blocked_reason is None
    assert stores.tasks.block(ref(task), "first", due_at=DUE + MINUTE)
    assert not stores.tasks.block(ref(task), "second", due_at=DUE + MINUTE)
    assert read(stores, task).state.blocked_reason == "first"
    assert not stores.tasks.block(TaskRef(ALICE, builders.task_id(9)), "gone", due_at=DUE)
    assert stores.tasks.get(TaskRef(ALICE, builders.task_id(9))) is None


def test_an_edit_or_a_resume_brings_a_blocked_task_back(stores: Stores) -> None:
    """P20: the entry is there again."""
    for number in (1, 2):
        created(stores, builders.task(number=number))
        address = TaskRef(ALICE, builders.task_id(number))
        assert stores.tasks.block(address, "for a reason", due_at=DUE)
    edited, resumed = (read(stores, builders.task(number=number)) for number in (1, 2))
    policy = builders.policy()
    definition = builders.with_definition(edited, title="New title")
    assert stores.tasks.replace(edited, edited.edited(definition, NOW, policy))
    assert stores.tasks.switch(resumed, resumed.resumed(NOW, policy))
    assert in_line(stores, DUE) == [edited.id, resumed.id]
    for task in (edited, resumed):
        assert read(stores, task).state.blocked_reason is None
