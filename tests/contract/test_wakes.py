"""`TaskStore`: pauses that end by themselves, in the due index and in the row."""

from collections.abc import Callable

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, read
from nightshift.domain.exchanged import DueHint, Undone
from nightshift.domain.model.enums import Outcome, TaskStatus, Trigger
from nightshift.domain.model.pause import woken
from nightshift.domain.model.task import Task

END = NOW + 5 * HOUR
MILLISECOND = SECOND / 1000
POLICY = builders.policy()


def sleeping(stores: Stores, task: Task | None = None) -> Task:
    """A stored task that is paused until the end."""
    made = created(stores, task)
    paused = made.paused("holiday", NOW, END)
    assert stores.tasks.switch(made, paused)
    assert read(stores, made) == paused
    return paused


def line(stores: Stores) -> list[DueHint]:
    """The line of who is due or to wake at the end."""
    return list(stores.tasks.due(END).hints)


def test_a_pause_with_an_end_is_in_the_line_for_that_time(stores: Stores) -> None:
    """TaskStore.switch and due, DueHint: it wakes then, to the millisecond."""
    task = sleeping(stores, builders.task(priority=7))
    assert list(stores.tasks.due(END - MILLISECOND).hints) == []
    assert line(stores) == [DueHint(ref(task), 7, END, wakes=True)]
    assert list(stores.tasks.due(END).first) == line(stores)


def test_of_one_instant_whoever_wakes_comes_first(stores: Stores) -> None:
    """TaskStore.due: in one shard and over several."""
    for number in (1, 2):
        created(stores, builders.task(builders.once(END), number=number))
    task = sleeping(stores, builders.task(number=3))
    assert next(hint.ref.task_id for hint in line(stores)) == task.id
    assert [hint.wakes for hint in line(stores)] == [True, False, False]


def test_wake_puts_a_task_back_and_moves_nothing_else(stores: Stores) -> None:
    """TaskStore.wake: plan, reason and end; neither the revision nor the change log."""
    task = sleeping(stores)
    assert stores.tasks.wake(task, woken(task))
    stored = read(stores, task)
    assert stored == woken(task)
    assert (stored.state.status, stored.state.next_run_at) == (TaskStatus.ENABLED, END)
    assert (stored.state.pause_reason, stored.state.pause_until) == (None, None)
    assert line(stores) == [DueHint(ref(task), 5, END)]
    assert [change.revision for change in stores.tasks.changes(task.id, limit=9).items] == [2, 1]
    assert not stores.tasks.wake(task, woken(task))


def test_wake_keeps_what_runs_have_written_meanwhile(stores: Stores) -> None:
    """TaskStore.wake, P19: the count of runs and the active run."""
    task = sleeping(stores)
    slot = admitted(stores, task, trigger=Trigger.MANUAL)
    assert stores.tasks.wake(task, woken(task))
    assert read(stores, task).state.active_run_id == slot.run_id
    assert read(stores, task).state.run_count == 1


CHANGES: dict[str, Callable[[Stores, Task], bool]] = {
    "resumed": lambda stores, task: stores.tasks.switch(task, task.resumed(NOW, POLICY)),
    "paused longer": lambda stores, task: stores.tasks.switch(
        task, task.paused(None, NOW, END + HOUR)
    ),
    "paused for good": lambda stores, task: stores.tasks.switch(task, task.paused(None, NOW)),
    "edited": lambda stores, task: stores.tasks.replace(
        task, task.edited(builders.with_definition(task, title="Other"), NOW, POLICY)
    ),
    "blocked": lambda stores, task: stores.tasks.block(ref(task), "why", due_at=END),
    "deleted": lambda stores, task: stores.tasks.delete(task, NOW),
}


@pytest.mark.parametrize("change", CHANGES)
def test_wake_of_a_task_that_changed_writes_nothing(stores: Stores, change: str) -> None:
    """TaskStore.wake: False; whoever changed it has the last word."""
    task = sleeping(stores)
    assert CHANGES[change](stores, task)
    before = stores.tasks.get(ref(task))
    assert not stores.tasks.wake(task, woken(task))
    assert stores.tasks.get(ref(task)) == before


def test_a_pause_for_good_a_resumption_and_a_block_take_the_end_out_of_the_line(
    stores: Stores,
) -> None:
    """K1, P20: no entry is left that would wake it."""
    for number, change in enumerate(("paused for good", "blocked"), start=1):
        assert CHANGES[change](stores, sleeping(stores, builders.task(number=number)))
        assert line(stores) == []
    assert CHANGES["resumed"](stores, sleeping(stores, builders.task(number=3)))
    assert [hint.wakes for hint in line(stores)] == [False]


def test_an_edit_moves_the_end_of_a_pause_with_the_priority(stores: Stores) -> None:
    """TaskStore.replace, K1: the pause stays, its entry is where the task is."""
    task = sleeping(stores)
    definition = builders.with_definition(task, priority=9)
    assert stores.tasks.replace(task, task.edited(definition, NOW, POLICY))
    assert line(stores) == [DueHint(ref(task), 9, END, wakes=True)]


def test_back_off_of_whoever_is_to_wake_moves_the_end(stores: Stores) -> None:
    """TaskStore.back_off: it wakes later, and for the same time."""
    task = sleeping(stores)
    assert stores.tasks.back_off(task, END + MINUTE)
    assert line(stores) == []
    (hint,) = stores.tasks.due(END + MINUTE).hints
    assert (hint.wakes, hint.due_at) == (True, END + MINUTE)
    assert read(stores, task).state.pause_until == END
    assert stores.tasks.wake(task, woken(task))


def test_block_takes_whoever_is_to_wake_out_of_the_line(stores: Stores) -> None:
    """TaskStore.block, P20: also a row that nobody can read."""
    task = sleeping(stores)
    stores.damage_task(ref(task))
    assert stores.tasks.block(ref(task), "it cannot be read", due_at=END)
    assert line(stores) == []


def test_a_refused_launch_puts_the_end_of_a_once_tasks_pause_back(stores: Stores) -> None:
    """RunStore.complete, P4: the entry is that of a pause again."""
    task = sleeping(stores, builders.task(builders.once(END)))
    slot = admitted(stores, task, trigger=Trigger.MANUAL)
    assert line(stores) == []
    undone = completion(slot, outcome=Outcome.FAILED, verdict=Undone(restore=slot.overwritten))
    assert stores.runs.complete(undone).recorded
    assert line(stores) == [DueHint(ref(task), 5, END, wakes=True)]
    restored = read(stores, task)
    assert stores.tasks.wake(restored, woken(restored))


def test_the_sweep_comes_by_whoever_is_to_wake(stores: Stores) -> None:
    """SweepStore.planned: they have an entry, and no time that rules could move."""
    task = sleeping(stores)
    page = stores.sweeps.planned(limit=10)
    assert [planned.id for planned in page.items] == [task.id]


def test_the_log_tells_until_when_a_task_is_paused(stores: Stores) -> None:
    """Change: who paused it, why, and until when."""
    task = sleeping(stores)
    entry = stores.tasks.changes(task.id, limit=1).items[0]
    assert entry.fields["pause_until"].new == "2026-03-02T17:00:00.000Z"
    assert (entry.by, entry.fields["pause_reason"].new) == (task.user_id, "holiday")
