"""`nightshift tasks`: create, see and change tasks."""

import sys
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from nightshift_toolkit.cli.all_tasks import change_all, ensure_one_or_all, one_or_all
from nightshift_toolkit.cli.explain import explain
from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_fields, show_json
from nightshift_toolkit.cli.tables import MAX_LISTED, show_table
from nightshift_toolkit.cli.task_edits import CLEARABLE, cleared, whole_schedule
from nightshift_toolkit.cli.task_options import require_whole, with_task_options
from nightshift_toolkit.cli.task_view import (
    BLOCKED,
    STATES,
    failures,
    handed,
    jitter,
    say_done,
    schedule,
    start_apart,
    state,
    status_to_ask,
    tells,
    upcoming,
    when,
)
from nightshift_toolkit.cli.text import local_time, one_line
from nightshift_toolkit.cli.values import ThreadId
from nightshift_toolkit.cli.watching import ensure_watchable, watch_option, watched

if TYPE_CHECKING:
    from nightshift_toolkit.resources import Task

_NO_TASKS = "No tasks.  Try:  nightshift tasks create --prompt TEXT --cron '0 9 * * *'"
_NONE_MATCHES = "None of your tasks matches.  Try:  nightshift tasks list"


_CANCEL_ACTIVE = click.option(
    "--cancel-active", is_flag=True, help="Cancel its active run as well; else that goes on."
)


@click.group()
def command() -> None:
    """Create, see and change tasks."""


command.add_command(explain)


@command.command()
@click.argument("phrase", metavar="[WHEN]", required=False)
@with_task_options
@with_session
def create(*, session: Session, fields: dict[str, Any]) -> None:
    """Create a task, to run WHEN an English phrase or an option says.

    \b
    nightshift tasks create "every weekday at 9 in New York" --prompt @prompt.txt
    nightshift tasks create --prompt "Summarise yesterday's tickets" \\
        --cron "0 9 * * MON-FRI" --zone America/New_York
    nightshift tasks create --command "date" --in 70s
    """
    with session.client() as client:
        task = client.create_task(require_whole(fields))
    if session.as_json:
        show_json(task)
        return
    say_done("Created", task)
    click.echo(f"See what ran:  nightshift runs list {task['id']}")


@command.command("list")
@click.option("--status", type=click.Choice(STATES), help="Only tasks shown in this state.")
@click.option("--label", help="Only tasks with this label, key=value.")
@click.option("--thread", type=ThreadId(), help="Only tasks bound to this thread.")
@watch_option
@with_session
def list_tasks(
    *, session: Session, status: str | None, label: str | None, thread: str | None, watch: bool
) -> None:
    """List my tasks."""
    ensure_watchable(session, watch=watch)

    def look() -> list["Task"]:
        with session.client() as client:
            found = client.tasks(status=status_to_ask(status), label=label, thread=thread)
            return [task for task in found if status in (None, state(task))]

    empty = _NONE_MATCHES if status or label or thread else _NO_TASKS
    if watch:
        watched(look, partial(_show_tasks, empty=empty))
    elif session.as_json:
        show_json({"items": look(), "next_cursor": None})
    else:
        _show_tasks(look(), empty=empty)


def _show_tasks(tasks: list["Task"], *, empty: str) -> None:
    now = datetime.now(UTC)
    show_table(
        ("ID", "TITLE", "STATUS", "NEXT", "LAST", "SCHEDULE"),
        (
            (
                task["id"],
                task["title"],
                state(task),
                upcoming(task, now),
                task["last_status"] or "-",
                schedule(task),
            )
            for task in tasks
        ),
        flexible="TITLE",
        empty=empty,
    )


@command.command()
@click.argument("task_id", metavar="TASK")
@with_session
def show(*, session: Session, task_id: str) -> None:
    """Show one task, with its prompt or command."""
    with session.client() as client:
        task = client.task(task_id)
    if session.as_json:
        show_json(task)
        return
    action = task["action"]
    show_fields(
        (
            ("Task", task["id"]),
            ("Title", one_line(task["title"])),
            ("Status", state(task)),
            ("Blocked", task.get("blocked_reason")),
            ("Paused", task.get("pause_reason")),
            ("Paused until", when(task, "pause_until")),
            ("Schedule", schedule(task)),
            ("Next", None if state(task) == BLOCKED else when(task, "next_run_at")),
            ("Starts", start_apart(task)),
            ("Jitter", jitter(task)),
            ("Last run", when(task, "last_run_at")),
            ("Last outcome", task["last_status"]),
            ("Last error", task["last_error"]),
            ("Failures", failures(task)),
            ("Hands on", handed(task)),
            ("Tells", tells(task)),
            ("Active run", task["active_run_id"]),
            ("Overlap", None if task["overlap_policy"] == "skip" else task["overlap_policy"]),
            ("Attempts", _attempts(task)),
            ("Runs", str(task["run_count"])),
            ("Thread", task.get("thread_id") or "a fresh one each time"),
            ("Labels", ", ".join(f"{key}={value}" for key, value in task["labels"].items())),
            ("Prompt", action.get("prompt")),
            ("Command", action.get("command")),
        )
    )


