"""What an edit sends: the fields that change, those that are emptied, and a schedule made whole."""

from collections.abc import Iterable
from typing import Any, Final

import click

from nightshift_toolkit.client import ApiError, Client

_FIELDS: Final = {
    "retry": "retry",
    "notify": "notify",
    "max-lateness": "max_lateness_seconds",
    "jitter": "jitter_seconds",
    "starts-at": "starts_at",
    "ends-at": "ends_at",
    "max-runs": "max_runs",
    "pause-after-failures": "pause_after_failures",
    "assistant": "assistant_id",
    "timeout": "timeout_seconds",
    "labels": "labels",
}
_EXCLUDE: Final = "exclude"
CLEARABLE: Final = tuple(sorted([*_FIELDS, _EXCLUDE]))
"""What can be emptied, by the name of its option."""


def cleared(fields: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields with those emptied that are named; a value beside that is refused."""
    changes = dict(fields)
    for name in names:
        spec = fields.get("schedule_spec", {})
        if name == _EXCLUDE and spec.keys() <= {"cron"}:
            changes["schedule_spec"] = spec | {_EXCLUDE: None}
        elif name != _EXCLUDE and _FIELDS[name] not in fields:
            changes[_FIELDS[name]] = None
        else:
            raise click.UsageError(f"--clear {name} goes without a value for the same.")
    return changes


def whole_schedule(
    client: Client, task_id: str, changes: dict[str, Any]
) -> tuple[dict[str, Any], int | None]:
    """The changes with the cron expressions and the exclusions that stay put beside the new ones.

    The API replaces a schedule as a whole. The revision is that of the task whose parts were taken,
    None where none were.
    """
    spec = changes.get("schedule_spec", {})
    if not spec.keys() & {"cron", _EXCLUDE} or {"cron", _EXCLUDE} <= spec.keys():
        return _without_empty(changes), None
    try:
        task = client.task(task_id)
    except ApiError as error:
        # An edit is what mends a task that cannot be read, if it brings all that is needed.
        if error.code == "corrupt_task" and "cron" in spec:
            return changes, None
        raise
    old = {name: task["schedule_spec"].get(name) for name in ("cron", _EXCLUDE)}
    if old["cron"] is None and "cron" not in spec:
        raise click.UsageError("Only a task with a cron schedule leaves something out.")
    whole = changes | {"schedule_spec": old | spec}
    return _without_empty(whole), task["revision"]


def _without_empty(changes: dict[str, Any]) -> dict[str, Any]:
    if "schedule_spec" not in changes:
        return changes
    spec = {name: value for name, value in changes["schedule_spec"].items() if value is not None}
    return changes | {"schedule_spec": spec}
