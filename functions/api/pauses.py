"""The routes that pause and resume tasks, one or all of the caller's."""

from dataclasses import replace
from http import HTTPStatus
from typing import Final

from api.answer import Answer, task_answer
from api.cursors import Cursors
from api.request import Request
from api.requests import EmptyRequest, PauseTaskRequest
from api.wire import Instant, Reason, Wire
from nightshift.composition.api import ApiServices
from nightshift.domain.commands import PauseTasks, ResumeTask, ResumeTasks
from nightshift.domain.exchanged import Event
from nightshift.domain.services.pausing import ChangedTasks

CANCEL: Final = "cancel_active"
PAUSE_ALL: Final = "/api/scheduled-tasks/pause"
RESUME_ALL: Final = "/api/scheduled-tasks/resume"


class PauseTasksRequest(Wire):
    """Why all tasks are paused, and when the pause ends by itself.

    `cursor` is the `next_cursor` of the answer before; it is null at the start.
    """

    reason: Reason | None = None
    until: Instant | None = None
    cursor: str | None = None


class ResumeTasksRequest(Wire):
    """All paused tasks go on; `cursor` is the `next_cursor` of the answer before."""

    cursor: str | None = None


class RefusedTaskResponse(Wire):
    """A task that was left as it is, and the code that asking for it alone would answer."""

    task_id: str
    code: str


class ChangedTasksResponse(Wire):
    """What became of the next tasks, at most 100, by id.

    `unchanged` are those that needed no change. While `next_cursor` is not null there are more.
    """

    changed: list[str]
    unchanged: list[str]
    refused: list[RefusedTaskResponse]
    next_cursor: str | None


def pause_task(services: ApiServices, request: Request) -> Answer:
    """Take a task out of the clock's reach (P3)."""
    user_id, task_id = request.user_id, request.task_id
    command = request.optional_body(PauseTaskRequest).to_command(user_id, task_id, request.expected)
    command = replace(command, cancel_active=request.query.flag(CANCEL))
    return task_answer(services.pausing.pause_task(command, request.now), request)


def resume_task(services: ApiServices, request: Request) -> Answer:
    """Put a paused or blocked task back (P3, P20)."""
    command = ResumeTask(request.user_id, request.task_id, request.expected)
    request.optional_body(EmptyRequest)
    return task_answer(services.pausing.resume_task(command, request.now), request)


def pause_tasks(services: ApiServices, request: Request) -> Answer:
    """Take the caller's tasks out of the clock's reach, at most 100 a request (P3).

    A task that is paused for longer stays so, one that is finished stays as it is.
    """
    body = request.optional_body(PauseTasksRequest)
    cursors = Cursors(request.user_id, PAUSE_ALL)
    command = PauseTasks(
        user_id=request.user_id,
        reason=body.reason,
        until=body.until,
        after=None if body.cursor is None else cursors.position(body.cursor),
    )
    return _changed(services, cursors, services.pausing.pause_tasks(command, request.now))


def resume_tasks(services: ApiServices, request: Request) -> Answer:
    """Put the caller's paused tasks back, at most 100 a request (P3)."""
    body = request.optional_body(ResumeTasksRequest)
    cursors = Cursors(request.user_id, RESUME_ALL)
    after = None if body.cursor is None else cursors.position(body.cursor)
    command = ResumeTasks(user_id=request.user_id, after=after)
    return _changed(services, cursors, services.pausing.resume_tasks(command, request.now))


def _changed(services: ApiServices, cursors: Cursors, done: ChangedTasks) -> Answer:
    if done.corrupt:
        named = ", ".join(done.corrupt[:10])
        services.observe(Event("corrupt_rows", {"rows": len(done.corrupt), "ids": named}))
    refused = [RefusedTaskResponse(task_id=one.task_id, code=one.code) for one in done.refused]
    body = ChangedTasksResponse(
        changed=list(done.changed),
        unchanged=list(done.unchanged),
        refused=refused,
        next_cursor=done.next and cursors.after(done.next),
    )
    return Answer(HTTPStatus.OK, body)