@command.command()
@click.argument("task_id", metavar="TASK")
@with_task_options
@click.option("--clear", multiple=True, type=click.Choice(CLEARABLE), help="Empty it.")
@click.option("--fresh-thread", is_flag=True, help="Go back to a fresh thread for each run.")
@_CANCEL_ACTIVE
@with_session
def edit(
    *,
    session: Session,
    task_id: str,
    fields: dict[str, Any],
    clear: tuple[str, ...],
    fresh_thread: bool,
    cancel_active: bool,
) -> None:
    """Change what is given and nothing else; labels and exclusions are replaced as a whole."""
    changes = cleared(fields, clear)
    if fresh_thread and "thread_id" in fields:
        raise click.UsageError("A task runs in a --thread or in a --fresh-thread, not both.")
    if fresh_thread:
        changes |= {"context_mode": "fresh_thread", "thread_id": None}
    if not changes:
        raise click.UsageError("Say what to change, for example --title TEXT.")
    with session.client() as client:
        changes, revision = whole_schedule(client, task_id, changes)
        task = client.edit_task(task_id, changes, revision, cancel_active=cancel_active)
    _answer(session, "Changed", task)


@command.command()
@one_or_all
@click.option("--reason", help="Why; shown on the task.")
@click.option("--until", help="When the pause ends by itself, written with Z or an offset.")
@_CANCEL_ACTIVE
@with_session
def pause(
    *,
    session: Session,
    task_id: str | None,
    every: bool,
    reason: str | None,
    until: str | None,
    cancel_active: bool,
) -> None:
    """Keep the clock from starting a task; it can still be triggered.

    Without --until it stays paused until it is resumed. --all leaves alone what is paused for
    longer already, and runs in flight.
    """
    ensure_one_or_all(task_id, every=every)
    if every and cancel_active:
        raise click.UsageError("--cancel-active goes with one TASK.")
    if task_id is None:
        change_all(session, "pause", reason=reason, until=until)
        return
    with session.client() as client:
        task = client.pause_task(task_id, reason, until=until, cancel_active=cancel_active)
    _answer(session, "Paused", task)


@command.command()
@one_or_all
@with_session
def resume(*, session: Session, task_id: str | None, every: bool) -> None:
    """Let the clock start a task again, from its next time on."""
    ensure_one_or_all(task_id, every=every)
    if task_id is None:
        change_all(session, "resume")
        return
    with session.client() as client:
        task = client.resume_task(task_id)
    _answer(session, "Resumed", task)


@command.command()
@click.argument("task_id", metavar="TASK")
@with_session
def trigger(*, session: Session, task_id: str) -> None:
    """Run a task now, whatever its schedule says."""
    with session.client() as client:
        triggered = client.trigger_task(task_id)
    if session.as_json:
        show_json(triggered)
        return
    click.echo(f"Started {triggered['run_id']}")
    click.echo(f"See how it goes:  nightshift runs show {triggered['run_id']}")


@command.command()
@click.argument("task_id", metavar="TASK")
@click.option("--limit", type=click.IntRange(1, MAX_LISTED), default=20, show_default=True)
@with_session
def changes(*, session: Session, task_id: str, limit: int) -> None:
    """Show who changed what of a task, newest first. Times are this machine's."""
    with session.client() as client:
        entries = list(islice(client.changes(task_id), limit))
    if session.as_json:
        show_json({"items": entries, "next_cursor": None})
        return
    show_table(
        ("AT", "BY", "WHAT", "REVISION", "FIELDS"),
        (
            (
                local_time(entry["at"]),
                entry["by"],
                entry["verb"],
                str(entry["revision"]),
                ", ".join(entry["fields"]) or "-",
            )
            for entry in entries
        ),
        flexible="FIELDS",
        empty="No changes.",
    )


@command.command()
@click.argument("task_id", metavar="TASK")
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@_CANCEL_ACTIVE
@with_session
def delete(*, session: Session, task_id: str, yes: bool, cancel_active: bool) -> None:
    """Delete a task and its history; a run in flight goes on, its result is dropped."""
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("Nobody can be asked here: say --yes to delete the task.")
        click.confirm(f"Delete {task_id} and its history?", abort=True, err=True)
    with session.client() as client:
        client.delete_task(task_id, cancel_active=cancel_active)
    if not session.as_json:
        click.echo(f"Deleted {task_id}")


def _attempts(task: "Task") -> str | None:
    """How often a run may be attempted, where it is more than once."""
    retry = task.get("retry")
    if not retry:
        return None
    return f"at most {retry['max_attempts']}, after {', '.join(retry['on'])}"


def _answer(session: Session, verb: str, task: "Task") -> None:
    if session.as_json:
        show_json(task)
    else:
        say_done(verb, task)
