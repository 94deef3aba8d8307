"""One function per route: request, command, service, response; and the table of all of them.

The document, explanations and previews are rarely asked for: their routes load what they need, so
that the cold start of every other request does without.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Final

from api.answer import Answer, task_answer
from api.changes import ChangePage, ChangeResponse
from api.conditional import etag
from api.identity import ADMIN, READ, WRITE
from api.limits import ChangePolicyRequest, OverrideResponse, PolicyChangePage, PolicyResponse
from api.listing import EveryChange, EveryOverride, Listing, RunFilter, TaskFilter
from api.pauses import (
    CANCEL,
    PAUSE_ALL,
    RESUME_ALL,
    pause_task,
    pause_tasks,
    resume_task,
    resume_tasks,
)
from api.request import Request
from api.requests import (
    CreateTaskRequest,
    EditTaskRequest,
    EmptyRequest,
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
from api.webhook_keys import get_webhook_key
from nightshift.composition.api import ApiServices
from nightshift.domain.commands import (
    CancelRun,
    DeleteTask,
    ExplainTask,
    PauseRun,
    RegisterThread,
    ResumeRun,
    TriggerTask,
)
from nightshift.domain.exchanged import Event
from nightshift.domain.model.run import Run
from nightshift.domain.services import limits

TASKS: Final = "/api/scheduled-tasks"
TASK: Final = f"{TASKS}/<task_id>"
RUNS: Final = f"{TASK}/runs"
RUN: Final = f"{RUNS}/<run_id>"
CHANGES: Final = f"{TASK}/changes"
POLICY: Final = "/api/policy"
THREAD: Final = "/api/threads/<thread_id>"


def create_task(services: ApiServices, request: Request) -> Answer:
    """Create a task (P1)."""
    command = request.body(CreateTaskRequest).to_command(request.user_id, request.key)
    view = services.management.create_task(command, request.now)
    headers = {"Location": f"{TASKS}/{view.task.id}", "ETag": etag(view.task.revision)}
    return Answer(HTTPStatus.CREATED, TaskResponse.from_domain(view, request.now), headers)


def list_tasks(services: ApiServices, request: Request) -> Answer:
    """The caller's tasks, oldest first, without their prompts."""
    return _tasks(services, request, TaskFilter.of(request.query), TASKS)


def list_tasks_of_thread(services: ApiServices, request: Request) -> Answer:
    """The caller's tasks that are bound to a thread of theirs."""
    thread = services.threads.get_thread(request.user_id, request.thread_id)
    return _tasks(services, request, TaskFilter(thread_id=thread.id), THREAD)


def get_task(services: ApiServices, request: Request) -> Answer:
    """One task, with its prompt or command."""
    return task_answer(services.management.get_task(request.user_id, request.task_id), request)


def edit_task(services: ApiServices, request: Request) -> Answer:
    """Change the fields that were sent, and only those (P2)."""
    user_id, task_id = request.user_id, request.task_id
    command = request.body(EditTaskRequest).to_command(user_id, task_id, request.expected)
    command = replace(command, cancel_active=request.query.flag(CANCEL))
    return task_answer(services.management.edit_task(command, request.now), request)


def delete_task(services: ApiServices, request: Request) -> Answer:
    """Delete a task in any state (P5)."""
    cancel = request.query.flag(CANCEL)
    command = DeleteTask(request.user_id, request.task_id, request.expected, cancel)
    services.management.delete_task(command, request.now)
    return Answer(HTTPStatus.NO_CONTENT)


def trigger_task(services: ApiServices, request: Request) -> Answer:
    """Run a task now (P4)."""
    request.optional_body(EmptyRequest)
    command = TriggerTask(request.user_id, request.task_id, request.key)
    run = services.dispatch.trigger_task(command, request.now)
    services.observe(Event("run_triggered", {"task_id": run.task_id, "run_id": run.id}))
    return Answer(HTTPStatus.OK, TriggerResponse(run_id=run.id, run=_run(services, run)))


def list_runs(services: ApiServices, request: Request) -> Answer:
    """The history of a task, newest first (P6)."""
    listing = Listing(request.user_id, f"{RUNS} {request.task_id}", request.query, services.observe)
    read = partial(services.management.list_runs, request.user_id, request.task_id)
    page = listing.page(read, RunFilter.of(request.query))
    items = [_run(services, run) for run in page.items]
    return Answer(HTTPStatus.OK, RunPage(items=items, next_cursor=page.next))


