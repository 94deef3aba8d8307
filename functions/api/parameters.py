"""The parameters of paths and queries as the OpenAPI document describes them."""

from collections.abc import Iterable
from typing import Any, Final

from api.cursors import MAX_CHARACTERS
from api.query import DEFAULT_LIMIT, MAX_LIMIT
from nightshift.domain.model.enums import RunStatus, TaskStatus
from nightshift.domain.model.instants import MAX_TEXT

_ID: Final = "^[A-Za-z0-9_-]{1,80}$"


def _in_path(name: str, description: str, pattern: str, example: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": {"type": "string", "pattern": pattern},
        "example": example,
    }


def _in_query(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _status(words: Iterable[str]) -> dict[str, Any]:
    return _in_query("status", "Only those in this state.", type="string", enum=list(words))


PATH_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "task_id": _in_path("task_id", "The task.", _ID, "tsk_01kjmma2g0f9x4q8w2c7r5t6yz"),
    "run_id": _in_path(
        "run_id", "The run.", _ID, "tsk_01kjmma2g0f9x4q8w2c7r5t6yz-20260302T140000000Z"
    ),
    "thread_id": _in_path("thread_id", "The thread.", "^[A-Za-z0-9_-]{1,64}$", "tickets"),
}

_LIMIT: Final = _in_query(
    "limit",
    "How many items a page may hold.",
    type="integer",
    minimum=1,
    maximum=MAX_LIMIT,
    default=DEFAULT_LIMIT,
)
_CURSOR: Final = _in_query(
    "cursor",
    "The `next_cursor` of the page before, with the same filters.",
    type="string",
    maxLength=MAX_CHARACTERS,
)
_LABEL: Final = _in_query(
    "label",
    "Only those with this label, `KEY=VALUE`; may be sent several times, each key once.",
    type="array",
    items={"type": "string", "pattern": "^[^=]*=.*$"},
    maxItems=10,
)
_THREAD: Final = _in_query("thread", "Only those that are bound to this thread.", type="string")
_CANCEL: Final = {
    "cancel_active": _in_query(
        "cancel_active",
        "Whether the active run of the task is cancelled together with this; else it goes on.",
        type="boolean",
        default=False,
    )
}
_AT: Final = _in_query(
    "at",
    "The time to explain, RFC 3339 with an offset, or local in the task's zone; left out, now.",
    type="string",
    maxLength=MAX_TEXT,
)
_PAGED: Final = {"limit": _LIMIT, "cursor": _CURSOR}

QUERY_PARAMETERS: Final[dict[tuple[str, str], dict[str, Any]]] = {
    (operation, name): parameter
    for operation, parameters in {
        "list_tasks": {
            **_PAGED,
            "status": _status(TaskStatus),
            "label": _LABEL,
            "thread": _THREAD,
        },
        "list_runs": {**_PAGED, "status": _status(RunStatus)},
        "list_changes": _PAGED,
        "list_policy_changes": _PAGED,
        "explain_task": {"at": _AT},
        "edit_task": _CANCEL,
        "delete_task": _CANCEL,
        "pause_task": _CANCEL,
        "list_tasks_of_thread": _PAGED,
    }.items()
    for name, parameter in parameters.items()
}
"""By the name of the function in `routes.py` and that of the parameter."""
