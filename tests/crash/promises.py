"""What must be true of work and records in the end, besides the invariants of the table."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime

from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.pause import wakes_at
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import Snapshot
from nightshift_toolkit.audit.snapshot import RUNNING

NEVER_LAUNCHED = ("launch_failed", "not_launched")


def about_work(
    snapshot: Snapshot,
    worked: Mapping[str, int],
    reported: Collection[str],
    *,
    prunes: bool = False,
) -> list[str]:
    """Where a record and the work that was done for it disagree, or a run was worked on twice.

    Args:
        snapshot: the table in the end.
        worked: how often a worker was sent each run.
        reported: the runs whose work came to an end, perhaps just before a stop.
        prunes: whether records of old runs were removed on purpose.
    """
    complaints = [
        f"{run_id} was worked on {times} times" for run_id, times in worked.items() if times > 1
    ]
    complaints += [
        f"{run_id} was worked on and has no record"
        for run_id in worked
        if task_id_of(run_id) in snapshot.task_of and not prunes and run_id not in snapshot.run_of
    ]
    complaints += [
        f"{run.id} is {run.status} ({run.reason}), worked on {worked.get(run.id, 0)} times"
        for run in snapshot.runs
        if not _agrees(run, worked.get(run.id, 0))
    ]
    complaints += [
        f"{run.id} is {run.status}, its execution {snapshot.executions[run.id]}"
        for run in snapshot.runs
        if run.id in snapshot.executions
        and not _tells_the_end(run, snapshot.executions[run.id], reported)
    ]
    return complaints


def _tells_the_end(run: Run, execution: str | None, reported: Collection[str]) -> bool:
    """Whether a run's record says what Step Functions says (P7, P18).

    A stop may come between the report of the work, which is the outcome, and the last state.
    """
    if run.status.active:
        return execution == RUNNING
    match execution:
        case "SUCCEEDED":
            return run.status is RunStatus.SUCCESS
        case "ABORTED":
            return run.status is RunStatus.INTERRUPTED or run.id in reported
        case _:
            return run.status in (RunStatus.FAILED, RunStatus.INTERRUPTED)


def _agrees(run: Run, times: int) -> bool:
    if run.status is RunStatus.SKIPPED or run.reason in NEVER_LAUNCHED:
        return times == 0
    if run.status is RunStatus.INTERRUPTED:
        return times <= 1
    return times == 1


def about_occurrences(snapshot: Snapshot, task: Task, now: datetime) -> list[str]:
    """Which instants of the schedule that have passed are not in exactly one record (P6).

    A task that is gone has no history.
    """
    if task.id not in snapshot.task_of:
        return []
    history = snapshot.history_of.get(task.id, ())
    covered = Counter(instant for run in history for instant in _instants(task, run))
    expected = _passed(task, now)
    return [
        f"{task.id}: {instant} is in {covered[instant]} records"
        for instant in sorted(set(expected) | set(covered))
        if covered[instant] != 1 or instant not in expected
    ]


def is_waiting(task: Task, now: datetime) -> bool:
    """Whether an occurrence or the end of a pause has come that the clock has not dealt with.

    Even if it backs off.
    """
    if task.state.pause_until is not None and wakes_at(task) is not None:
        return task.state.pause_until <= now
    upcoming = task.state.next_run_at
    return task.is_armed and upcoming is not None and upcoming <= now


def _passed(task: Task, now: datetime) -> list[datetime]:
    instants = []
    upcoming = task.definition.schedule.next_after(task.created_at)
    while upcoming is not None and upcoming <= now:
        instants.append(upcoming)
        upcoming = task.definition.schedule.next_after(upcoming)
    return instants


def _instants(task: Task, run: Run) -> list[datetime]:
    """The instants that a record covers: its own, and those that were folded into it."""
    if run.scheduled_for is None:
        return []
    instants = [run.scheduled_for]
    while run.folded_through is not None and instants[-1] < run.folded_through:
        following = task.definition.schedule.next_after(instants[-1])
        assert following is not None
        instants.append(following)
    return instants
