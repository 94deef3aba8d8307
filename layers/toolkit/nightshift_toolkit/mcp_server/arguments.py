"""What each tool takes: the API's own fields and limits, and nothing else."""

from typing import Annotated, Any, Final

from pydantic import Field, create_model

from api.conditional import MAX_KEY_CHARACTERS
from api.requests import CreateTaskRequest, EditTaskRequest, PreviewScheduleRequest
from api.wire import ScheduleSpec, ThreadId, Wire
from nightshift.domain.model.enums import RunStatus, TaskStatus

MAX_LISTED: Final = 100
DEFAULT_LISTED: Final = 20
_LONGEST_PHRASE: Final = 200

Phrase = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST_PHRASE,
        description="When, in English, instead of schedule_spec: 'every weekday at 9 in New York',"
        " 'every 15 minutes', 'tomorrow at 9', 'in 20 minutes'. What is not understood whole is"
        " refused.",
    ),
]
# Ids are not looked at here: one that cannot be is simply that of no task (P8).
TaskId = Annotated[str, Field(min_length=1, max_length=128, description="As schedule_list shows.")]
Limit = Annotated[int, Field(ge=1, le=MAX_LISTED)]
IdempotencyKey = Annotated[
    str,
    Field(
        pattern=f"^[!-~]{{1,{MAX_KEY_CHARACTERS}}}$",
        description="The same key with the same fields never makes a second task, for 24 hours.",
    ),
]
Paused = Annotated[
    bool, Field(description="True keeps the clock from starting it, false lets it; goes alone.")
]
Revision = Annotated[
    int, Field(ge=1, description="Change it only if it is still at this revision.")
]

ScheduleCreate = create_model(
    "ScheduleCreate",
    __base__=CreateTaskRequest,
    when=(Phrase | None, None),
    schedule_spec=(ScheduleSpec | None, None),
    timezone=(str | None, None),
    idempotency_key=(IdempotencyKey | None, None),
)
ScheduleUpdate = create_model(
    "ScheduleUpdate",
    __base__=EditTaskRequest,
    task_id=(TaskId, ...),
    when=(Phrase | None, None),
    paused=(Paused | None, None),
    revision=(Revision | None, None),
)
SchedulePreview = create_model(
    "SchedulePreview",
    __base__=PreviewScheduleRequest,
    when=(Phrase | None, None),
    schedule_spec=(ScheduleSpec | None, None),
    timezone=(str | None, None),
)


class ScheduleList(Wire):
    """Which tasks to tell of; `task_id` tells of that one alone, whole, with its prompt."""

    task_id: TaskId | None = None
    status: Annotated[TaskStatus, Field(strict=False)] | None = None
    label: Annotated[str, Field(max_length=321, description="As key=value.")] | None = None
    thread: ThreadId | None = None
    limit: Limit = DEFAULT_LISTED


class ScheduleDelete(Wire):
    """The task to delete, with its history; with `cancel_active` its run is stopped as well."""

    task_id: TaskId
    cancel_active: bool = False


class ScheduleHistory(Wire):
    """Whose runs to tell of, newest first; `run_id` tells of that one alone, with its output."""

    task_id: TaskId
    run_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    status: Annotated[RunStatus, Field(strict=False)] | None = None
    limit: Limit = DEFAULT_LISTED


def input_schema(model: type[Wire]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments: an object that takes no other field.

    Alternatives are told in words and refused by their sentence: several clients take no `oneOf` at
    the top of a tool's schema.
    """
    schema: dict[str, Any] = _untitled(model.model_json_schema())
    schema.pop("description", None)
    return schema


def _untitled(part: Any) -> Any:
    """The schema without the titles, which say nothing that the names do not."""
    if isinstance(part, list):
        return [_untitled(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _untitled(value)
        for name, value in part.items()
        # A field may be called title as well; what describes it is an object.
        if name != "title" or not isinstance(value, str)
    }
