"""What the API answers: tasks, runs, threads and the limits, as people see them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from api.wire import Wire
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import ActionKind, Jitter, RunStatus, TaskStatus
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.notify import notify_to_dict
from nightshift.domain.model.retry import FailedAttempt, retry_to_dict
from nightshift.domain.model.run import Run
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.services.owned import TaskView


class TaskResponse(Wire):
    """A task. `next_run_at` is its nominal time, `due_at` the one at which the clock may start it.

    `action` holds the prompt or command where one task is shown, and its kind alone in lists.
    """

    id: str
    title: str
    action: dict[str, str]
    context_mode: str
    thread_id: str | None
    assistant_id: str | None
    schedule_type: str
    schedule_spec: dict[str, Any]
    timezone: str
    overlap_policy: str
    priority: int
    timeout_seconds: int
    max_lateness_seconds: int | None
    jitter: str
    jitter_seconds: int
    jitter_place_seconds: int | None
    retry: dict[str, Any] | None
    notify: dict[str, Any] | None
    pause_after_failures: int | None
    include_previous_result: bool
    starts_at: str | None
    ends_at: str | None
    max_runs: int | None
    labels: dict[str, str]
    status: str
    blocked_reason: str | None
    overdue: bool
    active_run_id: str | None
    dispatching: bool
    pause_reason: str | None
    pause_until: str | None
    next_run_at: str | None
    due_at: str | None
    last_run_at: str | None
    last_run_id: str | None
    last_thread_id: str | None
    last_status: str | None
    last_error: str | None
    last_success_run_id: str | None
    failures_in_a_row: int
    run_count: int
    revision: int
    created_at: str
    updated_at: str

    @classmethod
    def from_domain(cls, view: TaskView, now: datetime) -> "TaskResponse":
        """The task as seen at `now`; overdue while it is due and has not been started."""
        task = view.task
        return cls(
            id=task.id,
            action=_action(task, view.payload),
            overdue=task.is_due(now),
            dispatching=view.dispatching,
            revision=task.revision,
            created_at=format_instant(task.created_at),
            updated_at=format_instant(task.updated_at),
            **_defined(task),
            **_standing(task),
        )


class AttemptResponse(Wire):
    """An attempt that failed and that another followed, in the same run."""

    attempt: int
    reason: str
    exit_code: int | None
    finished_at: str

    @classmethod
    def from_domain(cls, failed: FailedAttempt) -> "AttemptResponse":
        """The attempt as recorded when it had failed."""
        return cls(
            attempt=failed.attempt,
            reason=failed.reason,
            exit_code=failed.exit_code,
            finished_at=format_instant(failed.finished_at),
        )


class RunResponse(Wire):
    """A run, with the schedule as it was; `execution_arn` is null when nothing was to start.

    `attempt` is the latest, which the other fields tell of; `attempts` are those before it. A run
    that is running and not `at_work` waits for its next attempt, or for a worker.
    """

    id: str
    task_id: str
    thread_id: str | None
    execution_arn: str | None
    scheduled_for: str | None
    trigger: str
    status: str
    reason: str | None
    error: str | None
    result: dict[str, Any] | None
    attempt: int
    attempts: list[AttemptResponse]
    at_work: bool
    folded: int
    folded_through: str | None
    folded_cut: bool
    previous_run_id: str | None
    can_pause: bool
    pause_requested: bool
    paused_at: str | None
    paused_seconds: int
    started_at: str | None
    finished_at: str | None
    created_at: str
    schedule: dict[str, Any]

    @classmethod
    def from_domain(cls, run: Run, execution_arn: str) -> "RunResponse":
        """The run; `execution_arn` is the address its execution has or would have."""
        return cls(
            id=run.id,
            task_id=run.task_id,
            thread_id=run.thread_id,
            execution_arn=None if run.status is RunStatus.SKIPPED else execution_arn,
            scheduled_for=_instant(run.scheduled_for),
            trigger=run.trigger.value,
            status=run.status.value,
            reason=run.reason,
            error=run.error,
            result=None if run.result is None else dict(run.result),
            attempt=run.attempt,
            attempts=[AttemptResponse.from_domain(before) for before in run.attempts],
            at_work=run.at_work,
            folded=run.folded,
            folded_through=_instant(run.folded_through),
            folded_cut=run.folded_cut,
            previous_run_id=run.previous.run_id if run.previous else None,
            can_pause=run.can_pause and run.status is RunStatus.RUNNING,
            pause_requested=run.pause_requested and run.status is RunStatus.RUNNING,
            paused_at=_instant(run.paused_at) if run.status is RunStatus.RUNNING else None,
            paused_seconds=run.paused_seconds,
            started_at=_instant(run.started_at),
            finished_at=_instant(run.finished_at),
            created_at=format_instant(run.created_at),
            schedule=_schedule(run.schedule),
        )


class TaskPage(Wire):
    """Some tasks, and the cursor of the rest."""

    items: list[TaskResponse]
    next_cursor: str | None


class RunPage(Wire):
    """Some runs, and the cursor of the rest."""

    items: list[RunResponse]
    next_cursor: str | None


class TriggerResponse(Wire):
    """The run that was started."""

    run_id: str
    run: RunResponse


class ThreadResponse(Wire):
    """A thread of the user's."""

    id: str
    created_at: str

    @classmethod
    def from_domain(cls, thread: Thread) -> "ThreadResponse":
        """The thread as first registered."""
        return cls(id=thread.id, created_at=format_instant(thread.created_at))


