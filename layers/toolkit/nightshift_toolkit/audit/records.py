"""Invariants of run records: one for each occurrence, final when terminal (P6, K6)."""

from datetime import datetime

from nightshift.domain.model.enums import RunStatus, Trigger
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import occurrence_run_id, task_id_of
from nightshift_toolkit.audit.finding import Broken, always, at_rest, swept
from nightshift_toolkit.audit.snapshot import RUNNING, Snapshot

LAUNCH_FAILED = "launch_failed"


@always
def occurrences_have_one_record(snapshot: Snapshot) -> Broken:
    """No instant of a task is in two records, be it their own or one that was folded (P6)."""
    for history in snapshot.history_of.values():
        before: Run | None = None
        for run in sorted(history, key=_instant):
            if run.scheduled_for is None:
                continue
            if before is not None and run.scheduled_for <= _covered(before):
                yield run.id, f"its instant {run.scheduled_for} is also in {before.id}"
            if before is None or _covered(run) > _covered(before):
                before = run


@always
def occurrence_records_carry_their_names(snapshot: Snapshot) -> Broken:
    """The record of an occurrence is named after its task and instant, that of a trigger is not."""
    for run in snapshot.runs:
        by_clock = run.trigger is Trigger.SCHEDULE
        if by_clock != (run.scheduled_for is not None):
            yield run.id, f"triggered by {run.trigger}, scheduled for {run.scheduled_for}"
        elif run.scheduled_for and run.id != occurrence_run_id(run.task_id, run.scheduled_for):
            yield run.id, f"its instant is {run.scheduled_for}"


@always
def terminal_runs_are_dated(snapshot: Snapshot) -> Broken:
    """A terminal run says when it ended and expires some day; an active one does neither."""
    for run in snapshot.runs:
        if run.status.active == (run.finished_at is not None):
            yield run.id, f"it is {run.status}, finished at {run.finished_at}"
        if snapshot.expiries is not None and run.status.active == (run.id in snapshot.expiries):
            expiry = snapshot.expiries.get(run.id)
            yield run.id, f"it is {run.status}, expires at {expiry}"


@always
def tombstones_never_held_keys(snapshot: Snapshot) -> Broken:
    """A skipped occurrence was terminal from birth: no nonce, no keys, a reason."""
    for run in snapshot.runs:
        if run.status is not RunStatus.SKIPPED:
            continue
        if run.nonce is not None or run.keys is not None or run.started_at is not None:
            yield run.id, "it is skipped and was admitted"
        if run.reason is None:
            yield run.id, "it is skipped without a reason"


@always
def failures_say_why(snapshot: Snapshot) -> Broken:
    """A failed run carries a reason or an error."""
    for run in snapshot.runs:
        if run.status is RunStatus.FAILED and not (run.reason or run.error):
            yield run.id, "it failed without a reason"


@always
def counters_cover_the_history(snapshot: Snapshot) -> Broken:
    """A task has counted at least the runs that its history still shows (K11)."""
    for task in snapshot.tasks:
        admitted = [
            run
            for run in snapshot.history_of.get(task.id, ())
            if run.status is not RunStatus.SKIPPED and not _undone(run)
        ]
        by_clock = sum(run.trigger is Trigger.SCHEDULE for run in admitted)
        state = task.state
        if state.run_count < len(admitted):
            yield task.id, f"it counts {state.run_count} runs and shows {len(admitted)}"
        if state.scheduled_run_count < by_clock:
            yield task.id, f"it counts {state.scheduled_run_count} by the clock, shows {by_clock}"
        if state.scheduled_run_count > state.run_count:
            yield task.id, f"{state.scheduled_run_count} of {state.run_count} runs by the clock"


