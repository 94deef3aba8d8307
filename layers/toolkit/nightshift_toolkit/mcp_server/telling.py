"""What a tool answers: what was scheduled, in the task's zone, with its next times."""

import json
from typing import TYPE_CHECKING, Any, Final

from nightshift_toolkit.cli.task_view import schedule, state
from nightshift_toolkit.cli.text import in_zone
from nightshift_toolkit.client import ApiError, Client, NotTheApiError, UnreachableError
from nightshift_toolkit.mcp_server.untrusted import framed

if TYPE_CHECKING:
    from nightshift_toolkit.resources import Run, SchedulePreview, Task

_NEXT_TIMES: Final = 3
_BEGINNING: Final = 300
_PARTS: Final = ("schedule_spec", "timezone", "starts_at", "ends_at", "max_runs", "jitter_seconds")


def of_task(client: Client, verb: str, task: "Task") -> str:
    """What was done to a task, when it runs from now on, and what people wrote into it."""
    lines = [f"{verb} {task['id']} (revision {task['revision']}): {state(task)}."]
    lines += _times(client, task)
    return "\n".join([*lines, framed(_written(task))])


def of_whole_task(task: "Task") -> str:
    """One task with everything that is known of it."""
    shown = {name: value for name, value in task.items() if value not in (None, {}, [])}
    next_run = task["next_run_at"]
    when = f"Next: {in_zone(next_run, task['timezone'])}." if next_run else "No time is ahead."
    return f"{task['id']} is {state(task)}. {when}\n{framed(shown)}"


def of_tasks(tasks: list["Task"], *, more: bool) -> str:
    """Tasks, one after the other; prompts are with each task alone."""
    if not tasks:
        return "No task. schedule_create makes one."
    said = (
        f"{_counted(tasks, 'task')}{', and there are more; a label or status narrows it' * more}."
    )
    return f"{said}\n{framed([_listed(task) for task in tasks])}"


def of_runs(runs: list["Run"], zone: str, *, more: bool) -> str:
    """Runs, newest first, with the beginnings of their output; times are the task's."""
    if not runs:
        return "No run yet."
    said = f"{_counted(runs, 'run')}, newest first{', and there are older ones' * more}."
    return f"{said}\n{framed([_run(run, zone, _BEGINNING) for run in runs])}"


def of_run(run: "Run", zone: str) -> str:
    """One run with all that its record has."""
    result = run["result"]
    shown = _run(run, zone, None)
    if result and "data" in result:
        shown["data"] = result["data"]
    return f"{run['id']} is {run['status']}.\n{framed(shown)}"


def of_preview(preview: "SchedulePreview") -> str:
    """A schedule in words, its normal form, and its next times."""
    spec = json.dumps(preview["schedule_spec"])
    lines = [f"{preview['schedule']}. Nothing was written.", *_listed_times(preview)]
    return "\n".join([*lines, f"As a schedule_spec: {spec}; timezone {preview['timezone']}."])


def _times(client: Client, task: "Task") -> list[str]:
    """The schedule in words and its next times; what is paused or ended has none."""
    if task["status"] not in ("enabled", "running") or task["blocked_reason"]:
        return ["The clock does not start it as it is now."]
    fields = {name: task[name] for name in _PARTS if task[name] is not None}
    try:
        preview = client.preview_schedule(fields | {"count": _NEXT_TIMES})
    except (ApiError, UnreachableError, NotTheApiError):
        # What was done is told in any case; and a time may be too near to be asked for.
        near = task["next_run_at"]
        return [f"Next time: {in_zone(near, task['timezone'])}"] if near else []
    return [f"{preview['schedule']}.", *_listed_times(preview)]


def _listed_times(preview: "SchedulePreview") -> list[str]:
    zone = preview["timezone"]
    lines = []
    for fire in preview["next"]:
        note = f" {fire['note']}" if fire["note"] else ""
        lines.append(f"- {in_zone(fire['utc'], zone)} ({fire['utc']}){note}")
    return ["Next times:", *lines] if lines else ["It has no time ahead."]


def _listed(task: "Task") -> dict[str, Any]:
    next_run = task["next_run_at"]
    shown = {
        "id": task["id"],
        **_written(task),
        "status": state(task),
        "schedule": schedule(task),
        "next": next_run and in_zone(next_run, task["timezone"]),
        "last_status": task["last_status"],
        "last_error": task["last_error"],
        "revision": task["revision"],
    }
    return {name: value for name, value in shown.items() if value not in (None, {})}


def _written(task: "Task") -> dict[str, Any]:
    """The title, and the beginning of the prompt or command, which lists come without."""
    texts = {name: task["action"].get(name) for name in ("prompt", "command")}
    shown = {name: _beginning(text, _BEGINNING) for name, text in texts.items() if text}
    return {"title": task["title"], **shown}


def _run(run: "Run", zone: str, limit: int | None) -> dict[str, Any]:
    result = run["result"]
    shown: dict[str, Any] = {
        "id": run["id"],
        "status": run["status"],
        "reason": run["reason"],
        "trigger": run["trigger"],
        "scheduled_for": _at(run["scheduled_for"], zone),
        "started_at": _at(run["started_at"], zone),
        "finished_at": _at(run["finished_at"], zone),
        "attempt": run["attempt"] if run["attempt"] > 1 else None,
        "folded": run["folded"] or None,
        "exit_code": result["exit_code"] if result else None,
        "error": run["error"] and _beginning(run["error"], limit),
        "output": result and _beginning(result["output"], limit),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _at(instant: str | None, zone: str) -> str | None:
    return None if instant is None else in_zone(instant, zone)


def _beginning(text: str, limit: int | None) -> str:
    cut = limit is not None and len(text) > limit
    return f"{text[:limit]} ... ({len(text)} characters in all)" if cut else text


def _counted(things: list[Any], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"