class HealthResponse(Wire):
    """The function answers."""

    status: Literal["ok"] = "ok"


def _action(task: Task, payload: Payload | None) -> dict[str, str]:
    kind = task.definition.action_kind
    if payload is None:
        return {"kind": kind.value}
    return {
        "kind": kind.value,
        "prompt" if kind is ActionKind.AGENT else "command": payload.text,
    }


def _defined(task: Task) -> dict[str, Any]:
    definition, schedule = task.definition, task.definition.schedule
    return {
        "title": definition.title,
        "context_mode": definition.context_mode.value,
        "thread_id": definition.thread_id,
        "assistant_id": definition.assistant_id,
        "schedule_type": schedule.kind,
        "schedule_spec": schedule.spec(),
        "timezone": schedule.zone,
        "overlap_policy": definition.overlap_policy.value,
        "priority": definition.priority,
        "timeout_seconds": definition.timeout_seconds,
        "max_lateness_seconds": definition.max_lateness_seconds,
        "jitter": (Jitter.HASH if definition.jitter_place is None else Jitter.AUTO).value,
        "jitter_seconds": definition.jitter_seconds,
        "jitter_place_seconds": definition.jitter_place,
        "retry": retry_to_dict(definition.retry),
        "notify": notify_to_dict(definition.notify),
        "pause_after_failures": definition.pause_after_failures,
        "include_previous_result": definition.include_previous_result,
        "starts_at": _instant(schedule.bounds.starts_at),
        "ends_at": _instant(schedule.bounds.ends_at),
        "max_runs": schedule.bounds.max_runs,
        "labels": dict(definition.labels),
    }


def _standing(task: Task) -> dict[str, Any]:
    state = task.state
    is_paused = state.status is TaskStatus.PAUSED
    return {
        "status": state.status.value,
        "blocked_reason": state.blocked_reason,
        "active_run_id": state.active_run_id,
        "pause_reason": state.pause_reason,
        "pause_until": _instant(state.pause_until if is_paused else None),
        "next_run_at": _instant(state.next_run_at),
        "due_at": _instant(None if is_paused else state.due_at),
        "last_run_at": _instant(state.last_run_at),
        "last_run_id": state.last_run_id,
        "last_thread_id": state.last_thread_id,
        "last_status": state.last_status,
        "last_error": state.last_error,
        "last_success_run_id": state.last_success_run_id,
        "failures_in_a_row": state.failures_in_a_row,
        "run_count": state.run_count,
    }


def _schedule(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The schedule of a run's time, in the words that a task uses."""
    bounds = stored.get("bounds") or {}
    return {
        "schedule_type": stored.get("kind"),
        "schedule_spec": stored.get("spec"),
        "timezone": stored.get("zone"),
        "starts_at": bounds.get("starts_at"),
        "ends_at": bounds.get("ends_at"),
        "max_runs": bounds.get("max_runs"),
    }


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)
