"""What the API answers with, as types; the JSON itself is handed on unchanged (SPEC section 7)."""

from typing import Any, Literal, NotRequired, TypedDict


class Task(TypedDict):
    """A user's rule: what to run, when, in which context. Times are UTC."""

    id: str
    title: str
    action: dict[str, Any]
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


class RunResult(TypedDict):
    """What a run's command left: its exit code, and the beginning and end of its output.

    `data` is what it wrote into its result file, `usage` the figures in there, `data_problem` why
    that file could not be used, `output_url` where the whole output is.
    """

    exit_code: int | None
    output: str
    truncated: bool
    data: NotRequired[dict[str, Any]]
    usage: NotRequired[dict[str, int | float]]
    data_problem: NotRequired[str]
    output_url: NotRequired[str]


class Attempt(TypedDict):
    """An attempt that failed and that another followed, in the same run."""

    attempt: int
    reason: str
    exit_code: int | None
    finished_at: str


class RefusedTask(TypedDict):
    """A task that a change of all tasks left as it is, and why."""

    task_id: str
    code: str


class ChangedTasks(TypedDict):
    """What became of some of my tasks, by id."""

    changed: list[str]
    unchanged: list[str]
    refused: list[RefusedTask]
    next_cursor: str | None


Verb = Literal["pause", "resume"]


class Run(TypedDict):
    """The record of one occurrence or one manual trigger. Times are UTC."""

    id: str
    task_id: str
    thread_id: str | None
    execution_arn: str | None
    scheduled_for: str | None
    trigger: str
    status: str
    reason: str | None
    error: str | None
    result: RunResult | None
    attempt: int
    attempts: list[Attempt]
    at_work: bool
    can_pause: bool
    pause_requested: bool
    paused_at: str | None
    paused_seconds: int
    folded: int
    folded_through: str | None
    folded_cut: bool
    previous_run_id: str | None
    started_at: str | None
    finished_at: str | None
    created_at: str
    schedule: dict[str, Any]


class FieldChange(TypedDict):
    """A field before and after."""

    old: Any
    new: Any


class Change(TypedDict):
    """An entry of a task's change log."""

    revision: int
    at: str
    by: str
    verb: str
    fields: dict[str, FieldChange]


class RuleWord(TypedDict):
    """What one rule says about a task: `passes`, `decides` or `not_reached`."""

    rule: str
    verdict: str
    detail: str | None


class Explanation(TypedDict):
    """Why a task runs or does not: what its rules come to, in the order in which they are asked."""

    at: str
    decision: str
    reason: str | None
    run_id: str | None
    rules: list[RuleWord]


class Thread(TypedDict):
    """A conversation in which agent runs happen."""

    id: str
    created_at: str


class Triggered(TypedDict):
    """The answer to a manual trigger."""

    run_id: str
    run: Run


class Fire(TypedDict):
    """One time of a previewed schedule; with jitter, when it starts at the latest."""

    utc: str
    local: str
    note: str | None
    effective_until: str | None


class SchedulePreview(TypedDict):
    """A schedule in words and in its normal form, and its next times."""

    schedule: str
    schedule_type: str
    schedule_spec: dict[str, Any]
    timezone: str
    next: list[Fire]


class FieldError(TypedDict):
    """One field that was refused, and why."""

    field: str
    message: str


class Problem(TypedDict, total=False):
    """A refusal as RFC 9457 writes it; the gateway's own refusals have a `message` alone."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: list[FieldError]
    message: str
