"""What each route takes, answers and refuses, for the OpenAPI document; a test holds it to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from api.changes import ChangePage
from api.errors import Forbidden, UnknownPath, UnsupportedMediaType
from api.explanations import ExplanationResponse
from api.limits import ChangePolicyRequest, PolicyChangePage, PolicyResponse
from api.pauses import ChangedTasksResponse, PauseTasksRequest, ResumeTasksRequest
from api.preview_responses import SchedulePreviewResponse
from api.requests import (
    CreateTaskRequest,
    EditTaskRequest,
    EmptyRequest,
    PauseTaskRequest,
    PreviewScheduleRequest,
)
from api.responses import (
    HealthResponse,
    RunPage,
    RunResponse,
    TaskPage,
    TaskResponse,
    ThreadResponse,
    TriggerResponse,
)
from api.webhook_keys import WebhookKeyResponse
from api.wire import Wire
from nightshift.domain.errors import (
    ActiveRun,
    BudgetFull,
    ConcurrentUpdate,
    CorruptRecord,
    IdempotencyMismatch,
    InvalidCursor,
    InvalidRequest,
    InvalidSchedule,
    InvalidTimeZone,
    LaunchFailed,
    NeverFires,
    NightshiftError,
    NotInFuture,
    PayloadTooLarge,
    PersistenceUncertain,
    PreconditionFailed,
    QuotaExceeded,
    RunNotFound,
    RunNotPausable,
    TaskNotFound,
    TaskNotMutable,
    ThreadBusy,
    ThreadNotFound,
    TimePassed,
    TooFrequent,
    Unauthenticated,
)

Refusals = tuple[type[NightshiftError], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One route: its body, its answer, its headers, and every error it has a code for."""

    summary: str
    takes: type[Wire] | None = None
    body_is_optional: bool = False
    gives: type[Wire] | None = None
    media_type: str = "application/json"
    status: HTTPStatus = HTTPStatus.OK
    refuses: Refusals = ()
    is_keyed: bool = False
    is_conditional: bool = False
    is_tagged: bool = False


EVERYWHERE: Final[Refusals] = (InvalidRequest, NightshiftError)
"""What any route may answer."""
SIGNED_IN: Final[Refusals] = (Unauthenticated, Forbidden)
"""What a route may answer that wants a token."""
NAMED: Final[Refusals] = (UnknownPath,)
"""What a route may answer whose path names a thing."""

_SCHEDULE: Final[Refusals] = (
    InvalidSchedule,
    InvalidTimeZone,
    NotInFuture,
    TooFrequent,
    NeverFires,
)
_BODY: Final[Refusals] = (UnsupportedMediaType, PayloadTooLarge)
_OF_TASK: Final[Refusals] = (TaskNotFound, CorruptRecord)
_OF_RUN: Final[Refusals] = (*_OF_TASK, RunNotFound)
_CHANGE: Final[Refusals] = (
    *_OF_TASK,
    *_BODY,
    TaskNotMutable,
    ConcurrentUpdate,
    PreconditionFailed,
    PersistenceUncertain,
)


def _wish(summary: str, *refusals: type[NightshiftError]) -> Contract:
    """Something that is asked of a run, and done a little later."""
    return Contract(
        summary=summary,
        takes=EmptyRequest,
        body_is_optional=True,
        gives=RunResponse,
        status=HTTPStatus.ACCEPTED,
        refuses=(*_OF_RUN, *_BODY, *refusals, PersistenceUncertain),
    )


