"""`RunStore.complete`: a run ends once, and its keys come free (K6)."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW
from contract.backends import Stores
from contract.steps import admitted, completion, created, ended, read
from nightshift.domain.exchanged import Completion, Thread
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot

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
    """Run.picked_up_attempt: tells `worker_lost` from `not_picked_up`."""
    held = admitted(stores, created(stores))
    assert run_of(stores, held).picked_up_attempt is None
    stores.pick_up(run_of(stores, held))
    assert run_of(stores, held).picked_up_attempt == 1


# -- the keys --


def test_a_completion_gives_back_every_key(stores: Stores) -> None:
    """RunStore.complete: slot, seat, the user's own seat and thread lock."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    held = admitted(stores, task, seat=4, user_seat=2)
    assert len(stores.held_keys()) == 4
    ended(stores, held)
    assert stores.held_keys() == {}
    assert list(stores.runs.slots()) == []


def test_a_late_completion_touches_no_key_of_the_next_run(stores: Stores) -> None:
    """RunStore.complete, B90: not the slot, not the seat, not the thread, not the task."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    first = admitted(stores, task, seat=0, user_seat=0)
    ended(stores, first)
    second = admitted(stores, read(stores, task), seat=0, user_seat=0, nonce="nonce-b")
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


def never_launched(held: Slot) -> Completion:
    """What a clock tells that found no execution of a run."""
    news = completion(held, outcome=Outcome.FAILED, reason="not_launched")
    return replace(news, outcome=replace(news.outcome, unlaunched=True))


def test_a_run_past_the_fence_is_not_ended_as_never_launched(stores: Stores) -> None:
    """RunStore.complete, P18: the launch arrived after all, so nothing is written or freed."""
    task = created(stores)
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE + MINUTE)
    before = (run_of(stores, held), read(stores, task), stores.held_keys())
    assert not stores.runs.complete(never_launched(held)).recorded
    assert (run_of(stores, held), read(stores, task), stores.held_keys()) == before


def test_a_queued_run_is_ended_as_never_launched(stores: Stores) -> None:
    """RunStore.complete: and the fence is closed to whatever arrives later."""
    held = admitted(stores, created(stores))
    assert stores.runs.complete(never_launched(held)).recorded
    assert stores.held_keys() == {}
    assert not stores.pass_fence(held, DUE + MINUTE)
