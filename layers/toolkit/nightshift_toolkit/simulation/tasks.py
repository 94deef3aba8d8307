"""Tasks to simulate: create bodies of a file, or tasks as the API lists them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from api.requests import CreateTaskRequest
from api.wire import validated
from nightshift.domain.commands import CreateTask
from nightshift.domain.errors import InvalidRequest, NightshiftError
from nightshift.domain.model.enums import TaskStatus
from nightshift_toolkit.yaml_text import TextLoader

USER: Final = "simulated"
_PLACEHOLDER: Final = {"kind": "agent", "prompt": "simulated"}


@dataclass(frozen=True, slots=True)
class Wish:
    """A task to simulate, or the reason why it is not."""

    title: str
    task_id: str | None
    command: CreateTask | None
    refusal: str | None = None


def read_tasks(text: str) -> Sequence[Mapping[str, Any]]:
    """The tasks of a JSON or YAML text: a list of them, or an object with `items`.

    Raises:
        InvalidRequest: it is something else.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = _yaml(text)
    rows = content.get("items") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidRequest("The tasks must be a list of objects, or an object with items.")
    return rows


def _yaml(text: str) -> Any:
    try:
        return yaml.load(text, TextLoader)  # noqa: S506 - a safe loader without timestamps
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:
        # The loader lets through what Python says of a wrong number or key.
        raise InvalidRequest("The tasks are neither JSON nor YAML.") from error


def wishes_of(rows: Iterable[Mapping[str, Any]]) -> Sequence[Wish]:
    """What each task asks for; one that the clock would not start says why.

    Tasks as the API shows them keep their id, and with it their jitter, but for an automatic one,
    whose place is chosen among the tasks simulated; runs they had count towards `max_runs`.
    """
    return [_wish(row, number) for number, row in enumerate(rows, start=1)]


def _wish(row: Mapping[str, Any], number: int) -> Wish:
    title = str(row.get("title") or f"task {number}")
    task_id = row.get("id")
    known = task_id if isinstance(task_id, str) else None
    status = row.get("status", TaskStatus.ENABLED.value)
    if row.get("blocked_reason"):
        return Wish(title, known, None, f"is blocked: {row['blocked_reason']}")
    if status != TaskStatus.ENABLED.value:
        return Wish(title, known, None, f"is {status}")
    try:
        return Wish(title, known, _command({**row, "title": title}))
    except NightshiftError as refused:
        return Wish(title, known, None, _said(refused))


def _command(row: Mapping[str, Any]) -> CreateTask:
    fields = {
        name: row[name] for name in CreateTaskRequest.model_fields if row.get(name) is not None
    }
    if not isinstance(row.get("prompt"), str) and not _has_text(row.get("action")):
        fields["action"] = _PLACEHOLDER
    most, count = row.get("max_runs"), row.get("run_count", 0)
    if "id" in row and isinstance(most, int) and isinstance(count, int):
        left = most - count
        if left < 1:
            raise InvalidRequest("max_runs is reached")
        fields["max_runs"] = left
    elif "id" not in row:
        unknown = sorted(map(str, row.keys() - CreateTaskRequest.model_fields.keys()))
        fields |= dict.fromkeys(unknown)
    return validated(CreateTaskRequest, fields).to_command(USER)


def _has_text(action: object) -> bool:
    """Lists of the API show the kind of an action alone."""
    return isinstance(action, Mapping) and bool({"prompt", "command"} & action.keys())


def _said(refused: NightshiftError) -> str:
    problems = getattr(refused, "problems", ())
    if problems:
        return "; ".join(f"{problem.field} {problem.message}" for problem in problems)
    return f"{refused.field}: {refused.message}" if refused.field else refused.message
