"""`RunStore`: the last success of a task, and the run that is handed its result."""

import pytest

import builders
from builders import HOUR, MINUTE, NOW
from contract.backends import Stores
from contract.steps import admitted, completed, completion, created, ended, read
from nightshift.domain.exchanged import AdmissionAnswer, Undone
from nightshift.domain.model.enums import Outcome, Trigger
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

LATER = NOW + 9 * HOUR


def curious(stores: Stores, *, asks: bool = True) -> Task:
    """A stored task, whose runs are handed the previous result if it `asks`."""
    return created(stores, builders.task(include_previous_result=asks))


def next_run(stores: Stores, task: Task, **options: object) -> Slot:
    """The slot of the task's next run."""
    stored = read(stores, task)
    return admitted(stores, stored, nonce=f"nonce-{stored.state.run_count}", **options)


@pytest.mark.parametrize("asks", [True, False])
def test_the_last_success_is_kept_for_every_task(stores: Stores, asks: bool) -> None:
    """Ended: whoever asks later has it from the next run on; other ends leave it."""
    task = curious(stores, asks=asks)
    assert read(stores, task).state.last_success_run_id is None
    first = next_run(stores, task)
    ended(stores, first)
    assert read(stores, task).state.last_success_run_id == first.run_id
    for outcome in (Outcome.FAILED, Outcome.INTERRUPTED):
        ended(stores, next_run(stores, task), outcome=outcome)
        assert read(stores, task).state.last_success_run_id == first.run_id
    by_hand = next_run(stores, task, trigger=Trigger.MANUAL, now=LATER)
    ended(stores, by_hand)
    assert read(stores, task).state.last_success_run_id == by_hand.run_id


def test_a_run_and_its_slot_say_which_success_is_handed_on(stores: Stores) -> None:
    """RunStore.admit: none at first, then the last, however often it failed since."""
    task = curious(stores)
    first = next_run(stores, task)
    assert first.previous == Previous(None)
    ended(stores, first)
    ended(stores, next_run(stores, task), outcome=Outcome.FAILED)
    held = next_run(stores, task)
    run = stores.runs.get(task.id, held.run_id)
    slot = stores.runs.slot(task.id, held.keys.slot_shard)
    assert run is not None
    assert slot is not None
    assert run.previous == slot.previous == held.previous == Previous(first.run_id)


def test_a_run_that_does_not_ask_is_handed_nothing(stores: Stores) -> None:
    """Slot.previous is None, which is not the same as that there was no success."""
    task = curious(stores, asks=False)
    ended(stores, next_run(stores, task))
    held = next_run(stores, task)
    run = stores.runs.get(task.id, held.run_id)
    assert run is not None
    assert (held.previous, run.previous) == (None, None)


def test_who_asks_keeps_it_through_an_edit_of_something_else(stores: Stores) -> None:
    """TaskStore.replace: the definition is as written, the last success as it was (P19)."""
    task = curious(stores, asks=False)
    held = next_run(stores, task)
    ended(stores, held)
    stored = read(stores, task)
    for asks in (True, False):
        definition = builders.with_definition(stored, include_previous_result=asks)
        changed = stored.edited(definition, LATER, builders.policy())
        assert stores.tasks.replace(stored, changed)
        stored = read(stores, task)
        assert stored.definition.include_previous_result is asks
        assert stored.state.last_success_run_id == held.run_id


def test_a_run_is_not_admitted_on_an_old_success(stores: Stores) -> None:
    """RunStore.admit: otherwise it would be handed the result before the last."""
    task = curious(stores)
    held = next_run(stores, task, trigger=Trigger.MANUAL, now=NOW + MINUTE)
    stale = read(stores, task)
    ended(stores, held)
    admission = builders.admission(stale, nonce="nonce-late")
    assert stores.runs.admit(admission).answer is AdmissionAnswer.CHANGED
    assert stores.held_keys() == {}
    assert next_run(stores, task).previous == Previous(held.run_id)


def test_who_does_not_ask_is_admitted_whatever_succeeded_meanwhile(stores: Stores) -> None:
    """RunStore.admit: the condition is only for what depends on it."""
    task = curious(stores, asks=False)
    held = next_run(stores, task, trigger=Trigger.MANUAL, now=NOW + MINUTE)
    stale = read(stores, task)
    ended(stores, held)
    admission = builders.admission(stale, nonce="nonce-late")
    assert stores.runs.admit(admission).answer is AdmissionAnswer.ADMITTED


def test_an_old_success_told_again_is_not_the_last(stores: Stores) -> None:
    """K6, B90: also when its record is gone and the next run is active."""
    task = curious(stores)
    first = next_run(stores, task)
    news = completion(first)
    assert stores.runs.complete(news).recorded
    second = completed(stores, read(stores, task), nonce="nonce-second")
    next_run(stores, task)
    assert stores.runs.prune(task.id, 1) == 2
    assert not stores.runs.complete(news).recorded
    assert read(stores, task).state.last_success_run_id == second.run_id


def test_a_refused_launch_by_hand_leaves_the_last_success(stores: Stores) -> None:
    """Undone: the task is as it was."""
    task = curious(stores)
    first = next_run(stores, task)
    ended(stores, first)
    held = next_run(stores, task, trigger=Trigger.MANUAL, now=LATER)
    refused = completion(held, outcome=Outcome.FAILED, verdict=Undone(restore=None))
    assert stores.runs.complete(refused).recorded
    assert read(stores, task).state.last_success_run_id == first.run_id


def test_the_result_can_be_read_until_its_record_goes(stores: Stores) -> None:
    """RunStore.get: what the launch reads; the name stays when the record is pruned."""
    task = curious(stores)
    first = next_run(stores, task)
    ended(stores, first, result={"exit_code": 0, "data": {"closed": 3}})
    run = stores.runs.get(task.id, first.run_id)
    assert run is not None
    assert run.result == {"exit_code": 0, "data": {"closed": 3}}
    ended(stores, next_run(stores, task), outcome=Outcome.FAILED)
    assert stores.runs.prune(task.id, 1) == 1
    assert stores.runs.get(task.id, first.run_id) is None
    assert next_run(stores, task).previous == Previous(first.run_id)
