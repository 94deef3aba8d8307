"""`RunStore.admit`: all of a run's keys, or none (K3, K4)."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import builders
from builders import ALICE, BOB, HOUR, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completed, created, ended, read
from nightshift.domain.exchanged import Admission, AdmissionAnswer, Thread
from nightshift.domain.model.enums import RunStatus, TaskStatus, Trigger
from nightshift.domain.model.slot import Slot

DUE = NOW + HOUR


def answer(stores: Stores, admission: Admission) -> AdmissionAnswer:
    """How the table answers an admission."""
    return stores.runs.admit(admission).answer


def slots(stores: Stores) -> dict[str, Slot]:
    """The slots by task."""
    return {slot.task_id: slot for slot in stores.runs.slots()}


# -- all of it --


def test_an_admission_takes_the_slot_and_the_seat(stores: Stores) -> None:
    """RunStore.admit, K3: and the run holds them under its name."""
    task = created(stores)
    admission = builders.admission(task, seat=3)
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED
    run_id = admission.run.id
    assert stores.held_keys() == {f"slot {task.id}": run_id, "seat 3": run_id}
    assert stores.runs.slots() == [admission.slot]
    assert stores.runs.slot(task.id, task.slot_shard) == admission.slot


def test_an_admission_takes_the_thread_that_it_reuses(stores: Stores) -> None:
    """RunStore.admit, K3: a fresh thread needs no lock."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    held = admitted(stores, task)
    assert stores.held_keys()[f"thread {ALICE}/talk"] == held.run_id


def test_an_admission_writes_the_record(stores: Stores) -> None:
    """RunStore.admit: queued, with its nonce, its keys and the schedule as it was."""
    task = created(stores, builders.task(builders.cron("0 9 * * 1-5", zone="Asia/Tokyo")))
    admission = builders.admission(task)
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED
    assert stores.runs.get(task.id, admission.run.id) == admission.run
    assert admission.run.status is RunStatus.QUEUED


def test_an_admission_by_the_clock_advances_the_task(stores: Stores) -> None:
    """RunStore.admit, P13, P19: next time, status, counters and the active run, nothing else."""
    task = created(stores)
    admission = builders.admission(task)
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED
    assert admission.plan is not None
    assert read(stores, task) == builders.with_state(
        task.with_plan(admission.plan),
        active_run_id=admission.run.id,
        run_count=1,
        scheduled_run_count=1,
    )


def test_an_admission_of_a_once_task_takes_it_out_of_the_line(stores: Stores) -> None:
    """RunStore.admit, B71: the admission itself removes it from the index."""
    task = created(stores, builders.task(builders.once(DUE)))
    admitted(stores, task)
    assert read(stores, task).state.status is TaskStatus.RUNNING
    assert read(stores, task).state.next_run_at is None
    assert not list(stores.tasks.due(DUE + HOUR).hints)


def test_a_manual_admission_of_a_recurring_task_leaves_its_times_alone(stores: Stores) -> None:
    """RunStore.admit, P4, B69: also `max_runs` does not count it."""
    task = created(stores)
    held = admitted(stores, task, trigger=Trigger.MANUAL)
    assert read(stores, task) == builders.with_state(
        task, active_run_id=held.run_id, run_count=1, scheduled_run_count=0
    )


def test_slots_of_all_shards_are_read(stores: Stores) -> None:
    """RunStore.slots, K1."""
    tasks = [replace(builders.task(number=number), slot_shard=number % 2) for number in (1, 2)]
    held = [admitted(stores, created(stores, task), seat=seat) for seat, task in enumerate(tasks)]
    assert slots(stores) == {slot.task_id: slot for slot in held}
    assert stores.runs.slot(tasks[0].id, tasks[0].slot_shard) == held[0]


def test_a_task_without_a_run_has_no_slot(stores: Stores) -> None:
    """RunStore.slots and slot."""
    task = created(stores)
    assert list(stores.runs.slots()) == []
    assert stores.runs.slot(task.id, task.slot_shard) is None


