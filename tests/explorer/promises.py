"""What must hold between one step and the next, and when everybody is through.

The invariants of a single moment are the auditor's; here is what takes two moments to see, or the
executions beside the rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from explorer.cloud import Cloud, Made
from explorer.stage import Stage
from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus, Trigger
from nightshift.domain.model.pause import wakes_at
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import Snapshot, check

OWNERS_WRITES = ("tasks.replace", "tasks.switch", "tasks.delete", "tasks.create")
NEVER_WORKED = ("launch_failed", "not_launched", "fenced")


class Broken(AssertionError):
    """Something that must hold does not."""


@dataclass
class Accepted:
    """Which actors were triggers, which cancelled which run, which owners changed which task."""

    triggers: set[str] = field(default_factory=set)
    cancels: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)


def after_step(
    operation: str, before: Snapshot, after: Snapshot, cloud: Cloud, limit: int | None
) -> None:
    """Judge one write.

    Raises:
        Broken: with all that does not hold.
    """
    findings = [
        *map(str, check(after, at_rest=False, limit=limit)),
        *_terminal_states_stay(before, after),
        *_attempts_stay(before, after),
        *_the_last_success_is_handed_on(before, after),
        *_occurrences_leave_with_a_record(operation, before, after),
        *_work_is_done_under_its_keys(after, cloud),
        *_work_has_what_its_slot_names(after, cloud),
    ]
    _raise(findings)


def at_rest(snapshot: Snapshot, cloud: Cloud, stage: Stage, accepted: Accepted) -> None:
    """Judge the whole when nobody is at work and time has passed.

    Raises:
        Broken: with all that does not hold.
    """
    findings = [
        *map(str, check(snapshot, at_rest=True)),
        *_everything_is_free(snapshot, cloud),
        *_records_tell_the_truth(snapshot, cloud),
        *_counters_are_exact(snapshot),
        *_accepted_triggers_have_a_record(snapshot, stage, accepted),
        *_cancelled_runs_were_interrupted_or_over(snapshot, cloud, stage, accepted),
        *_failures_are_of_our_family(stage),
    ]
    _raise(findings)


def _raise(findings: list[str]) -> None:
    if findings:
        raise Broken("\n".join(findings))


# -- between two moments --


def _terminal_states_stay(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """A terminal run never changes; it may only go with its task (SPEC section 2, P5)."""
    for run in before.runs:
        now = after.run_of.get(run.id)
        if not run.status.active and now != run and (now or run.task_id in after.task_of):
            yield f"{run.id} was {run.status} and is {now.status if now else 'gone'}"


def _attempts_stay(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """What was recorded of an attempt never changes; attempts are added at the end."""
    for run in before.runs:
        now = after.run_of.get(run.id)
        if now is not None and now.attempts[: len(run.attempts)] != run.attempts:
            yield f"{run.id} had the attempts {run.attempts} and has {now.attempts}"


def _the_last_success_is_handed_on(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """A success is its task's last from that very step on; what is admitted is handed that."""
    for task in after.tasks:
        was, slot = before.task_of.get(task.id), after.slot_of.get(task.id)
        ended = [
            run.id
            for run in after.history_of.get(task.id, ())
            if run.status is RunStatus.SUCCESS and before.run_of[run.id].status.active
        ]
        kept = was.state.last_success_run_id if was else None
        last = ended[0] if ended else kept
        if task.state.last_success_run_id != last:
            yield f"{task.id} has {task.state.last_success_run_id} as its last success, not {last}"
        if slot is None or slot.run_id in before.slot_of_run or was is None:
            continue
        wanted = Previous(kept) if was.definition.include_previous_result else None
        if slot.previous != wanted:
            yield f"{slot.run_id} is handed {slot.previous}, should be {wanted}"


def _occurrences_leave_with_a_record(
    operation: str, before: Snapshot, after: Snapshot
) -> Iterator[str]:
    """Only its owner, or failures in a row, take an occurrence without a record of it (P6)."""
    if operation in OWNERS_WRITES:
        return
    for task in before.tasks:
        occurrence = task.state.next_run_at
        now = after.task_of.get(task.id)
        if occurrence is None or now is None or now.state.next_run_at == occurrence:
            continue
        if _gave_up(task, now):
            continue
        slot = after.slot_of.get(task.id)
        consumed = slot is not None and slot.consumes_once
        if not consumed and occurrence_run_id(task.id, occurrence) not in after.run_of:
            yield f"{task.id} lost its occurrence {occurrence} by {operation} without a record"


def _gave_up(before: Task, now: Task) -> bool:
    """Whether one more failure has just paused the task, which wants to be paused by so many."""
    limit, failures = before.definition.pause_after_failures, now.state.failures_in_a_row
    paused = before.state.status is TaskStatus.ENABLED and now.state.status is TaskStatus.PAUSED
    one_more = failures == before.state.failures_in_a_row + 1
    return paused and one_more and limit is not None and failures >= limit


def _work_is_done_under_its_keys(after: Snapshot, cloud: Cloud) -> Iterator[str]:
    """Whatever works holds its task's slot under its own nonce, and works once (P13, P14)."""
    for made in cloud.made.values():
        slot = after.slot_of_run.get(made.run_id)
        if made.working and (slot is None or slot.nonce != made.nonce):
            yield f"{made.name} works and its run does not hold the slot"
    for run_id, works in cloud.works.items():
        if works > 1:
            yield f"{run_id} was worked on {works} times"


