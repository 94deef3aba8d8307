"""What people and programs may send, and the command that each request becomes."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from api.bodies import NotifyBody, RetryBody
from api.wire import (
    DEFAULT_PREVIEW_COUNT,
    AssistantId,
    ContextModeName,
    FailuresInARow,
    Instant,
    JitterName,
    JitterSeconds,
    Labels,
    LatenessSeconds,
    OverlapPolicyName,
    PreviewCount,
    Priority,
    Reason,
    RunLimit,
    ScheduleSpec,
    Text,
    ThreadId,
    TimeoutSeconds,
    Title,
    Wire,
    absent,
)
from nightshift.domain.commands import (
    UNSET,
    Action,
    CreateTask,
    EditTask,
    PauseTask,
    PreviewSchedule,
    ScheduleEdit,
    ScheduleRequest,
    Unset,
)
from nightshift.domain.errors import InvalidRequest, InvalidSchedule
from nightshift.domain.model.enums import ActionKind, ContextMode, Jitter, OverlapPolicy
from nightshift.domain.model.idempotency import IdempotencyKey

ScheduleType = Literal["cron", "every", "once"]
_TYPES: Final[Mapping[str, ScheduleType]] = {
    "cron": "cron",
    "every_seconds": "every",
    "once": "once",
    "after_seconds": "once",
}


class AgentAction(Wire):
    """A prompt for the operator's agent."""

    kind: Literal["agent"]
    prompt: Text


class ShellAction(Wire):
    """A command line, where the operator allows them."""

    kind: Literal["shell"]
    command: Text


ActionBody = Annotated[AgentAction | ShellAction, Field(discriminator="kind")]


class CreateTaskRequest(Wire):
    """A new task. `prompt` is short for an agent action; null is the same as leaving out."""

    title: Title
    action: ActionBody | None = None
    prompt: Text | None = None
    schedule_type: ScheduleType | None = None
    schedule_spec: ScheduleSpec
    timezone: str = "UTC"
    starts_at: Instant | None = None
    ends_at: Instant | None = None
    max_runs: RunLimit | None = None
    context_mode: ContextModeName = ContextMode.FRESH_THREAD
    thread_id: ThreadId | None = None
    assistant_id: AssistantId | None = None
    overlap_policy: OverlapPolicyName = OverlapPolicy.SKIP
    priority: Priority = 5
    timeout_seconds: TimeoutSeconds | None = None
    max_lateness_seconds: LatenessSeconds | None = None
    jitter: JitterName = Jitter.HASH
    jitter_seconds: JitterSeconds | None = None
    retry: RetryBody | None = None
    notify: NotifyBody | None = None
    pause_after_failures: FailuresInARow | None = None
    include_previous_result: bool = False
    labels: Labels | None = None

    def to_command(self, user_id: str, key: IdempotencyKey | None = None) -> CreateTask:
        """The command, which may be repeated under `key`.

        Raises:
            InvalidRequest: action and prompt are both there or both missing.
            InvalidSchedule: schedule_type and schedule_spec disagree.
            PayloadTooLarge: the prompt or command is.
        """
        action = _action(self.action, self.prompt)
        if action is None:
            raise InvalidRequest("An action or a prompt is required.", field="action")
        _ensure_type(self.schedule_type, self.schedule_spec)
        return CreateTask(
            user_id=user_id,
            title=self.title,
            action=action,
            schedule=ScheduleRequest(
                spec=self.schedule_spec,
                timezone=self.timezone,
                starts_at=self.starts_at,
                ends_at=self.ends_at,
                max_runs=self.max_runs,
            ),
            context_mode=self.context_mode,
            thread_id=self.thread_id,
            assistant_id=self.assistant_id,
            overlap_policy=self.overlap_policy,
            priority=self.priority,
            timeout_seconds=self.timeout_seconds,
            max_lateness_seconds=self.max_lateness_seconds,
            jitter=self.jitter,
            jitter_seconds=self.jitter_seconds or 0,
            retry=self.retry.to_domain() if self.retry else None,
            notify=self.notify.to_domain() if self.notify else None,
            pause_after_failures=self.pause_after_failures,
            include_previous_result=self.include_previous_result,
            labels=self.labels or {},
            key=key,
        )


