"""What a route answers, before it becomes HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from api.conditional import etag
from api.request import Request
from api.responses import TaskResponse
from api.wire import Wire
from nightshift.domain.services.owned import TaskView


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers; no body is no content, a text is sent as it is."""

    status: HTTPStatus
    body: Wire | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


def task_answer(view: TaskView, request: Request) -> Answer:
    """A task with its revision as entity tag."""
    headers = {"ETag": etag(view.task.revision)}
    return Answer(HTTPStatus.OK, TaskResponse.from_domain(view, request.now), headers)
