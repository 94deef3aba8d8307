"""`nightshift runs`: see what ran, what did not, and why."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import click

from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.instants import parse_instant
from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_fields, show_json
from nightshift_toolkit.cli.tables import MAX_LISTED, show_table
from nightshift_toolkit.cli.text import local_time, one_line, relative, span
from nightshift_toolkit.cli.watching import ensure_watchable, watch_option, watched

if TYPE_CHECKING:
    from nightshift_toolkit.resources import Attempt, Run

_STATES = tuple(status.value for status in RunStatus)


@click.group()
def command() -> None:
    """See what ran, what did not, and why."""


@command.command("list")
@click.argument("task_id", metavar="TASK")
@click.option("--status", type=click.Choice(_STATES), help="Only runs in this state.")
@click.option("--limit", type=click.IntRange(1, MAX_LISTED), default=20, show_default=True)
@watch_option
@with_session
def list_runs(
    *, session: Session, task_id: str, status: str | None, limit: int, watch: bool
) -> None:
    """List a task's runs, newest first. Times are this machine's."""
    ensure_watchable(session, watch=watch)

    def look() -> list["Run"]:
        with session.client() as client:
            return list(islice(client.runs(task_id, status), limit))

    show_all = partial(_show_runs, task_id=task_id, status=status)
    if watch:
        watched(look, show_all)
    elif session.as_json:
        show_json({"items": look(), "next_cursor": None})
    else:
        show_all(look())


def _show_runs(runs: list["Run"], *, task_id: str, status: str | None) -> None:
    show_table(
        ("SCHEDULED", "TRIGGER", "STATUS", "REASON", "EXIT", "TOOK", "OUTPUT", "RUN"),
        (
            (
                local_time(run["scheduled_for"] or run["created_at"]),
                run["trigger"],
                run["status"],
                run["reason"] or "-",
                _exit_code(run) or "-",
                _took(run) or "-",
                _first_line(run) or "-",
                run["id"],
            )
            for run in runs
        ),
        flexible="OUTPUT",
        empty=f"None of its runs is {status}.  Try:  nightshift runs list {task_id}"
        if status
        else f"No runs yet.  Try:  nightshift tasks trigger {task_id}",
    )


@command.command()
@click.argument("run_id", metavar="RUN")
@with_session
def show(*, session: Session, run_id: str) -> None:
    """Show one run with its output."""
    # A run's id begins with its task's, which has no dash in it.
    task_id = run_id.partition("-")[0]
    with session.client() as client:
        run = client.run(task_id, run_id)
    if session.as_json:
        show_json(run)
        return
    result = run["result"]
    show_fields(
        (
            ("Run", run["id"]),
            ("Task", run["task_id"]),
            ("Trigger", run["trigger"]),
            ("Scheduled", _when(run["scheduled_for"])),
            ("Status", run["status"]),
            ("Reason", run["reason"]),
            ("Error", run["error"]),
            ("Exit code", _exit_code(run)),
            ("Attempt", _attempt(run)),
            *(("  before", _failed(before)) for before in run["attempts"]),
            ("Was handed", run["previous_run_id"]),
            ("Folded", str(run["folded"]) if run["folded"] else None),
            ("Thread", run["thread_id"]),
            ("Started", _when(run["started_at"])),
            ("Paused", _when(run["paused_at"])),
            ("Was paused", span(run["paused_seconds"]) if run["paused_seconds"] else None),
            ("Finished", _when(run["finished_at"])),
            ("Took", _took(run)),
            *_written(run),
            ("Output", result["output"] if result else None),
        )
    )


@command.command()
@click.argument("run_id", metavar="RUN")
@with_session
def cancel(*, session: Session, run_id: str) -> None:
    """Stop an active run; a run that has ended stays as it is."""
    task_id = run_id.partition("-")[0]
    with session.client() as client:
        run = client.cancel_run(task_id, run_id)
    if session.as_json:
        show_json(run)
        return
    if run["status"] in ("queued", "running"):
        click.echo(f"Stopping {run_id}")
        click.echo(f"See how it ends:  nightshift runs show {run_id}")
    else:
        click.echo(f"{run_id} had already ended: {run['status']}")


@command.command()
@click.argument("run_id", metavar="RUN")
@with_session
def pause(*, session: Session, run_id: str) -> None:
    """Have a run at work stand still; the time does not count towards its limit."""
    with session.client() as client:
        run = client.pause_run(run_id.partition("-")[0], run_id)
    if session.as_json:
        show_json(run)
        return
    click.echo(f"Pausing {run_id}")
    click.echo(f"Let it go on:  nightshift runs resume {run_id}")


@command.command()
@click.argument("run_id", metavar="RUN")
@with_session
def resume(*, session: Session, run_id: str) -> None:
    """Have a paused run go on."""
    with session.client() as client:
        run = client.resume_run(run_id.partition("-")[0], run_id)
    if session.as_json:
        show_json(run)
        return
    click.echo(f"Resuming {run_id}")


def _when(instant: str | None) -> str | None:
    if instant is None:
        return None
    return f"{local_time(instant)}  ({relative(instant, datetime.now(UTC))})"


def _written(run: "Run") -> Iterator[tuple[str, str | None]]:
    """What the run's command reported about itself, and where the rest of its output is."""
    result = run["result"]
    if result is None:
        return
    usage = ", ".join(f"{value} {name}" for name, value in result.get("usage", {}).items())
    yield "Usage", usage or None
    data = result.get("data")
    yield "Result", None if data is None else json.dumps(data, ensure_ascii=False, indent=2)
    yield "No result", result.get("data_problem")
    yield "All output", result.get("output_url")


def _attempt(run: "Run") -> str:
    """The latest attempt, and what it waits for if it is not at work."""
    number = run["attempt"]
    if run["status"] != "running" or run["at_work"]:
        return str(number)
    return f"{number}, waits for {'its time or ' if number > 1 else ''}a worker"


def _failed(before: "Attempt") -> str:
    code = "" if before["exit_code"] is None else f", exit code {before['exit_code']}"
    return f"{before['attempt']}: {before['reason']}{code}, {_when(before['finished_at'])}"


def _exit_code(run: "Run") -> str | None:
    result = run["result"]
    code = result["exit_code"] if result else None
    return None if code is None else str(code)


def _took(run: "Run") -> str | None:
    started, finished = run["started_at"], run["finished_at"]
    if started is None or finished is None:
        return None
    return span(max(0.0, (parse_instant(finished) - parse_instant(started)).total_seconds()))


def _first_line(run: "Run") -> str:
    result = run["result"]
    return one_line((result["output"] if result else "") or run["error"] or "")
