"""Runs and slots: what is born with an admission, and what is terminal from birth."""

from dataclasses import replace

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND
from nightshift.domain.model.enums import (
    Outcome,
    RunStatus,
    SkipReason,
    SlotState,
    TaskStatus,
    Trigger,
)
from nightshift.domain.model.run import MAX_ERROR_BYTES, Run, RunOutcome, bounded
from nightshift.domain.model.run_ids import fresh_thread_id, occurrence_run_id
from nightshift.domain.model.spec import Folded

DUE = NOW + HOUR
FOLDED = Folded(3, DUE + 3 * HOUR, cut=False)


# -- factories --


@pytest.mark.parametrize("reason", list(SkipReason))
def test_a_tombstone_is_never_active(reason: SkipReason) -> None:
    """SPEC section 3: terminal from birth, with the reason, and it holds nothing."""
    task = builders.task()
    tombstone = Run.tombstone(task, reason, DUE + MINUTE, FOLDED)
    assert not tombstone.status.active
    assert tombstone.status is RunStatus.SKIPPED
    assert tombstone.reason == reason.value
    assert tombstone.finished_at == DUE + MINUTE
    assert (tombstone.keys, tombstone.nonce, tombstone.started_at) == (None, None, None)


def test_a_tombstone_is_the_record_of_the_tasks_own_occurrence() -> None:
    """P6, K2: under the very name its run would have had."""
    task = builders.task()
    tombstone = Run.tombstone(task, SkipReason.OVERLAP, DUE + MINUTE, FOLDED)
    assert tombstone.id == occurrence_run_id(task.id, DUE) == builders.slot(task).run_id
    assert tombstone.scheduled_for == DUE
    assert tombstone.trigger is Trigger.SCHEDULE
    assert (tombstone.folded, tombstone.folded_through) == (3, DUE + 3 * HOUR)


def test_only_an_occurrence_can_be_skipped() -> None:
    """SPEC section 1: a task without a next time has none."""
    task = builders.in_status(builders.task(), TaskStatus.PAUSED)
    with pytest.raises(ValueError, match="occurrence"):
        Run.tombstone(task, SkipReason.OVERLAP, NOW, FOLDED)


def test_an_admitted_run_is_active_and_holds_the_keys_of_its_slot() -> None:
    """K3: run and slot are born together."""
    task = builders.task()
    slot = builders.slot(task, seat=7)
    run = Run.admitted(task, slot, FOLDED)
    assert run.status is RunStatus.QUEUED
    assert (run.id, run.nonce, run.keys) == (slot.run_id, slot.nonce, slot.keys)
    assert run.thread_id == slot.thread_id
    assert (run.started_at, run.finished_at) == (None, None)
    assert (run.folded, run.folded_through, run.folded_cut) == (3, DUE + 3 * HOUR, False)


def test_a_run_remembers_the_schedule_as_it_was() -> None:
    """SPEC section 7: an edit does not change what history shows."""
    task = builders.task(builders.cron("0 9 * * 1-5", zone="America/New_York"))
    run = Run.admitted(task, builders.slot(task), None)
    assert run.schedule == task.definition.schedule.to_dict()
    assert run.timezone == "America/New_York"


# -- slots --


def test_a_scheduled_slot_names_the_stored_occurrence_however_late_it_is() -> None:
    """P15: `scheduled_for` is the stored time."""
    slot = builders.slot(builders.task(), now=DUE + 5 * HOUR)
    assert slot.scheduled_for == DUE
    assert slot.admitted_at == DUE + 5 * HOUR
    assert slot.state is SlotState.QUEUED


def test_a_manual_slot_has_no_scheduled_time() -> None:
    """B69: else the real occurrence would look as if it had run."""
    slot = builders.slot(builders.task(), trigger=Trigger.MANUAL, now=NOW)
    assert slot.scheduled_for is None


def test_a_run_of_a_reused_thread_locks_it_and_a_fresh_one_locks_nothing() -> None:
    """K3."""
    reused = builders.slot(builders.task(thread_id="talk"))
    assert (reused.thread_id, reused.keys.locked_thread_id) == ("talk", "talk")
    fresh = builders.slot(builders.task())
    assert fresh.keys.locked_thread_id is None
    assert fresh.thread_id == fresh_thread_id(fresh.run_id)


