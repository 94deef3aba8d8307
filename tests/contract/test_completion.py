"""`RunStore.complete`: a run ends once, its keys come free, and its task is told (K6)."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, ended, read
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus, Trigger
from nightshift.domain.model.run import Run, Slot
from nightshift.domain.ports import Thread, Undone

DUE = NOW + HOUR


def run_of(stores: Stores, slot: Slot) -> Run:
    """The record of an admitted run."""
    run = stores.runs.get(slot.task_id, slot.run_id)
    assert run is not None
    return run


# -- the record --


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_completion_makes_the_run_terminal(stores: Stores, outcome: Outcome) -> None:
    """RunStore.complete: with the whole of the news, and nothing else changed."""
    held = admitted(stores, created(stores))
    born = run_of(stores, held)
    result = {"exit_code": 3, "output": "naïve 摘要\n", "truncated": False}
    news = completion(held, outcome=outcome, reason="a_reason", error="a text", result=result)
    assert stores.runs.complete(news).recorded
    assert run_of(stores, held) == replace(
        born,
        status=RunStatus(outcome.value),
        reason="a_reason",
        error="a text",
        result=result,
        finished_at=news.outcome.finished_at,
    )


def test_a_run_keeps_when_it_started(stores: Stores) -> None:
    """SPEC section 6: the fence wrote it, the completion leaves it."""
    held = admitted(stores, created(stores))
    assert stores.pass_fence(held, DUE + MINUTE)
    running = run_of(stores, held)
    assert (running.status, running.started_at) == (RunStatus.RUNNING, DUE + MINUTE)
    ended(stores, held)
    assert run_of(stores, held).started_at == DUE + MINUTE


def test_a_run_shows_that_a_worker_picked_it_up(stores: Stores) -> None:
    """Run.picked_up: tells `worker_lost` from `not_picked_up`."""
    held = admitted(stores, created(stores))
    assert not run_of(stores, held).picked_up
    stores.pick_up(run_of(stores, held))
    assert run_of(stores, held).picked_up


# -- the keys --


def test_a_completion_gives_back_every_key(stores: Stores) -> None:
    """RunStore.complete: slot, seat and thread lock."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    held = admitted(stores, created(stores, builders.task(thread_id="talk")), seat=4)
    assert len(stores.held_keys()) == 3
    ended(stores, held)
    assert stores.held_keys() == {}
    assert list(stores.runs.slots()) == []


def test_a_late_completion_touches_no_key_of_the_next_run(stores: Stores) -> None:
    """RunStore.complete, B90: not the slot, not the seat, not the thread, not the task."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    first = admitted(stores, task, seat=0)
    ended(stores, first)
    second = admitted(stores, read(stores, task), seat=0, nonce="nonce-b")
    keys, stored = stores.held_keys(), read(stores, task)
    assert not stores.runs.complete(completion(first, outcome=Outcome.FAILED)).recorded
    assert stores.held_keys() == keys
    assert set(keys.values()) == {second.run_id}
    assert read(stores, task) == stored
    assert run_of(stores, second).status is RunStatus.QUEUED


def test_a_completion_frees_the_keys_of_a_run_whose_record_is_gone(stores: Stores) -> None:
    """K6, B51: run gone, the keys all the same; and a `once` task is not left running."""
    task = created(stores, builders.task(builders.once(DUE)))
    held = admitted(stores, task)
    stores.lose_run(run_of(stores, held))
    assert not stores.runs.complete(completion(held, outcome=Outcome.FAILED)).recorded
    assert stores.held_keys() == {}
    assert stores.runs.get(task.id, held.run_id) is None
    state = read(stores, task).state
    assert (state.active_run_id, state.status) == (None, TaskStatus.FAILED)


def test_a_completion_frees_the_seat_though_the_slot_is_not_readable(stores: Stores) -> None:
    """RunStore.slots and complete: a damaged slot is released by the run's own end."""
    held = admitted(stores, created(stores))
    stores.damage_slot(held)
    ended(stores, held)
    assert stores.held_keys() == {}


# -- any number of times, at any time --


def test_a_completion_can_be_sent_any_number_of_times(stores: Stores) -> None:
    """RunStore.complete, B53, B89: only the first is recorded, nothing is counted twice."""
    task = created(stores)
    held = admitted(stores, task)
    news = completion(held, outcome=Outcome.FAILED, error="it broke")
    answers = [stores.runs.complete(news).recorded for _ in range(5)]
    assert answers == [True, False, False, False, False]
    state = read(stores, task).state
    assert (state.run_count, state.last_error) == (1, "it broke")


@pytest.mark.parametrize("first", list(Outcome))
@pytest.mark.parametrize("second", list(Outcome))
def test_a_terminal_run_never_changes(stores: Stores, first: Outcome, second: Outcome) -> None:
    """B89: the first terminal state wins, on the run and on its `once` task."""
    task = created(stores, builders.task(builders.once(DUE)))
    held = admitted(stores, task)
    ended(stores, held, outcome=first, error="first")
    run, stored = run_of(stores, held), read(stores, task)
    late = completion(held, outcome=second, error="second", finished_at=DUE + HOUR)
    assert not stores.runs.complete(late).recorded
    assert run_of(stores, held) == run
    assert read(stores, task) == stored


def test_of_many_completions_at_once_one_is_recorded(stores: Stores) -> None:
    """RunStore.complete: also when they race."""
    task = created(stores)
    held = admitted(stores, task)
    rivals = [completion(held, outcome=outcome) for outcome in Outcome for _ in range(2)]
    with ThreadPoolExecutor(6) as pool:
        answers = Counter(answer.recorded for answer in pool.map(stores.runs.complete, rivals))
    assert answers == {True: 1, False: 5}
    assert stores.held_keys() == {}


def test_a_run_that_ends_before_the_fence_never_becomes_running(stores: Stores) -> None:
    """B91: a fence that comes late finds its keys gone and changes nothing."""
    held = admitted(stores, created(stores))
    ended(stores, held, outcome=Outcome.FAILED)
    run = run_of(stores, held)
    assert not stores.pass_fence(held, DUE + MINUTE)
    assert run_of(stores, held) == run


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
    assert stores.tasks.pause(stored, paused)
    ended(stores, held)
    after = read(stores, task)
    assert (after.state.status, after.state.pause_reason) == (TaskStatus.PAUSED, "enough")
    assert after.revision == paused.revision


def test_a_run_that_never_started_leaves_the_last_start_as_it_was(stores: Stores) -> None:
    """Ended, B73: `last_run_at` is not stamped though nothing ran."""
    task = created(stores)
    ended(stores, admitted(stores, task), started_at=DUE)
    second = admitted(stores, read(stores, task), nonce="nonce-b")
    ended(stores, second, outcome=Outcome.FAILED, error="refused", started_at=None)
    state = read(stores, task).state
    assert state.last_run_at == DUE
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
        assert stores.tasks.pause(task, paused)
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
    assert stores.tasks.delete(read(stores, task))
    stores.runs.complete(completion(held))
    assert not stores.runs.complete(completion(held)).recorded
    assert stores.tasks.get(ref(task)) is None
    assert stores.runs.get(task.id, held.run_id) is None
    assert stores.tasks.payload(ref(task), 1) is None
    assert stores.held_keys() == {}
    assert list(stores.runs.list(task.id, limit=9, keep=9).items) == []
