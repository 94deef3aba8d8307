"""Other schedulers' rules as tasks of a file: crontab, and EventBridge Scheduler's exports."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.schedule_input import parse_schedule

_ASSIGNMENT: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_FIELDS: Final = 5
_AWS_FIELDS: Final = 6
_UNITS: Final = {"minute": 60, "hour": 3600, "day": 86_400}
_DAY_NUMBER: Final = re.compile(r"(?<![#/\d])([1-7])(?![\d])")


@dataclass(frozen=True, slots=True)
class Imported:
    """Tasks by their names in the file, and one sentence for everything that could not be taken."""

    tasks: Mapping[str, Mapping[str, Any]]
    left_out: Sequence[str]


def from_crontab(text: str, *, zone: str, now: datetime) -> Imported:
    """The lines of a user's crontab as shell tasks.

    `CRON_TZ` and `TZ` change the zone for the lines after them; other variables are told, since no
    task has an environment of its own. A `%` in a command, which cron reads as a line break, is
    told too.
    """
    tasks: dict[str, Mapping[str, Any]] = {}
    left_out: list[str] = []
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        if (set_to := _ASSIGNMENT.fullmatch(line)) is not None:
            if set_to[1] in ("CRON_TZ", "TZ"):
                zone = set_to[2].strip("\"'")
            else:
                left_out.append(f"line {number}: the variable {set_to[1]} is not taken over.")
            continue
        parts = line.split(maxsplit=1 if line.startswith("@") else _FIELDS)
        expression, command = " ".join(parts[:-1]), parts[-1]
        if "%" in command.replace(r"\%", ""):
            left_out.append(f"line {number}: % means a line break to cron; write it out.")
            continue
        fields = {
            "schedule_spec": {"cron": expression},
            "timezone": zone,
            "command": command.replace(r"\%", "%"),
        }
        _take(fields, f"line-{number}", f"line {number}", tasks, left_out, now)
    return Imported(tasks, left_out)


def from_eventbridge(text: str, *, now: datetime) -> Imported:
    """The schedules of EventBridge Scheduler, as `get-schedule` prints one or a list of several.

    A target's input becomes the prompt; whoever imports says what the agent is to do with it.
    Disabled schedules are told and left out.

    Raises:
        ValueError: the text is not JSON of schedules.
    """
    content = json.loads(text)
    rows = content.get("Schedules", [content]) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("a list of schedules")
    tasks: dict[str, Mapping[str, Any]] = {}
    left_out: list[str] = []
    for row in rows:
        name = str(row.get("Name") or f"schedule-{len(tasks) + 1}")
        if row.get("State", "ENABLED") != "ENABLED":
            left_out.append(f"{name}: it is disabled.")
            continue
        try:
            fields = _of_schedule(row)
        except ValueError as reason:
            left_out.append(f"{name}: {reason}.")
            continue
        _take(fields, name, name, tasks, left_out, now)
    return Imported(tasks, left_out)


def _take(
    fields: dict[str, Any],
    name: str,
    place: str,
    tasks: dict[str, Mapping[str, Any]],
    left_out: list[str],
    now: datetime,
) -> None:
    """Take a task whose schedule can be read here; tell why not otherwise."""
    try:
        parse_schedule(fields["schedule_spec"], zone=fields["timezone"], now=now)
    except NightshiftError as refused:
        left_out.append(f"{place}: {refused.message}")
    else:
        tasks[name] = fields


def _of_schedule(row: Mapping[str, Any]) -> dict[str, Any]:
    window = row.get("FlexibleTimeWindow") or {}
    minutes = window.get("MaximumWindowInMinutes") if window.get("Mode") == "FLEXIBLE" else None
    target = row.get("Target") or {}
    fields = {
        "title": row.get("Description") or None,
        "schedule_spec": _spec(str(row.get("ScheduleExpression", ""))),
        "timezone": row.get("ScheduleExpressionTimezone") or "UTC",
        "starts_at": row.get("StartDate"),
        "ends_at": row.get("EndDate"),
        "jitter_seconds": minutes * _UNITS["minute"] if isinstance(minutes, int) else None,
        "prompt": target.get("Input") or f"What {target.get('Arn', 'the target')} did.",
    }
    return {name: value for name, value in fields.items() if value is not None}


def _spec(expression: str) -> dict[str, Any]:
    found = re.fullmatch(r"(cron|rate|at)\((.*)\)", expression.strip())
    if found is None:
        raise ValueError(f"{expression!r} is no schedule expression")
    readers: Mapping[str, Callable[[str], dict[str, Any]]] = {
        "cron": _cron,
        "rate": _rate,
        "at": lambda when: {"once": when},
    }
    return readers[found[1]](found[2].strip())


def _rate(text: str) -> dict[str, Any]:
    number, _, unit = text.partition(" ")
    seconds = _UNITS.get(unit.strip().removesuffix("s"))
    if not number.isdigit() or seconds is None:
        raise ValueError(f"rate({text}) is not understood")
    return {"every_seconds": int(number) * seconds}


def _cron(text: str) -> dict[str, Any]:
    """Six fields: with a year, with `?`, and with Sunday as 1."""
    parts = text.split()
    if len(parts) != _AWS_FIELDS:
        raise ValueError(f"cron({text}) must have six fields")
    minute, hour, day, month, weekday, year = parts
    if year not in ("*", "?"):
        raise ValueError("its years are not taken over; give it starts_at and ends_at")
    if "W" in day or "L" in weekday:
        raise ValueError("the nearest weekday and the last weekday of a month are not known here")
    weekday = ",".join(_weekdays(weekday.upper()))
    return {"cron": " ".join([minute, hour, day.replace("?", "*"), month, weekday])}


def _weekdays(field: str) -> Iterator[str]:
    for item in field.replace("?", "*").split(","):
        yield _DAY_NUMBER.sub(lambda number: str(int(number[1]) - 1), item)