def test_a_slot_keeps_what_the_admission_overwrites() -> None:
    """SPEC section 3: a refused manual launch of a `once` puts it back."""
    task = builders.task(builders.once(DUE), priority=8)
    overwritten = builders.slot(task, trigger=Trigger.MANUAL, now=NOW).overwritten
    assert overwritten.status is TaskStatus.ENABLED
    assert (overwritten.next_run_at, overwritten.due_at) == (DUE, DUE)
    assert overwritten.priority == 8
    assert overwritten.tzdata_version == task.state.tzdata_version


@pytest.mark.parametrize("trigger", list(Trigger))
def test_only_a_run_of_a_once_task_consumes_it(trigger: Trigger) -> None:
    """SPEC section 3, B70: a manual run of a `once` task is its run."""
    once = builders.slot(builders.task(builders.once(DUE)), trigger=trigger)
    recurring = builders.slot(builders.task(), trigger=trigger)
    assert (once.consumes_once, recurring.consumes_once) == (True, False)


def test_a_launch_needs_recovery_when_its_lease_is_over_and_the_fence_was_not_passed() -> None:
    """SPEC section 6: the lease is over at its own instant."""
    slot = builders.slot(builders.task())
    assert not slot.needs_launch(slot.lease_until - SECOND)
    assert slot.needs_launch(slot.lease_until)
    running = replace(slot, state=SlotState.RUNNING)
    assert not running.needs_launch(slot.lease_until + HOUR)


def test_a_lease_and_a_deadline_count_from_the_admission() -> None:
    """SPEC section 9: launch_lease_seconds, launch_deadline_seconds."""
    limits = builders.policy(launch_lease_seconds=60)
    slot = builders.slot(builders.task(), now=DUE, limits=limits)
    assert slot.lease_until == DUE + MINUTE
    assert not slot.launch_is_over(DUE + 480 * SECOND - SECOND)
    assert slot.launch_is_over(DUE + 480 * SECOND)


def test_a_run_is_old_from_its_start_and_before_that_from_its_admission() -> None:
    """SPEC section 6: verification looks at slots older than verify_after_seconds."""
    limits = builders.policy(verify_after_seconds=300)
    slot = builders.slot(builders.task(), now=DUE)
    assert not slot.is_old(DUE + 299 * SECOND, limits)
    assert slot.is_old(DUE + 300 * SECOND, limits)
    started = replace(slot, started_at=DUE + HOUR)
    assert not started.is_old(DUE + HOUR + 299 * SECOND, limits)
    assert started.is_old(DUE + HOUR + 300 * SECOND, limits)


# -- outcomes --


def silence(**news: object) -> RunOutcome:
    """The end of a run of which no worker spoke."""
    outcome = RunOutcome(
        run_id="tsk_a-1", outcome=Outcome.FAILED, finished_at=NOW, reason="worker_lost", silent=True
    )
    return replace(outcome, **news)  # type: ignore[arg-type]


@pytest.mark.parametrize(("picked_up", "reason"), [(True, "worker_lost"), (False, "not_picked_up")])
def test_a_silent_run_is_lost_if_a_worker_had_it_and_else_was_never_picked_up(
    picked_up: bool, reason: str
) -> None:
    """SPEC section 8."""
    run = Run.admitted(builders.task(), builders.slot(builders.task()), None)
    seen = replace(run, attempt=2, picked_up_attempt=2 if picked_up else 1)
    assert silence().seen_with(seen).reason == reason


def test_a_run_that_spoke_keeps_its_reason() -> None:
    """SPEC section 8: `silent` alone is read with the record."""
    run = Run.admitted(builders.task(), builders.slot(builders.task()), None)
    assert silence(silent=False, reason="nonzero_exit").seen_with(run).reason == "nonzero_exit"


def test_an_error_is_cut_to_two_kibibytes_of_whole_characters() -> None:
    """K8."""
    run = Run.admitted(builders.task(), builders.slot(builders.task()), None)
    for text in ("x" * 5000, "摘" * 5000, "🦉" * 5000, "é" * 5000):
        cut = silence(error=text).seen_with(run).error
        assert cut is not None
        assert MAX_ERROR_BYTES - 4 <= len(cut.encode()) <= MAX_ERROR_BYTES
        assert text.startswith(cut.removesuffix("…"))


@pytest.mark.parametrize("text", [None, "", "short", "é" * 1024])
def test_text_within_its_limit_is_left_as_it_is(text: str | None) -> None:
    """K8: bytes of UTF-8 are counted, not characters."""
    assert bounded(text, MAX_ERROR_BYTES) == text
