"""A task as people read it: its state, its times and its schedule in a few words."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from nightshift.domain.model.enums import TaskStatus
from nightshift_toolkit.cli.text import in_zone, local_time, one_line, relative, span

if TYPE_CHECKING:
    from nightshift_toolkit.resources import Task

BLOCKED: Final = "blocked"
DISPATCHING: Final = "dispatching"
STATES: Final = (*(status.value for status in TaskStatus), DISPATCHING, BLOCKED)
"""Every word that `state` may give."""


def state(task: "Task") -> str:
    """The task's state in one word: its status, unless it is blocked or being started."""
    if task.get("blocked_reason"):
        return BLOCKED
    return DISPATCHING if task.get("dispatching") else task["status"]


def status_to_ask(word: str | None) -> str | None:
    """The status by which the API finds at least the tasks whose state is this word."""
    return None if word in (BLOCKED, DISPATCHING) else word


def upcoming(task: "Task", now: datetime) -> str:
    """How far the next time is; a blocked task has none, whatever it was to be."""
    instant = task["next_run_at"]
    return "-" if instant is None or state(task) == BLOCKED else relative(instant, now)


def say_done(verb: str, task: "Task") -> None:
    """Print what was done to a task, and when it runs next or why it does not."""
    click.echo(f"{verb} {task['id']}  {one_line(task['title'])}")
    if state(task) == BLOCKED:
        click.echo(f"Blocked: {one_line(task['blocked_reason'] or '')}")
    elif (end := when(task, "pause_until")) is not None:
        click.echo(f"Until: {end}")
    elif (text := when(task, "next_run_at")) is not None:
        click.echo(f"Next run: {text}")
        if (start := start_apart(task)) is not None:
            click.echo(f"Starts:   {start}")


def failures(task: "Task") -> str | None:
    """How often the task failed in a row, where it did, and after how many it pauses."""
    count, limit = task["failures_in_a_row"], task["pause_after_failures"]
    if not count and limit is None:
        return None
    return f"{count} in a row" + ("" if limit is None else f", pauses after {limit}")


def handed(task: "Task") -> str | None:
    """What its runs are handed besides the prompt, by the run that left it."""
    if not task["include_previous_result"]:
        return None
    return f"the result of {task['last_success_run_id'] or 'its last success, which is to come'}"


def tells(task: "Task") -> str | None:
    """Which webhook hears of the task's runs, and of what."""
    notify = task["notify"]
    if notify is None:
        return None
    changes = ", changes only" if notify["changes_only"] else ""
    return one_line(f"{notify['webhook']} of {', '.join(notify['on'])}{changes}")


def jitter(task: "Task") -> str | None:
    """How far the starts are spread, and which place in that was chosen for the task."""
    width, place = task["jitter_seconds"], task["jitter_place_seconds"]
    if not width:
        return None
    return span(width) if place is None else f"auto, {span(place)} into {span(width)}"


def start_apart(task: "Task") -> str | None:
    """When the clock starts the next run, where jitter or a failure put it off its time."""
    moved = task["due_at"] != task["next_run_at"] and state(task) != BLOCKED
    return when(task, "due_at") if moved else None


def when(task: "Task", field: str) -> str | None:
    """The time in the task's zone, then on this machine's clock, then how far it is."""
    instant = task[field]  # type: ignore[literal-required]
    if instant is None:
        return None
    distance = relative(instant, datetime.now(UTC))
    return f"{in_zone(instant, task['timezone'])}  ({local_time(instant)} here, {distance})"


def schedule(task: "Task") -> str:
    """The schedule as it was written, with its zone and what it leaves out."""
    spec = task["schedule_spec"]
    if "once" in spec:
        return f"once {in_zone(spec['once'], task['timezone'])}"
    if "every_seconds" in spec:
        return f"every {span(spec['every_seconds'])}"
    cron = spec["cron"]
    written = cron if isinstance(cron, str) else " | ".join(cron)
    left_out = [text for texts in spec.get("exclude", {}).values() for text in texts]
    but = f", not {', '.join(left_out)}" if left_out else ""
    return f"{written} {task['timezone']}{but}"