def test_a_slot_keeps_all_that_recovery_needs(stores: Stores) -> None:
    """Slot: from it and its payload the launch can be repeated to the byte."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = builders.task(
        builders.once(DUE), thread_id="talk", assistant_id="assistant-7", title="摘要", priority=9
    )
    held = admitted(stores, created(stores, task), seat=2)
    assert held.overwritten.next_run_at == DUE
    assert stores.runs.slots() == [held]


def test_a_slot_that_cannot_be_read_is_passed_over_and_told(stores: Stores) -> None:
    """RunStore.slots: its keys stay held, and an operator hears of it."""
    bad, good = (created(stores, builders.task(number=number)) for number in (1, 2))
    held = [admitted(stores, task, seat=seat) for seat, task in enumerate((bad, good))]
    stores.damage_slot(held[0])
    assert stores.runs.slots() == [held[1]]
    assert len(stores.events) == 1
    assert stores.held_keys()["seat 0"] == held[0].run_id


# -- or none --


def test_an_admission_repeated_after_a_lost_answer_is_admitted(stores: Stores) -> None:
    """AdmissionAnswer.ADMITTED, K4, B48: our own nonce in the slot is our own success."""
    task = created(stores)
    admission = builders.admission(task)
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED
    assert read(stores, task).state.run_count == 1


def test_the_same_run_under_another_nonce_is_taken_elsewhere(stores: Stores) -> None:
    """AdmissionAnswer.TAKEN_ELSEWHERE, K4: somebody is at it, and it is named."""
    task = created(stores)
    first = admitted(stores, task, nonce="nonce-a", seat=0)
    result = stores.runs.admit(builders.admission(task, nonce="nonce-b", seat=1))
    assert result.answer is AdmissionAnswer.TAKEN_ELSEWHERE
    assert result.holder == first
    assert len(stores.held_keys()) == 2


def test_another_run_of_the_task_in_the_slot_is_an_overlap(stores: Stores) -> None:
    """AdmissionAnswer.OVERLAP, K4, P13: with the slot that stands in the way."""
    task = created(stores)
    first = admitted(stores, task, trigger=Trigger.MANUAL, seat=0)
    before = read(stores, task)
    result = stores.runs.admit(builders.admission(before, nonce="nonce-b", seat=1))
    assert result.answer is AdmissionAnswer.OVERLAP
    assert result.holder == first
    assert read(stores, task) == before
    assert set(stores.held_keys().values()) == {first.run_id}


def test_the_slot_is_read_before_anything_else(stores: Stores) -> None:
    """K4: an overlap is an overlap, though seat, thread and task are taken as well."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    task = created(stores, builders.task(thread_id="talk"))
    first = admitted(stores, task)
    moved = read(stores, task)
    result = stores.runs.admit(builders.admission(moved, nonce="nonce-b"))
    assert (result.answer, result.holder) == (AdmissionAnswer.OVERLAP, first)


def test_an_occurrence_that_has_its_record_is_not_run_again(stores: Stores) -> None:
    """AdmissionAnswer.RECORDED, K4, B43: the slot is free, the record says it all."""
    task = created(stores)
    held = completed(stores, task)
    done = read(stores, task)
    rewound = done.with_plan(task.plan(TaskStatus.ENABLED, NOW))
    assert stores.tasks.advance(done, rewound.plan(TaskStatus.ENABLED, NOW))
    again = builders.admission(read(stores, task), nonce="nonce-b")
    assert again.run.id == held.run_id
    assert answer(stores, again) is AdmissionAnswer.RECORDED
    assert stores.held_keys() == {}
    assert read(stores, task).state.run_count == 1


@pytest.mark.parametrize("change", ["edited", "paused", "advanced", "deleted", "blocked"])
def test_a_task_that_is_no_longer_as_seen_is_not_admitted(stores: Stores, change: str) -> None:
    """AdmissionAnswer.CHANGED, K3, B54, B65: and no key is taken."""
    task = created(stores)
    admission = builders.admission(task)
    policy = builders.policy()
    if change == "edited":
        definition = builders.with_definition(task, title="New title")
        assert stores.tasks.replace(task, task.edited(definition, NOW, policy))
    elif change == "paused":
        assert stores.tasks.switch(task, task.paused(None, NOW))
    elif change == "advanced":
        assert stores.tasks.advance(task, task.plan_after_dispatch(None, DUE, counted=False))
    elif change == "blocked":
        assert stores.tasks.block(ref(task), "for a reason", due_at=DUE)
    else:
        assert stores.tasks.delete(task, NOW)
    stored = stores.tasks.get(ref(task))
    assert answer(stores, admission) is AdmissionAnswer.CHANGED
    assert stores.tasks.get(ref(task)) == stored
    assert stores.held_keys() == {}
    assert stores.runs.get(task.id, admission.run.id) is None