def get_run(services: ApiServices, request: Request) -> Answer:
    """One run of a task."""
    run = services.management.get_run(request.user_id, request.task_id, request.run_id)
    return Answer(HTTPStatus.OK, _run(services, run))


def cancel_run(services: ApiServices, request: Request) -> Answer:
    """Ask for an active run to be stopped (P7)."""
    command = CancelRun(request.user_id, request.task_id, request.run_id)
    request.optional_body(EmptyRequest)
    run = services.lifecycle.cancel_run(command)
    return Answer(HTTPStatus.ACCEPTED, _run(services, run))


def pause_run(services: ApiServices, request: Request) -> Answer:
    """Ask for a run at work to stand still."""
    command = PauseRun(request.user_id, request.task_id, request.run_id)
    request.optional_body(EmptyRequest)
    return Answer(HTTPStatus.ACCEPTED, _run(services, services.lifecycle.pause_run(command)))


def resume_run(services: ApiServices, request: Request) -> Answer:
    """Ask for a paused run to go on."""
    command = ResumeRun(request.user_id, request.task_id, request.run_id)
    request.optional_body(EmptyRequest)
    return Answer(HTTPStatus.ACCEPTED, _run(services, services.lifecycle.resume_run(command)))


def explain_task(services: ApiServices, request: Request) -> Answer:
    """Why the task runs now or does not, or what is known of one of its times; writes nothing."""
    from api.explanations import ExplanationResponse  # noqa: PLC0415

    command = ExplainTask(request.user_id, request.task_id, request.query.one("at"))
    explanation = services.explaining.explain_task(command, request.now)
    return Answer(HTTPStatus.OK, ExplanationResponse.from_domain(explanation))


def list_changes(services: ApiServices, request: Request) -> Answer:
    """What was done to a task, by whom and when, newest first."""
    route = f"{CHANGES} {request.task_id}"
    listing = Listing(request.user_id, route, request.query, services.observe)
    read = partial(services.management.list_changes, request.user_id, request.task_id)
    page = listing.page(read, EveryChange())
    items = [ChangeResponse.from_domain(change) for change in page.items]
    return Answer(HTTPStatus.OK, ChangePage(items=items, next_cursor=page.next))


def register_thread(services: ApiServices, request: Request) -> Answer:
    """Make a thread exist that is the caller's; doing it again changes nothing."""
    command = RegisterThread(request.user_id, request.new_thread_id)
    request.optional_body(EmptyRequest)
    thread = services.threads.register_thread(command, request.now)
    return Answer(HTTPStatus.OK, ThreadResponse.from_domain(thread))


def get_thread(services: ApiServices, request: Request) -> Answer:
    """One thread of the caller's."""
    thread = services.threads.get_thread(request.user_id, request.thread_id)
    return Answer(HTTPStatus.OK, ThreadResponse.from_domain(thread))


def preview_schedule(services: ApiServices, request: Request) -> Answer:
    """Say when a schedule would run; writes nothing, so that reading is enough."""
    from api.preview_responses import SchedulePreviewResponse  # noqa: PLC0415
    from nightshift.domain.services import previews  # noqa: PLC0415

    command = request.body(PreviewScheduleRequest).to_command()
    preview = previews.preview_schedule(command, services.policies.current(), request.now)
    return Answer(HTTPStatus.OK, SchedulePreviewResponse.from_domain(preview))


def get_policy(services: ApiServices, request: Request) -> Answer:
    """The limits in force, and what an operator changed of the deployed ones, when and why."""
    in_force = services.policies.in_force()
    return Answer(HTTPStatus.OK, PolicyResponse.from_domain(in_force, request.throttle))


def list_policy_changes(services: ApiServices, request: Request) -> Answer:
    """Who changed the limits without a deploy, when, why and to what, newest first."""
    listing = Listing(request.user_id, f"{POLICY}/changes", request.query, services.observe)
    page = listing.page(services.policies.changes, EveryOverride())
    items = [OverrideResponse.from_domain(override) for override in page.items]
    return Answer(HTTPStatus.OK, PolicyChangePage(items=items, next_cursor=page.next))