def _work_has_what_its_slot_names(after: Snapshot, cloud: Cloud) -> Iterator[str]:
    """What works was started with the result that its admission settled on."""
    for made in cloud.made.values():
        slot = after.slot_of_run.get(made.run_id)
        if made.working and slot is not None and made.previous != slot.previous:
            yield f"{made.name} has {made.previous}, its slot says {slot.previous}"


# -- at rest --


def _everything_is_free(snapshot: Snapshot, cloud: Cloud) -> Iterator[str]:
    """No key is held, no execution runs, and no task is due, without anybody's help."""
    for slot in snapshot.slots:
        yield f"{slot.run_id} still holds its slot, {slot.state}"
    for seat, holder in snapshot.seats.items():
        yield f"seat {seat} is still held by {holder.run_id}"
    for (user_id, seat), holder in snapshot.user_seats.items():
        yield f"seat {seat} of {user_id}'s own is still held by {holder.run_id}"
    for made in cloud.made.values():
        if not made.over:
            yield f"the execution {made.name} still runs"
    for task in snapshot.tasks:
        if snapshot.now is not None and waits(task, snapshot.now):
            yield f"{task.id} still waits since {task.state.next_run_at}"


def waits(task: Task, now: datetime) -> bool:
    """Whether an occurrence or the end of a pause has come and was not dealt with."""
    if task.state.pause_until is not None and wakes_at(task) is not None:
        return task.state.pause_until <= now
    upcoming = task.state.next_run_at
    return task.is_armed and upcoming is not None and upcoming <= now


def _records_tell_the_truth(snapshot: Snapshot, cloud: Cloud) -> Iterator[str]:
    """Success was worked for once, a tombstone and a refused launch never, and so on (P7, P18).

    An execution that came after its run was written off is nobody's; the fence kept it from work.
    """
    for run in snapshot.runs:
        works, made = cloud.works[run.id], cloud.made.get(run.id)
        ended = made.status if made else None
        if run.status is RunStatus.SUCCESS and works != 1:
            yield f"{run.id} succeeded and was worked on {works} times"
        if run.status is RunStatus.SKIPPED and made:
            yield f"{run.id} was skipped and has an execution"
        if works and (run.reason in NEVER_WORKED):
            yield f"{run.id} is {run.status}: {run.reason}, and was worked on"
        if made and run.attempt != made.attempt:
            yield f"{run.id} is at attempt {run.attempt}, its execution at {made.attempt}"
        late = run.reason == "not_launched"
        if made and not made.reported and not late and _word(ended) not in (None, run.status.value):
            yield f"{run.id} is {run.status}: {run.reason}, and its execution {ended}: {made.error}"
        if made and made.reported and run.status.value != _reported(run, cloud, made):
            yield f"{run.id} is {run.status}: {run.reason}, and its worker said otherwise"


def _word(ended: str | None) -> str | None:
    return {"SUCCEEDED": Outcome.SUCCESS.value, "ABORTED": Outcome.INTERRUPTED.value}.get(
        ended or ""
    )


def _reported(run: Run, cloud: Cloud, made: Made) -> str:
    """A report that was sent counts, unless it was lost and the execution stopped after it."""
    told = Outcome.FAILED.value if cloud.fails(made) else Outcome.SUCCESS.value
    stopped = made.status == "ABORTED" and run.status is RunStatus.INTERRUPTED
    return run.status.value if stopped else told


def _counters_are_exact(snapshot: Snapshot) -> Iterator[str]:
    """A task has counted its admitted runs, and those by the clock, neither more nor less."""
    for task in snapshot.tasks:
        admitted = [
            run
            for run in snapshot.history_of.get(task.id, ())
            if run.status is not RunStatus.SKIPPED
            and (run.trigger, run.reason) != (Trigger.MANUAL, "launch_failed")
        ]
        by_clock = sum(run.trigger is Trigger.SCHEDULE for run in admitted)
        counted = (task.state.run_count, task.state.scheduled_run_count)
        if counted != (len(admitted), by_clock):
            yield f"{task.id} counts {counted}, its history {(len(admitted), by_clock)}"


def _accepted_triggers_have_a_record(
    snapshot: Snapshot, stage: Stage, accepted: Accepted
) -> Iterator[str]:
    """An accepted trigger is in exactly one record, unless its task went (P6)."""
    for name in accepted.triggers & stage.results.keys():
        run: Run = stage.results[name]
        if run.id not in snapshot.run_of and run.task_id in snapshot.task_of:
            yield f"{name} was answered with {run.id}, which has no record"


def _cancelled_runs_were_interrupted_or_over(
    snapshot: Snapshot, cloud: Cloud, stage: Stage, accepted: Accepted
) -> Iterator[str]:
    """A cancelled run is interrupted, or has the outcome that its work came to by itself (P7)."""
    for name in accepted.cancels.keys() & stage.results.keys():
        run = snapshot.run_of.get(accepted.cancels[name])
        if run is None or run.status is RunStatus.INTERRUPTED:
            continue
        made = cloud.made.get(run.id)
        by_itself = made is not None and made.status in ("SUCCEEDED", "FAILED")
        if made is None or not (made.reported or by_itself):
            yield f"{run.id} was cancelled and is {run.status}: {run.reason}"


def _failures_are_of_our_family(stage: Stage) -> Iterator[str]:
    """Whatever an actor was told is an error of ours, with a code."""
    for name, failure in stage.failures.items():
        if not isinstance(failure, NightshiftError):
            yield f"{name} ended with {type(failure).__name__}: {failure}"