@always
def failures_in_a_row_are_those_of_the_history(snapshot: Snapshot) -> Broken:
    """No task counts failures beyond its runs by the clock, its last success, or its active run."""
    for task in snapshot.tasks:
        counted, state = task.state.failures_in_a_row, task.state
        if not 0 <= counted <= state.scheduled_run_count:
            yield task.id, f"{counted} failures in {state.scheduled_run_count} runs by the clock"
        ended = [run for run in snapshot.history_of.get(task.id, ()) if _counts(run)]
        if counted and ended and ended[-1].status is RunStatus.SUCCESS:
            yield task.id, f"{counted} failures in a row after the success of {ended[-1].id}"
        slot = snapshot.slot_of.get(task.id)
        found = slot.streak if slot else None
        if found is not None and found.pause_after is not None and counted > found.before:
            yield task.id, f"{counted} failures in a row, its active run found {found.before}"


@always
def handed_results_are_of_successes(snapshot: Snapshot) -> Broken:
    """What a task calls its last success, and what a run was handed, is a success of that task."""
    for task in snapshot.tasks:
        if (wrong := _no_success(snapshot, task.id, task.state.last_success_run_id)) is not None:
            yield task.id, f"its last success is {wrong}"
    for run in snapshot.runs:
        handed = run.previous.run_id if run.previous else None
        if (wrong := _no_success(snapshot, run.task_id, handed)) is not None:
            yield run.id, f"it was handed the result of {wrong}"
        slot = snapshot.slot_of_run.get(run.id)
        if slot is not None and slot.previous != run.previous:
            yield run.id, f"it is handed {run.previous}, by its slot {slot.previous}"


@at_rest
def ended_executions_are_recorded(snapshot: Snapshot) -> Broken:
    """No run is active whose execution has ended or never was."""
    for run in snapshot.runs:
        if run.status.active and run.id in snapshot.executions:
            status = snapshot.executions[run.id]
            if status != RUNNING:
                yield run.id, f"it is {run.status}, its execution {status or 'does not exist'}"


@at_rest
def running_executions_are_active_runs(snapshot: Snapshot) -> Broken:
    """No execution runs on whose run is over or was never admitted."""
    for run_id, status in snapshot.executions.items():
        if status == RUNNING and not snapshot.is_active(run_id):
            yield run_id, "its execution runs and the run is not active"


@swept
def history_goes_with_its_task(snapshot: Snapshot) -> Broken:
    """The records of a task that is gone are gone as well, but for a run that is active (P5)."""
    for task_id, history in snapshot.history_of.items():
        left = [run for run in history if not run.status.active]
        if task_id not in snapshot.task_of and left and not snapshot.unreadable:
            yield task_id, f"it is gone and {len(left)} of its records are there"


def _no_success(snapshot: Snapshot, task_id: str, run_id: str | None) -> str | None:
    """What a run is instead of a success of the task; one that is gone may have been one."""
    if run_id is None:
        return None
    run = snapshot.run_of.get(run_id)
    if run is None:
        return None if task_id_of(run_id) == task_id else f"{run_id}, which is another task's"
    right = run.task_id == task_id and run.status is RunStatus.SUCCESS
    return None if right else f"{run_id}, which is {run.status} and {run.task_id}'s"


def _undone(run: Run) -> bool:
    """Whether it is a manual run whose launch was refused, which its task does not count."""
    return run.trigger is Trigger.MANUAL and run.reason == LAUNCH_FAILED


def _counts(run: Run) -> bool:
    """Whether it is a run that says something about failures in a row."""
    return run.streak is not None and run.status in (RunStatus.SUCCESS, RunStatus.FAILED)


def _instant(run: Run) -> tuple[datetime, str]:
    return (run.scheduled_for or EPOCH, run.id)


def _covered(run: Run) -> datetime:
    """The last instant that is in a record."""
    return run.folded_through or run.scheduled_for or EPOCH


ABOUT_RECORDS = (
    occurrences_have_one_record,
    occurrence_records_carry_their_names,
    terminal_runs_are_dated,
    tombstones_never_held_keys,
    failures_say_why,
    counters_cover_the_history,
    failures_in_a_row_are_those_of_the_history,
    handed_results_are_of_successes,
    ended_executions_are_recorded,
    running_executions_are_active_runs,
    history_goes_with_its_task,
)