def test_a_taken_seat_refuses_the_admission_and_nothing_is_written(stores: Stores) -> None:
    """AdmissionAnswer.SEAT_TAKEN, K3, P14."""
    first, second = (created(stores, builders.task(number=number)) for number in (1, 2))
    held = admitted(stores, first, seat=0)
    admission = builders.admission(second, seat=0, nonce="nonce-b")
    assert answer(stores, admission) is AdmissionAnswer.SEAT_TAKEN
    assert read(stores, second) == second
    assert set(stores.held_keys().values()) == {held.run_id}
    assert stores.runs.get(second.id, admission.run.id) is None
    another = builders.admission(second, seat=1, nonce="nonce-b")
    assert answer(stores, another) is AdmissionAnswer.ADMITTED


def test_a_taken_seat_of_the_users_own_refuses_the_admission(stores: Stores) -> None:
    """AdmissionAnswer.USER_SEAT_TAKEN, K3, P14: another user's of the same number is another."""
    first, second = (created(stores, builders.task(number=number)) for number in (1, 2))
    foreign = created(stores, builders.task(number=3, user_id="bob"))
    held = admitted(stores, first, seat=0, user_seat=0)
    admission = builders.admission(second, seat=1, user_seat=0, nonce="nonce-b")
    assert answer(stores, admission) is AdmissionAnswer.USER_SEAT_TAKEN
    assert read(stores, second) == second
    assert set(stores.held_keys().values()) == {held.run_id}
    theirs = admitted(stores, foreign, seat=1, user_seat=0, nonce="nonce-c")
    another = builders.admission(second, seat=2, user_seat=1, nonce="nonce-b")
    assert answer(stores, another) is AdmissionAnswer.ADMITTED
    assert stores.held_keys()["user seat bob/0"] == theirs.run_id


def test_of_a_lock_and_two_seats_that_are_taken_the_lock_is_told(stores: Stores) -> None:
    """K4: what no other seat would change comes first."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    first, second = (
        created(stores, builders.task(number=number, thread_id="talk")) for number in (1, 2)
    )
    admitted(stores, first, seat=0, user_seat=0)
    same = builders.admission(second, seat=0, user_seat=0, nonce="nonce-b")
    assert answer(stores, same) is AdmissionAnswer.THREAD_BUSY


def test_a_busy_thread_refuses_the_admission_and_nothing_is_written(stores: Stores) -> None:
    """AdmissionAnswer.THREAD_BUSY, K3: one run per thread, whichever task it is of."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    first, second = (
        created(stores, builders.task(number=number, thread_id="talk")) for number in (1, 2)
    )
    held = admitted(stores, first, seat=0)
    admission = builders.admission(second, seat=1, nonce="nonce-b")
    assert answer(stores, admission) is AdmissionAnswer.THREAD_BUSY
    assert read(stores, second) == second
    assert set(stores.held_keys().values()) == {held.run_id}
    ended(stores, held)
    assert answer(stores, admission) is AdmissionAnswer.ADMITTED


def test_threads_of_two_users_by_one_name_are_two_threads(stores: Stores) -> None:
    """P8, K3."""
    for number, user_id in ((1, ALICE), (2, BOB)):
        stores.threads.register(Thread("talk", user_id, NOW))
        task = created(stores, builders.task(number=number, user_id=user_id, thread_id="talk"))
        admitted(stores, task, seat=number)


def test_of_many_admissions_of_one_occurrence_one_succeeds(stores: Stores) -> None:
    """P13, B38, B47: the other ones learn that somebody is at it."""
    task = created(stores)
    rivals = [
        builders.admission(task, nonce=f"nonce-{rival}", seat=rival, now=DUE) for rival in range(8)
    ]
    with ThreadPoolExecutor(8) as pool:
        answers = Counter(pool.map(lambda rival: answer(stores, rival), rivals))
    assert answers[AdmissionAnswer.ADMITTED] == 1
    assert answers[AdmissionAnswer.TAKEN_ELSEWHERE] == 7
    assert len(stores.held_keys()) == 2
    assert read(stores, task).state.run_count == 1


def test_of_many_tasks_that_want_one_seat_one_gets_it(stores: Stores) -> None:
    """P14, B52, B53: the budget is a key, nothing is counted."""
    tasks = [created(stores, builders.task(number=number)) for number in range(6)]
    rivals = [builders.admission(task, nonce=f"nonce-{task.id}") for task in tasks]
    with ThreadPoolExecutor(6) as pool:
        answers = Counter(pool.map(lambda rival: answer(stores, rival), rivals))
    assert answers == {AdmissionAnswer.ADMITTED: 1, AdmissionAnswer.SEAT_TAKEN: 5}