CONTRACTS: Final[Mapping[str, Contract]] = {
    "list_tasks": Contract(summary="List my tasks", gives=TaskPage, refuses=(InvalidCursor,)),
    "create_task": Contract(
        summary="Create a task",
        takes=CreateTaskRequest,
        gives=TaskResponse,
        status=HTTPStatus.CREATED,
        refuses=(
            *_BODY,
            *_SCHEDULE,
            *_OF_TASK,
            ThreadNotFound,
            QuotaExceeded,
            IdempotencyMismatch,
            PersistenceUncertain,
        ),
        is_keyed=True,
        is_tagged=True,
    ),
    "get_task": Contract(
        summary="See a task", gives=TaskResponse, refuses=_OF_TASK, is_tagged=True
    ),
    "explain_task": Contract(
        summary="Explain why a task runs or does not",
        gives=ExplanationResponse,
        refuses=(*_OF_TASK, InvalidSchedule),
    ),
    "edit_task": Contract(
        summary="Change fields of a task",
        takes=EditTaskRequest,
        gives=TaskResponse,
        refuses=(*_CHANGE, *_SCHEDULE, ThreadNotFound, TimePassed),
        is_conditional=True,
        is_tagged=True,
    ),
    "delete_task": Contract(
        summary="Delete a task",
        status=HTTPStatus.NO_CONTENT,
        refuses=(*_OF_TASK, ConcurrentUpdate, PreconditionFailed, PersistenceUncertain),
        is_conditional=True,
    ),
    "pause_task": Contract(
        summary="Pause a task",
        takes=PauseTaskRequest,
        body_is_optional=True,
        gives=TaskResponse,
        refuses=(*_CHANGE, InvalidSchedule, NotInFuture, NeverFires),
        is_conditional=True,
        is_tagged=True,
    ),
    "pause_tasks": Contract(
        summary="Pause all my tasks",
        takes=PauseTasksRequest,
        body_is_optional=True,
        gives=ChangedTasksResponse,
        refuses=(*_BODY, InvalidSchedule, NotInFuture, InvalidCursor, PersistenceUncertain),
    ),
    "resume_tasks": Contract(
        summary="Resume all my paused tasks",
        takes=ResumeTasksRequest,
        body_is_optional=True,
        gives=ChangedTasksResponse,
        refuses=(*_BODY, InvalidCursor, PersistenceUncertain),
    ),
    "resume_task": Contract(
        summary="Resume a task",
        takes=EmptyRequest,
        body_is_optional=True,
        gives=TaskResponse,
        refuses=(*_CHANGE, TimePassed, TooFrequent),
        is_conditional=True,
        is_tagged=True,
    ),
    "trigger_task": Contract(
        summary="Run a task now",
        takes=EmptyRequest,
        body_is_optional=True,
        gives=TriggerResponse,
        refuses=(
            *_OF_RUN,
            *_BODY,
            ActiveRun,
            ThreadBusy,
            BudgetFull,
            ConcurrentUpdate,
            IdempotencyMismatch,
            LaunchFailed,
            PersistenceUncertain,
        ),
        is_keyed=True,
    ),
    "list_runs": Contract(
        summary="List the runs of a task", gives=RunPage, refuses=(*_OF_TASK, InvalidCursor)
    ),
    "get_run": Contract(summary="See a run", gives=RunResponse, refuses=_OF_RUN),
    "cancel_run": _wish("Cancel a run"),
    "pause_run": _wish("Pause a run at work", RunNotPausable),
    "resume_run": _wish("Let a paused run go on", RunNotPausable),
    "list_changes": Contract(
        summary="List who changed what of a task",
        gives=ChangePage,
        refuses=(*_OF_TASK, InvalidCursor),
    ),
    "register_thread": Contract(
        summary="Register a thread",
        takes=EmptyRequest,
        body_is_optional=True,
        gives=ThreadResponse,
        refuses=(*_BODY, PersistenceUncertain),
    ),
    "get_thread": Contract(summary="See a thread", gives=ThreadResponse, refuses=(ThreadNotFound,)),
    "list_tasks_of_thread": Contract(
        summary="List my tasks that are bound to a thread",
        gives=TaskPage,
        refuses=(ThreadNotFound, InvalidCursor),
    ),
    "preview_schedule": Contract(
        summary="See the next times of a schedule",
        takes=PreviewScheduleRequest,
        gives=SchedulePreviewResponse,
        refuses=(*_BODY, *_SCHEDULE),
    ),
    "get_webhook_key": Contract(
        summary="See the key that my webhooks' notices are signed with", gives=WebhookKeyResponse
    ),
    "get_policy": Contract(summary="See the limits in force", gives=PolicyResponse),
    "change_policy": Contract(
        summary="Change limits without a deploy",
        takes=ChangePolicyRequest,
        gives=PolicyResponse,
        refuses=(*_BODY, ConcurrentUpdate, PersistenceUncertain),
    ),
    "list_policy_changes": Contract(
        summary="List who changed the limits", gives=PolicyChangePage, refuses=(InvalidCursor,)
    ),
    "get_health": Contract(summary="See that the API answers", gives=HealthResponse),
    "get_openapi": Contract(summary="Get this document"),
    "get_docs": Contract(summary="Read this document", media_type="text/html"),
}
"""By the name of the function in `routes.py`, which is the operation's id as well."""
