"""What people and programs can ask for: one frozen command per verb, already well typed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, Protocol

from nightshift.domain.model.enums import ActionKind, ContextMode, Jitter, OverlapPolicy
from nightshift.domain.model.idempotency import IdempotencyKey
from nightshift.domain.model.notify import Notify
from nightshift.domain.model.retry import Retry


class Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
"""The value of a field that a partial change does not mention; None clears what can be empty."""


@dataclass(frozen=True, slots=True)
class Action:
    """A prompt or a command line, as text."""

    kind: ActionKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRequest:
    """A schedule as people write it; `spec` has exactly one selector of section 5."""

    spec: Mapping[str, Any]
    timezone: str = "UTC"
    starts_at: str | None = None
    ends_at: str | None = None
    max_runs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSchedule:
    """Say when a schedule would run if it were submitted at `after`, by default now."""

    schedule: ScheduleRequest
    count: int = 10
    after: str | None = None
    jitter_seconds: int = 0
    language: Literal["en", "zh"] = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTask:
    """Create a task (P1); sent again with the same `key`, it is the same task."""

    user_id: str
    title: str
    action: Action
    schedule: ScheduleRequest
    context_mode: ContextMode = ContextMode.FRESH_THREAD
    thread_id: str | None = None
    assistant_id: str | None = None
    overlap_policy: OverlapPolicy = OverlapPolicy.SKIP
    priority: int = 5
    timeout_seconds: int | None = None
    max_lateness_seconds: int | None = None
    jitter: Jitter = Jitter.HASH
    jitter_seconds: int = 0
    retry: Retry | None = None
    notify: Notify | None = None
    pause_after_failures: int | None = None
    include_previous_result: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    key: IdempotencyKey | None = None


class TaskCommand(Protocol):
    """A change of one task; with `expected` only while it is at one of these revisions.

    With `cancel_active` its active run is cancelled together with the change (P7).
    """

    @property
    def user_id(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def expected(self) -> frozenset[int] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EditTask:
    """Change some fields of a task; the others stay as they are (P2)."""

    user_id: str
    task_id: str
    expected: frozenset[int] | None = None
    cancel_active: bool = False
    title: str | Unset = UNSET
    action: Action | Unset = UNSET
    schedule: "ScheduleEdit | Unset" = UNSET
    context_mode: ContextMode | Unset = UNSET
    thread_id: str | None | Unset = UNSET
    assistant_id: str | None | Unset = UNSET
    overlap_policy: OverlapPolicy | Unset = UNSET
    priority: int | Unset = UNSET
    timeout_seconds: int | None | Unset = UNSET
    max_lateness_seconds: int | None | Unset = UNSET
    jitter: Jitter | Unset = UNSET
    jitter_seconds: int | None | Unset = UNSET
    retry: Retry | None | Unset = UNSET
    notify: Notify | None | Unset = UNSET
    pause_after_failures: int | None | Unset = UNSET
    include_previous_result: bool | Unset = UNSET
    labels: Mapping[str, str] | None | Unset = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEdit:
    """Change some parts of a schedule; a new zone alone re-reads the stored rule in it."""

    spec: Mapping[str, Any] | Unset = UNSET
    timezone: str | Unset = UNSET
    starts_at: str | None | Unset = UNSET
    ends_at: str | None | Unset = UNSET
    max_runs: int | None | Unset = UNSET


@dataclass(frozen=True, slots=True)
class PauseTask:
    """Take a task out of the clock's reach (P3), until a time if there is one."""

    user_id: str
    task_id: str
    reason: str | None = None
    expected: frozenset[int] | None = None
    cancel_active: bool = False
    until: str | None = None


@dataclass(frozen=True, slots=True)
class ResumeTask:
    """Put a paused or blocked task back (P3, P20)."""

    user_id: str
    task_id: str
    expected: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTasks:
    """Take all tasks of a user out of the clock's reach, some at a time (P3)."""

    user_id: str
    reason: str | None = None
    until: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTasks:
    """Put all paused tasks of a user back, some at a time (P3)."""

    user_id: str
    after: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteTask:
    """Delete a task in any state (P5)."""

    user_id: str
    task_id: str
    expected: frozenset[int] | None = None
    cancel_active: bool = False


@dataclass(frozen=True, slots=True)
class TriggerTask:
    """Run a task now, whatever its schedule says (P4); the same `key` is the same run."""

    user_id: str
    task_id: str
    key: IdempotencyKey | None = None


@dataclass(frozen=True, slots=True)
class ExplainTask:
    """Say which rule decides about a task now, or about one of its times.

    `at` is RFC 3339 with an offset, or local in the task's zone; None is now.
    """

    user_id: str
    task_id: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop an active run (P7)."""

    user_id: str
    task_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class PauseRun:
    """Have a run at work stand still."""

    user_id: str
    task_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class ResumeRun:
    """Have a paused run go on."""

    user_id: str
    task_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class RegisterThread:
    """Make a thread exist that belongs to this user."""

    user_id: str
    thread_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePolicy:
    """Change limits without a deploy; a setting of None goes back to its deployed value."""

    changed_by: str
    settings: Mapping[str, int | None]
    reason: str | None = None