class EditTaskRequest(Wire):
    """Some fields of a task; those left out stay, null puts back what can be empty (P2).

    A recurring rule that becomes a single time loses its bounds, also those not sent.
    """

    title: Title = absent()
    action: ActionBody = absent()
    prompt: Text = absent()
    schedule_type: ScheduleType = absent()
    schedule_spec: ScheduleSpec = absent()
    timezone: str = absent()
    starts_at: Instant | None = absent()
    ends_at: Instant | None = absent()
    max_runs: RunLimit | None = absent()
    context_mode: ContextModeName = absent()
    thread_id: ThreadId | None = absent()
    assistant_id: AssistantId | None = absent()
    overlap_policy: OverlapPolicyName = absent()
    priority: Priority = absent()
    timeout_seconds: TimeoutSeconds | None = absent()
    max_lateness_seconds: LatenessSeconds | None = absent()
    jitter: JitterName = absent()
    jitter_seconds: JitterSeconds | None = absent()
    retry: RetryBody | None = absent()
    notify: NotifyBody | None = absent()
    pause_after_failures: FailuresInARow | None = absent()
    include_previous_result: bool = absent()
    labels: Labels | None = absent()

    def to_command(
        self, user_id: str, task_id: str, expected: frozenset[int] | None = None
    ) -> EditTask:
        """The command, for a task that is at one of the `expected` revisions.

        Raises:
            InvalidRequest: no field is there, or both action and prompt are.
            InvalidSchedule: schedule_type disagrees with schedule_spec or stands alone.
            PayloadTooLarge: the prompt or command is.
        """
        if not self.model_fields_set:
            raise InvalidRequest("At least one field to change is required.")
        sent = self.model_fields_set
        action = _action(
            self.action if "action" in sent else None, self.prompt if "prompt" in sent else None
        )
        if "schedule_type" in sent:
            spec = self.schedule_spec if "schedule_spec" in sent else {}
            _ensure_type(self.schedule_type, spec)
        return EditTask(
            user_id=user_id,
            task_id=task_id,
            expected=expected,
            title=self.title,
            action=UNSET if action is None else action,
            schedule=self._schedule(),
            context_mode=self.context_mode,
            thread_id=self.thread_id,
            assistant_id=self.assistant_id,
            overlap_policy=self.overlap_policy,
            priority=self.priority,
            timeout_seconds=self.timeout_seconds,
            max_lateness_seconds=self.max_lateness_seconds,
            jitter=self.jitter,
            jitter_seconds=self.jitter_seconds,
            retry=self.retry.to_domain() if isinstance(self.retry, RetryBody) else self.retry,
            notify=self.notify.to_domain() if isinstance(self.notify, NotifyBody) else self.notify,
            pause_after_failures=self.pause_after_failures,
            include_previous_result=self.include_previous_result,
            labels=self.labels,
        )

    def _schedule(self) -> ScheduleEdit | Unset:
        parts = {"schedule_spec", "timezone", "starts_at", "ends_at", "max_runs"}
        if not parts & self.model_fields_set:
            return UNSET
        return ScheduleEdit(
            spec=self.schedule_spec,
            timezone=self.timezone,
            starts_at=self.starts_at,
            ends_at=self.ends_at,
            max_runs=self.max_runs,
        )


class PreviewScheduleRequest(Wire):
    """A schedule to be looked at, as a task would have it; null is the same as leaving out."""

    schedule_type: ScheduleType | None = None
    schedule_spec: ScheduleSpec
    timezone: str = "UTC"
    starts_at: Instant | None = None
    ends_at: Instant | None = None
    max_runs: RunLimit | None = None
    jitter_seconds: JitterSeconds | None = None
    count: PreviewCount = DEFAULT_PREVIEW_COUNT
    after: Instant | None = None
    language: Literal["en", "zh"] = "en"

    def to_command(self) -> PreviewSchedule:
        """The command; raises InvalidSchedule when schedule_type and schedule_spec disagree."""
        _ensure_type(self.schedule_type, self.schedule_spec)
        return PreviewSchedule(
            schedule=ScheduleRequest(
                spec=self.schedule_spec,
                timezone=self.timezone,
                starts_at=self.starts_at,
                ends_at=self.ends_at,
                max_runs=self.max_runs,
            ),
            count=self.count,
            after=self.after,
            jitter_seconds=self.jitter_seconds or 0,
            language=self.language,
        )


class PauseTaskRequest(Wire):
    """Why a task is paused, for those who find it so, and when the pause ends by itself.

    Without `until` it ends when the task is resumed.
    """

    reason: Reason | None = None
    until: Instant | None = None

    def to_command(
        self, user_id: str, task_id: str, expected: frozenset[int] | None = None
    ) -> PauseTask:
        """The command, for a task that is at one of the `expected` revisions."""
        return PauseTask(user_id, task_id, self.reason, expected, until=self.until)


class EmptyRequest(Wire):
    """A request that needs nothing said."""


def _action(action: AgentAction | ShellAction | None, prompt: str | None) -> Action | None:
    if action is not None and prompt is not None:
        raise InvalidRequest("Send either an action or a prompt.", field="prompt")
    if prompt is not None:
        return Action(ActionKind.AGENT, prompt)
    if isinstance(action, AgentAction):
        return Action(ActionKind.AGENT, action.prompt)
    if isinstance(action, ShellAction):
        return Action(ActionKind.SHELL, action.command)
    return None


def _ensure_type(schedule_type: ScheduleType | None, spec: Mapping[str, Any]) -> None:
    """Refuse a type that is not its selector's; which selectors there are is the domain's."""
    named = {_TYPES[name] for name in spec if name in _TYPES}
    if schedule_type is not None and schedule_type not in named:
        raise InvalidSchedule(
            "schedule_type goes with a schedule_spec of its kind.", field="schedule_type"
        )
