"""`RunStore.complete`: failures in a row, and the pause that enough of them bring (section 3)."""

import pytest

import builders
from builders import HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, ended, read
from nightshift.domain.exchanged import AdmissionAnswer
from nightshift.domain.model.enums import Outcome, TaskStatus, Trigger
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

FAILED = Outcome.FAILED
LATER = NOW + 9 * HOUR


def patient(stores: Stores, limit: int | None = 2) -> Task:
    """A stored task that is paused after `limit` failures in a row."""
    return created(stores, builders.task(pause_after_failures=limit))


def next_run(stores: Stores, task: Task, **options: object) -> Slot:
    """The slot of the task's next run."""
    stored = read(stores, task)
    nonce = f"nonce-{stored.state.run_count}"
    return admitted(stores, stored, nonce=nonce, **options)


def after(stores: Stores, task: Task, *outcomes: Outcome) -> Task:
    """The task after runs by the clock that ended so."""
    for outcome in outcomes:
        ended(stores, next_run(stores, task), outcome=outcome, error="it broke")
    return read(stores, task)


def test_failures_in_a_row_are_counted_without_a_limit_too(stores: Stores) -> None:
    """Ended.streak: a success starts anew, a cancelled run leaves the count."""
    task = patient(stores, None)
    assert after(stores, task, FAILED, FAILED).state.failures_in_a_row == 2
    assert after(stores, task, Outcome.INTERRUPTED).state.failures_in_a_row == 2
    assert after(stores, task, FAILED).state.failures_in_a_row == 3
    assert after(stores, task, Outcome.SUCCESS).state.failures_in_a_row == 0
    assert read(stores, task).state.status is TaskStatus.ENABLED


def test_the_last_failure_takes_the_task_out_of_the_clocks_reach(stores: Stores) -> None:
    """B131, K1: paused with the reason, no times, no index entry; the revision stays."""
    task = patient(stores)
    before = after(stores, task, FAILED)
    assert before.state.status is TaskStatus.ENABLED
    paused = after(stores, task, FAILED)
    state = paused.state
    assert (state.status, state.failures_in_a_row) == (TaskStatus.PAUSED, 2)
    assert state.pause_reason == "Paused after 2 failures in a row."
    assert (state.next_run_at, state.due_at, state.pause_until) == (None, None, None)
    assert (state.tzdata_version, state.planned_from) == (None, None)
    assert (state.last_status, state.active_run_id) == ("failed", None)
    assert paused.revision == before.revision
    assert not list(stores.tasks.due(LATER).hints)
    assert stores.held_keys() == {}


def test_a_repeated_end_neither_counts_nor_pauses_again(stores: Stores) -> None:
    """K6: also when the owner has put the task back in between."""
    task = patient(stores)
    after(stores, task, FAILED)
    held = next_run(stores, task)
    news = completion(held, outcome=FAILED)
    assert stores.runs.complete(news).recorded
    paused = read(stores, task)
    assert not stores.runs.complete(news).recorded
    assert read(stores, task) == paused
    assert stores.tasks.switch(paused, paused.resumed(LATER, builders.policy()))
    resumed = read(stores, task)
    assert not stores.runs.complete(news).recorded
    assert read(stores, task) == resumed


def test_an_old_failure_does_not_pause_a_task_that_runs_again(stores: Stores) -> None:
    """K6, B90: also when its record is gone and the count is again what it found."""
    task = patient(stores, 1)
    held = next_run(stores, task)
    news = completion(held, outcome=FAILED)
    assert stores.runs.complete(news).recorded
    paused = read(stores, task)
    assert stores.tasks.switch(paused, paused.resumed(LATER, builders.policy()))
    next_run(stores, task)
    assert stores.runs.prune(task.id, 1) == 1
    before = read(stores, task)
    assert not stores.runs.complete(news).recorded
    assert read(stores, task) == before


def test_who_puts_the_task_back_starts_anew(stores: Stores) -> None:
    """TaskStore.switch: no failures in a row; so it takes as many again."""
    task = patient(stores)
    paused = after(stores, task, FAILED, FAILED)
    assert stores.tasks.switch(paused, paused.resumed(LATER, builders.policy()))
    state = read(stores, task).state
    assert (state.status, state.pause_reason) == (TaskStatus.ENABLED, None)
    assert state.failures_in_a_row == 0
    assert after(stores, task, FAILED).state.status is TaskStatus.ENABLED
    assert after(stores, task, FAILED).state.status is TaskStatus.PAUSED


def test_a_pause_keeps_the_count(stores: Stores) -> None:
    """TaskStore.switch: what a run writes between read and pause is not lost (P19)."""
    task = patient(stores, 9)
    held = next_run(stores, task)
    stored = read(stores, task)
    ended(stores, held, outcome=FAILED)
    assert stores.tasks.switch(stored, stored.paused("enough", LATER))
    assert read(stores, task).state.failures_in_a_row == 1


