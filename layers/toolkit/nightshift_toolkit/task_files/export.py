"""The way back: tasks that exist, as a file that would make them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from nightshift_toolkit.resources import Task
from nightshift_toolkit.task_files.document import NAME_LABEL
from nightshift_toolkit.task_files.entries import DEFINED

_DEFAULTS: Final[dict[str, Any]] = {
    "timezone": "UTC",
    "context_mode": "fresh_thread",
    "overlap_policy": "skip",
    "priority": 5,
    "jitter": "hash",
    "jitter_seconds": 0,
}


def exported(tasks: Iterable[Task], owner: tuple[str, str]) -> str:
    """A file with these tasks, whose label is `owner`; what is as by default is left out.

    A task keeps the name it has in a file; another is named after its id.
    """
    named: dict[str, dict[str, Any]] = {}
    for task in tasks:
        name = task["labels"].get(NAME_LABEL, task["id"])
        named[task["id"] if name in named else name] = _fields(task, name, owner)
    return file_text(named, owner)


def file_text(tasks: Mapping[str, Mapping[str, Any]], owner: tuple[str, str]) -> str:
    """A file with these tasks, by their names, in their order."""
    document = {"label": "=".join(owner), "tasks": {name: dict(of) for name, of in tasks.items()}}
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, indent=2
    )


_WIDTH: Final = 100


def _fields(task: Task, name: str, owner: tuple[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {field: task[field] for field in sorted(DEFINED)}  # type: ignore[literal-required]
    action = values.pop("action")
    own = {"prompt": action["prompt"]} if "prompt" in action else {"command": action["command"]}
    labels = dict(values.pop("labels"))
    for key in (owner[0], NAME_LABEL):
        labels.pop(key, None)
    kept = {
        field: value
        for field, value in values.items()
        if value is not None and value != _DEFAULTS.get(field) and (field, value) != ("title", name)
    }
    return kept | own | ({"labels": labels} if labels else {})


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as people do."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