def change_policy(services: ApiServices, request: Request) -> Answer:
    """Change limits for everybody without a deploy; 0 runs at once starts nothing (P14)."""
    command = request.body(ChangePolicyRequest).to_command(request.user_id)
    in_force = limits.change_policy(services.policies, command, request.now)
    services.observe(Event("policy_changed", {"user_id": request.user_id}))
    return Answer(HTTPStatus.OK, PolicyResponse.from_domain(in_force, request.throttle))


def get_health(_services: ApiServices, _request: Request) -> Answer:
    """The function answers; it asks nobody else."""
    return Answer(HTTPStatus.OK, HealthResponse())


def get_openapi(_services: ApiServices, _request: Request) -> Answer:
    """The OpenAPI 3.1 document of this API."""
    from api.openapi import document  # noqa: PLC0415

    return Answer(HTTPStatus.OK, json.dumps(document(ROUTES), ensure_ascii=False))


def get_docs(_services: ApiServices, _request: Request) -> Answer:
    """This API as a page to read, which needs nothing from elsewhere."""
    from api import docs_page  # noqa: PLC0415
    from api.openapi import document  # noqa: PLC0415

    page = docs_page.page(document(ROUTES))
    return Answer(HTTPStatus.OK, page, docs_page.HEADERS, "text/html; charset=utf-8")


@dataclass(frozen=True, slots=True)
class Route:
    """A method at a path: the scope it needs (None: no token), what it does, its parameters."""

    method: str
    rule: str
    scope: str | None
    run: Callable[[ApiServices, Request], Answer]
    parameters: tuple[str, ...] = ()


ROUTES: Final = (
    Route("GET", TASKS, READ, list_tasks, ("limit", "cursor", "status", "label", "thread")),
    Route("POST", TASKS, WRITE, create_task),
    Route("POST", PAUSE_ALL, WRITE, pause_tasks),
    Route("POST", RESUME_ALL, WRITE, resume_tasks),
    Route("GET", TASK, READ, get_task),
    Route("PATCH", TASK, WRITE, edit_task, (CANCEL,)),
    Route("DELETE", TASK, WRITE, delete_task, (CANCEL,)),
    Route("POST", f"{TASK}/pause", WRITE, pause_task, (CANCEL,)),
    Route("POST", f"{TASK}/resume", WRITE, resume_task),
    Route("POST", f"{TASK}/trigger", WRITE, trigger_task),
    Route("GET", RUNS, READ, list_runs, ("limit", "cursor", "status")),
    Route("GET", RUN, READ, get_run),
    Route("POST", f"{RUN}/cancel", WRITE, cancel_run),
    Route("POST", f"{RUN}/pause", WRITE, pause_run),
    Route("POST", f"{RUN}/resume", WRITE, resume_run),
    Route("GET", f"{TASK}/explanation", READ, explain_task, ("at",)),
    Route("GET", CHANGES, READ, list_changes, ("limit", "cursor")),
    Route("PUT", THREAD, WRITE, register_thread),
    Route("GET", THREAD, READ, get_thread),
    Route("GET", f"{THREAD}/scheduled-tasks", READ, list_tasks_of_thread, ("limit", "cursor")),
    Route("POST", "/api/schedule-previews", READ, preview_schedule),
    Route("GET", "/api/webhook-key", WRITE, get_webhook_key),
    Route("GET", POLICY, READ, get_policy),
    Route("PATCH", POLICY, ADMIN, change_policy),
    Route("GET", f"{POLICY}/changes", READ, list_policy_changes, ("limit", "cursor")),
    Route("GET", "/api/health", None, get_health),
    Route("GET", "/api/openapi.json", None, get_openapi),
    Route("GET", "/api/docs", None, get_docs),
)


def _run(services: ApiServices, run: Run) -> RunResponse:
    return RunResponse.from_domain(run, services.launcher.execution_arn(run.id))


def _tasks(services: ApiServices, request: Request, chosen: TaskFilter, route: str) -> Answer:
    listing = Listing(request.user_id, route, request.query, services.observe)
    page = listing.page(partial(services.management.list_tasks, request.user_id), chosen)
    items = [TaskResponse.from_domain(view, request.now) for view in page.items]
    return Answer(HTTPStatus.OK, TaskPage(items=items, next_cursor=page.next))
