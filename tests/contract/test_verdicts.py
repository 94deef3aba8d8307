"""`RunStore.complete`: what the end of a run writes on its task (K6)."""

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, ended, read
from nightshift.domain.exchanged import Thread, Undone
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus, Trigger
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot

DUE = NOW + HOUR


def run_of(stores: Stores, slot: Slot) -> Run:
    """The record of an admitted run."""
    run = stores.runs.get(slot.task_id, slot.run_id)
    assert run is not None
    return run


# -- the word for the task --


def test_a_success_is_shown_on_the_task(stores: Stores) -> None:
    """Ended: when it ran, in which thread, how it ended; a recurring task keeps its schedule."""
    task = created(stores)
    held = admitted(stores, task)
    before = read(stores, task)
    ended(stores, held, started_at=DUE + MINUTE)
    assert read(stores, task) == builders.with_state(
        before,
        active_run_id=None,
        last_run_at=DUE + MINUTE,
        last_run_id=held.run_id,
        last_thread_id=held.thread_id,
        last_status="success",
        last_success_run_id=held.run_id,
    )


def test_an_error_is_shown_until_the_next_success(stores: Stores) -> None:
    """Ended, SPEC section 3: a cancelled run neither is an error nor clears one."""
    task = created(stores)
    shown = []
    for outcome in (Outcome.FAILED, Outcome.INTERRUPTED, Outcome.SUCCESS, Outcome.INTERRUPTED):
        stored = read(stores, task)
        held = admitted(stores, stored, nonce=f"nonce-{stored.state.next_run_at}")
        word = None if outcome is Outcome.SUCCESS else f"it was {outcome}"
        ended(stores, held, outcome=outcome, error=word)
        shown.append(read(stores, task).state.last_error)
    assert shown == ["it was failed", "it was failed", None, None]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.SUCCESS, TaskStatus.COMPLETED),
        (Outcome.FAILED, TaskStatus.FAILED),
        (Outcome.INTERRUPTED, TaskStatus.CANCELLED),
    ],
)
def test_a_once_task_ends_as_its_run_did(
    stores: Stores, outcome: Outcome, status: TaskStatus
) -> None:
    """Ended: the status that is named is written."""
    task = created(stores, builders.task(builders.once(DUE)))
    ended(stores, admitted(stores, task), outcome=outcome)
    assert read(stores, task).state.status is status
    assert not list(stores.tasks.due(DUE + HOUR).hints)


def test_a_status_that_is_not_named_is_left_alone(stores: Stores) -> None:
    """Ended: a pause that came in between is not undone."""
    task = created(stores)
    held = admitted(stores, task)
    stored = read(stores, task)
    paused = stored.paused("enough", DUE + MINUTE)
    assert stores.tasks.switch(stored, paused)
    ended(stores, held)
    after = read(stores, task)
    assert (after.state.status, after.state.pause_reason) == (TaskStatus.PAUSED, "enough")
    assert after.revision == paused.revision


def test_a_run_that_never_started_shows_no_start(stores: Stores) -> None:
    """Ended, B73: nothing is stamped though nothing ran, nothing of an older run mixed in."""
    task = created(stores)
    ended(stores, admitted(stores, task), started_at=DUE)
    second = admitted(stores, read(stores, task), nonce="nonce-b")
    ended(stores, second, outcome=Outcome.FAILED, error="refused", started_at=None)
    state = read(stores, task).state
    assert (state.last_run_at, state.last_thread_id) == (None, second.thread_id)
    assert (state.last_run_id, state.last_status) == (second.run_id, "failed")


def test_a_task_that_names_another_run_is_not_told(stores: Stores) -> None:
    """Ended, K6: `active_run_id` decides whose news the task takes."""
    task = created(stores)
    first = admitted(stores, task, seat=0)
    ended(stores, first, outcome=Outcome.FAILED, error="it broke")
    second = admitted(stores, read(stores, task), seat=0, nonce="nonce-b")
    stored = read(stores, task)
    assert stored.state.active_run_id == second.run_id
    stores.runs.complete(completion(first))
    assert read(stores, task) == stored


def test_a_task_that_was_edited_during_the_run_is_told(stores: Stores) -> None:
    """P19: definition and cursor have different writers."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    stored = read(stores, task)
    definition = builders.with_definition(stored, title="New title")
    assert stores.tasks.replace(stored, stored.edited(definition, DUE, builders.policy()))
    ended(stores, held, outcome=Outcome.FAILED, error="it broke")
    after = read(stores, task)
    assert (after.definition.title, after.state.last_error) == ("New title", "it broke")


# -- a manual launch that was refused --


@pytest.mark.parametrize("seen", [TaskStatus.ENABLED, TaskStatus.PAUSED])
def test_a_refused_manual_launch_puts_a_once_task_back(stores: Stores, seen: TaskStatus) -> None:
    """Undone, SPEC section 3: status, times, place in the line and count are as before."""
    task = created(stores, builders.task(builders.once(DUE), priority=8))
    if seen is TaskStatus.PAUSED:
        paused = task.paused("not now", NOW)
        assert stores.tasks.switch(task, paused)
        task = paused
    line = list(stores.tasks.due(DUE).hints)
    held = admitted(stores, task, trigger=Trigger.MANUAL)
    assert read(stores, task).state.status is TaskStatus.RUNNING
    undone = Undone(restore=held.overwritten)
    ended(stores, held, outcome=Outcome.FAILED, error="refused", verdict=undone)
    assert read(stores, task) == task
    assert list(stores.tasks.due(DUE).hints) == line
    assert run_of(stores, held).status is RunStatus.FAILED
    assert stores.held_keys() == {}


def test_a_refused_manual_launch_leaves_a_recurring_task_as_it_was(stores: Stores) -> None:
    """Undone: `restore` is None, since the admission left its status and times alone."""
    task = created(stores)
    held = admitted(stores, task, trigger=Trigger.MANUAL)
    news = completion(held, outcome=Outcome.FAILED, error="no", verdict=Undone(restore=None))
    assert stores.runs.complete(news).recorded
    assert read(stores, task) == task


# -- the task is gone --


def test_a_run_of_a_deleted_task_ends_without_a_trace(stores: Stores) -> None:
    """RunStore.complete, P5: record, payload and keys go; nothing recreates the task."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    held = admitted(stores, task)
    assert stores.tasks.delete(read(stores, task), NOW)
    stores.runs.complete(completion(held))
    assert not stores.runs.complete(completion(held)).recorded
    assert stores.tasks.get(ref(task)) is None
    assert stores.runs.get(task.id, held.run_id) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.held_keys() == {}
    assert list(stores.runs.list(task.id, limit=9, keep=9).items) == []


def test_a_repeated_completion_leaves_the_next_run_of_a_deleted_task_alone(
    stores: Stores,
) -> None:
    """RunStore.complete, K6: the next run's record and payload stay as long as it is active."""
    task = created(stores)
    first = admitted(stores, task)
    ended(stores, first)
    following = admitted(stores, read(stores, task), trigger=Trigger.MANUAL)
    assert stores.tasks.delete(read(stores, task), NOW)
    assert not stores.runs.complete(completion(first)).recorded
    assert stores.runs.get(task.id, following.run_id) is not None
    assert stores.tasks.payload(ref(task), 1) is not None
    assert set(stores.held_keys().values()) == {following.run_id}
