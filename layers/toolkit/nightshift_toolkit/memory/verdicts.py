"""What the end of a run, or of an occurrence that did not run, makes of records and tasks."""

from dataclasses import replace

from nightshift.domain.exchanged import Ended, Undone
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.streak import Streak
from nightshift.domain.model.task import Plan, Task
from nightshift_toolkit.memory.state import copied


def ended(run: Run, outcome: RunOutcome) -> Run:
    """The record of a run that ended so."""
    return replace(
        run,
        status=RunStatus(outcome.outcome.value),
        reason=outcome.reason,
        error=outcome.error,
        result=copied(outcome.result),
        finished_at=outcome.finished_at,
        pause_requested=False,
        paused_at=None,
    )


def skipped(task: Task, tombstone: Run) -> Task:
    """What a tombstone writes on its task; a `once` has lost its only chance."""
    if task.recurring:
        return task
    return replace(task, state=replace(task.state, last_error=f"skipped: {tombstone.reason}"))


def told(task: Task, run_id: str, verdict: Ended) -> Task:
    """What the end of a run writes on its task."""
    before = task.state
    state = replace(
        before,
        status=verdict.status or before.status,
        last_run_id=run_id,
        last_run_at=verdict.last_run_at,
        last_thread_id=verdict.last_thread_id,
        last_status=verdict.outcome.value,
        last_error=_last_error(before.last_error, verdict),
        last_success_run_id=run_id
        if verdict.outcome is Outcome.SUCCESS
        else before.last_success_run_id,
    )
    return _counted(replace(task, state=state), verdict)


def _counted(task: Task, verdict: Ended) -> Task:
    """The task with its failures in a row, and paused if they are too many."""
    streak, before = verdict.streak, task.state
    if streak is None or verdict.outcome is Outcome.INTERRUPTED:
        return task
    failures = before.failures_in_a_row + 1 if verdict.outcome is Outcome.FAILED else 0
    counted = replace(task, state=replace(before, failures_in_a_row=failures))
    reason = streak.pause_reason(verdict.outcome)
    same = streak == Streak(before.failures_in_a_row, task.definition.pause_after_failures)
    if reason is None or before.status is not TaskStatus.ENABLED or not same:
        return counted
    idle = Plan(status=TaskStatus.PAUSED, next_run_at=None, due_at=None, tzdata_version=None)
    return counted.with_plan(idle, pause_reason=reason, pause_until=None)


def _last_error(before: str | None, ended: Ended) -> str | None:
    if ended.outcome is Outcome.SUCCESS:
        return None
    return ended.error if ended.outcome is Outcome.FAILED and ended.error else before


def undone(task: Task, verdict: Undone) -> Task:
    """The task as it was before a manual launch that was refused."""
    state = replace(task.state, run_count=task.state.run_count - 1)
    before = verdict.restore
    if before is not None:
        state = replace(
            state,
            status=before.status,
            next_run_at=before.next_run_at,
            due_at=before.due_at,
            tzdata_version=before.tzdata_version,
        )
    return replace(task, state=state)