def test_the_pause_of_its_owner_stays_theirs(stores: Stores) -> None:
    """Ended.streak: the failure counts, the reason and the end of their pause stay."""
    task = patient(stores, 1)
    held = next_run(stores, task)
    stored = read(stores, task)
    assert stores.tasks.switch(stored, stored.paused("on leave", LATER, LATER + HOUR))
    paused = read(stores, task)
    ended(stores, held, outcome=FAILED, error="it broke")
    state = read(stores, task).state
    assert (state.status, state.pause_reason) == (TaskStatus.PAUSED, "on leave")
    assert (state.pause_until, state.due_at) == (LATER + HOUR, LATER + HOUR)
    assert (state.failures_in_a_row, state.last_error) == (1, "it broke")
    assert (state.active_run_id, paused.revision) == (None, read(stores, task).revision)
    assert [hint.wakes for hint in stores.tasks.due(LATER + HOUR).hints] == [True]
    assert stores.held_keys() == {}


def test_a_resume_during_the_run_is_not_undone_by_its_failure(stores: Stores) -> None:
    """Ended.streak: the failure is the first of a new row."""
    task = patient(stores)
    after(stores, task, FAILED)
    held = next_run(stores, task)
    stored = read(stores, task)
    paused = stored.paused("let me see", LATER)
    assert stores.tasks.switch(stored, paused)
    assert stores.tasks.switch(paused, paused.resumed(LATER, builders.policy()))
    ended(stores, held, outcome=FAILED)
    state = read(stores, task).state
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 1)
    assert state.next_run_at is not None


@pytest.mark.parametrize("number", [None, 1, 9])
def test_another_number_counts_from_the_next_admission_on(
    stores: Stores, number: int | None
) -> None:
    """Ended.streak: a run that was admitted before an edit pauses by neither number."""
    task = patient(stores)
    after(stores, task, FAILED)
    held = next_run(stores, task)
    assert stores.pass_fence(held, held.admitted_at)
    stored = read(stores, task)
    definition = builders.with_definition(stored, pause_after_failures=number)
    assert stores.tasks.replace(stored, stored.edited(definition, LATER, builders.policy()))
    ended(stores, held, outcome=FAILED)
    state = read(stores, task).state
    assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 2)
    following = after(stores, task, FAILED).state.status
    assert following is (TaskStatus.PAUSED if number == 1 else TaskStatus.ENABLED)


def test_a_run_is_not_admitted_on_an_old_count(stores: Stores) -> None:
    """RunStore.admit: otherwise the failure of the run before would be left out of its own."""
    task = patient(stores)
    held = next_run(stores, task)
    stale = read(stores, task)
    ended(stores, held, outcome=FAILED)
    admission = builders.admission(stale, nonce="nonce-late")
    assert stores.runs.admit(admission).answer is AdmissionAnswer.CHANGED
    assert after(stores, task, FAILED).state.status is TaskStatus.PAUSED


def test_a_manual_run_leaves_the_count(stores: Stores) -> None:
    """Ended.streak is None: it neither counts nor starts anew, nor pauses."""
    task = patient(stores)
    after(stores, task, FAILED)
    for outcome, now in ((FAILED, LATER), (Outcome.SUCCESS, LATER + MINUTE)):
        ended(stores, next_run(stores, task, trigger=Trigger.MANUAL, now=now), outcome=outcome)
        state = read(stores, task).state
        assert (state.status, state.failures_in_a_row) == (TaskStatus.ENABLED, 1)


def test_the_failure_of_a_deleted_tasks_run_recreates_nothing(stores: Stores) -> None:
    """P5, K7: also where it would have paused the task."""
    task = patient(stores, 1)
    held = next_run(stores, task)
    assert stores.tasks.delete(read(stores, task), LATER)
    stores.runs.complete(completion(held, outcome=FAILED))
    assert stores.tasks.get(ref(task)) is None
    assert stores.held_keys() == {}


def test_a_run_and_its_slot_keep_what_they_found(stores: Stores) -> None:
    """RunStore.admit: so that the end of a run needs nothing of its task."""
    task = patient(stores, 7)
    after(stores, task, FAILED)
    held = next_run(stores, task)
    run = stores.runs.get(task.id, held.run_id)
    slot = stores.runs.slot(task.id, held.keys.slot_shard)
    assert run is not None
    assert slot is not None
    assert run.streak == slot.streak == held.streak
    assert held.streak is not None
    assert (held.streak.before, held.streak.pause_after) == (1, 7)
    ended(stores, held, finished_at=held.admitted_at + MINUTE)
