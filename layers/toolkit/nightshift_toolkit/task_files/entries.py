"""From what a file says of a task to the body that the API takes, checked by the API's rules."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from api.errors import InvalidFields
from api.requests import CreateTaskRequest
from api.responses import TaskResponse
from api.wire import validated
from nightshift.domain.errors import InvalidRequest, NightshiftError
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.task import State, Task
from nightshift.domain.services.admission import ensure_allowed
from nightshift.domain.services.definition import new_definition, new_payload
from nightshift.domain.services.owned import TaskView
from nightshift_toolkit.phrases import NotUnderstoodError, understand
from nightshift_toolkit.schedules import sentence_of
from nightshift_toolkit.task_files.document import (
    NAME_LABEL,
    Document,
    Entry,
    Fault,
    FaultyFileError,
)

OWN_FIELDS: Final = ("when", "prompt_file", "command")
"""What a file may say beside the fields of the API."""
DEFINED: Final = (
    frozenset(CreateTaskRequest.model_fields) & frozenset(TaskResponse.model_fields)
) - {"schedule_type"}
"""What a file decides of a task; what dispatch and completion own is left alone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task as a file wants it: the create body, and the fields as the API would show them."""

    name: str
    line: int
    body: Mapping[str, Any]
    shown: Mapping[str, Any]
    draft: Task
    policy: Policy

    def ensure_can_be_submitted(self, now: datetime) -> None:
        """Refuse a schedule that could not be submitted now, as the API would.

        Raises:
            FaultyFileError: naming the task's line.
        """
        try:
            self.draft.armed(now, self.policy)
        except NightshiftError as refused:
            raise FaultyFileError([Fault(self.line, f"{self.name}: {_said(refused)}")]) from refused


def wanted_tasks(
    document: Document, *, policy: Mapping[str, Any], folder: Path, now: datetime
) -> list[Wanted]:
    """The tasks of a document, each of which the API would take.

    Args:
        document: the file.
        policy: the limits in force, as `GET /api/policy` shows them.
        folder: where the files of prompts are looked for.
        now: what schedules are read at.

    Raises:
        FaultyFileError: with every task that is wrong.
    """
    known = {entry.name for entry in fields(Policy)}
    limits = Policy(**{name: value for name, value in policy.items() if name in known})
    wanted, faults = [], []
    for entry in document.entries:
        try:
            body = _body(entry, document.owner, folder, now)
            wanted.append(_wanted(entry, body, limits, now))
        except InvalidFields as refused:
            for wrong in refused.problems:
                said = f"{entry.name}: {wrong.field} {wrong.message}"
                faults.append(Fault(_line(entry, wrong.field), said))
        except (NightshiftError, NotUnderstoodError) as refused:
            field = getattr(refused, "field", "schedule_spec")
            faults.append(Fault(_line(entry, field), f"{entry.name}: {_said(refused)}"))
    if faults:
        raise FaultyFileError(faults)
    return wanted


def _line(entry: Entry, field: str | None) -> int:
    """The line of the field that is wrong, or of the one that stands for it."""
    named = (field or "").partition(".")[0]
    stand_ins = {
        "schedule_spec": ("schedule_spec", "when"),
        "timezone": ("timezone", "when"),
        "action": ("action", "prompt", "prompt_file", "command"),
    }
    for name in stand_ins.get(named, (named,)):
        if name in entry.lines:
            return entry.lines[name]
    return entry.line


def _said(refused: Exception) -> str:
    return sentence_of(refused) if isinstance(refused, NightshiftError) else str(refused)


def _body(entry: Entry, owner: tuple[str, str], folder: Path, now: datetime) -> dict[str, Any]:
    said = dict(entry.fields)
    own = {name: said.pop(name) for name in OWN_FIELDS if name in said}
    labels = said.pop("labels", None) or {}
    if not isinstance(labels, Mapping):
        raise InvalidRequest("must be names with values.", field="labels")
    key, value = owner
    if labels.keys() & {key, NAME_LABEL}:
        raise InvalidRequest(f"{key} and {NAME_LABEL} are set by the file.", field="labels")
    body = {"title": entry.name} | said
    body["labels"] = dict(labels) | {key: value, NAME_LABEL: entry.name}
    if "when" in own:
        body |= _schedule(own["when"], said, now)
    if "after_seconds" in (body.get("schedule_spec") or {}):
        raise InvalidRequest("A file needs a time, not a distance from now.", field="schedule_spec")
    if "prompt_file" in own:
        if "prompt" in body:
            raise InvalidRequest("A task has a prompt or a prompt_file.", field="prompt")
        body["prompt"] = _text_of(own["prompt_file"], folder)
    if "command" in own:
        body["action"] = {"kind": "shell", "command": own["command"]}
    return body


def _schedule(phrase: Any, said: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    zone = said.get("timezone")
    if not isinstance(phrase, str) or "schedule_spec" in said:
        raise InvalidRequest(
            "when is a phrase, and goes without schedule_spec.", field="schedule_spec"
        )
    read = understand(phrase, today=now, zone=zone if isinstance(zone, str) else None)
    if read.spec.keys() & {"once", "after_seconds"} and "-" not in phrase:
        raise InvalidRequest(
            "A file is read again and again: name the day, not its distance.", field="schedule_spec"
        )
    if read.zone is not None and zone not in (None, read.zone):
        raise InvalidRequest(f"when names {read.zone}, timezone another.", field="timezone")
    return {"schedule_spec": read.spec} | ({"timezone": read.zone} if read.zone else {})


def _text_of(name: Any, folder: Path) -> str:
    try:
        return (folder / str(name)).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"The file {name} cannot be read.", field="prompt_file") from error


def _wanted(entry: Entry, body: dict[str, Any], policy: Policy, now: datetime) -> Wanted:
    command = validated(CreateTaskRequest, body).to_command("file")
    task = Task(
        id="tsk_file",
        user_id="file",
        definition=new_definition(command, policy, now),
        state=State(),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    ensure_allowed(task, policy)
    view = TaskView(task, new_payload(task, command.action), dispatching=False)
    answer = TaskResponse.from_domain(view, now).model_dump()
    shown = {name: answer[name] for name in DEFINED}
    if "anchor" not in body["schedule_spec"]:
        shown["schedule_spec"] = {
            name: value for name, value in shown["schedule_spec"].items() if name != "anchor"
        }
    return Wanted(entry.name, entry.line, body, shown, task, policy)
