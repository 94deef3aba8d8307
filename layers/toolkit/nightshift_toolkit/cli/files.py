"""`nightshift apply` and `nightshift export`: tasks as files."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.text import one_line, printable
from nightshift_toolkit.cli.values import Label
from nightshift_toolkit.client import ApiError, Client
from nightshift_toolkit.task_files import (
    Document,
    FaultyFileError,
    Plan,
    Wanted,
    document_schema,
    exported,
    file_text,
    from_crontab,
    from_eventbridge,
    plan_of,
    read_document,
    wanted_tasks,
)

_LONGEST_SHOWN = 60


@click.command()
@click.option("-f", "--file", "source", required=True, metavar="FILE|-", help="Tasks, as YAML.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@with_session
def apply(*, session: Session, source: str, dry_run: bool) -> None:
    """Create, change and delete tasks until those of the file's label are those of the file.

    A file in which anything is wrong changes nothing. Applied twice it changes nothing either.

    \b
    label: managed-by=tickets
    tasks:
      morning:
        when: every weekday at 9 in New York
        prompt: Summarise yesterday's tickets.
    """
    folder, text = _read(source)
    with session.client() as client:
        try:
            plan = _planned(client, read_document(text), folder)
        except FaultyFileError as error:
            said = f"Nothing was changed. In {source}:\n{error}"
            raise Failure(said, ExitCode.REFUSED) from error
        if not session.as_json:
            _show(plan)
        done = [] if dry_run else _carry_out(client, plan)
    if session.as_json:
        show_json(_as_json(plan))
    elif plan.empty:
        click.echo(f"Nothing to do: {len(plan.unchanged)} as the file has them.")
    else:
        click.echo("Nothing was changed: --dry-run." if dry_run else f"Done: {len(done)}.")


@click.command()
@click.option("--label", "owner", type=Label(), help="Only tasks with this label, key=value.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of such files instead.")
@with_session
def export(*, session: Session, owner: tuple[str, str] | None, schema: bool) -> None:
    """Print my tasks as a file that `nightshift apply` takes.

    The label becomes the one that the file owns; without it that is `managed-by=file`.
    """
    if schema:
        show_json(document_schema())
        return
    label = None if owner is None else "=".join(owner)
    with session.client() as client:
        tasks = [client.task(task["id"]) for task in client.tasks(label=label)]
    click.echo(exported(tasks, owner or ("managed-by", "file")), nl=False)


@click.command("import")
@click.argument("kind", type=click.Choice(("crontab", "eventbridge")))
@click.argument("source", metavar="FILE|-")
@click.option("--zone", default="UTC", show_default=True, help="Where the crontab's times are.")
@click.option("--label", "owner", type=Label(), default="managed-by=import", show_default=True)
def import_(*, kind: str, source: str, zone: str, owner: tuple[str, str]) -> None:
    """Print the schedules of a crontab, or of EventBridge Scheduler, as a file for `apply`.

    What could not be taken over is said on standard error. Nothing is sent anywhere.

    \b
    crontab -l | nightshift import crontab - --zone Europe/Berlin > tasks.yaml
    aws scheduler get-schedule --name NAME | nightshift import eventbridge - > tasks.yaml
    """
    _, text = _read(source)
    now = datetime.now(UTC)
    try:
        if kind == "crontab":
            found = from_crontab(text, zone=zone, now=now)
        else:
            found = from_eventbridge(text, now=now)
    except (ValueError, RecursionError) as error:
        said = f"{source} is not JSON as `aws scheduler get-schedule` prints it."
        raise Failure(said, ExitCode.REFUSED) from error
    click.echo(file_text(found.tasks, owner), nl=False)
    for sentence in found.left_out:
        click.echo(f"Left out: {printable(sentence)}", err=True)


def _read(source: str) -> tuple[Path, str]:
    try:
        if source == "-":
            return Path.cwd(), sys.stdin.read()
        return Path(source).parent, Path(source).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Failure(f"{source} cannot be read.", ExitCode.USAGE) from error


def _planned(client: Client, document: Document, folder: Path) -> Plan:
    """The plan, with all that can be known before anything is written checked."""
    now = datetime.now(UTC)
    policy = client.policy()
    wanted = wanted_tasks(document, policy=policy, folder=folder, now=now)
    existing = [client.task(task["id"]) for task in client.tasks(label="=".join(document.owner))]
    plan = plan_of(wanted, existing, now)
    for thread_id in {one.shown["thread_id"] for one in wanted} - {None}:
        client.thread(str(thread_id))
    if len(plan.create) > len(plan.delete):
        have, most = sum(1 for _ in client.tasks()), policy["max_tasks_per_user"]
        if have + len(plan.create) - len(plan.delete) > most:
            raise Failure(f"Nothing was changed: {most} tasks are allowed.", ExitCode.CONFLICT)
    return plan


def _carry_out(client: Client, plan: Plan) -> list[str]:
    """Deletions first, since they make room; what was done when one step is refused."""
    done: list[str] = []
    try:
        for task in plan.delete:
            client.delete_task(task["id"])
            done.append(f"deleted {task['id']}")
        for change in plan.change:
            client.edit_task(change.task["id"], change.body, change.task["revision"])
            done.append(f"changed {change.task['id']}")
        for wanted in plan.create:
            created = client.create_task(wanted.body)
            done.append(f"created {created['id']}")
    except ApiError:
        if done:
            click.echo(f"Done before this failed: {', '.join(done)}.", err=True)
            click.echo("Apply the file again when it is mended: what is done stays done.", err=True)
        raise
    return done


def _show(plan: Plan) -> None:
    for task in plan.delete:
        click.echo(f"- {task['id']}  {one_line(task['title'])}")
    for change in plan.change:
        click.echo(f"~ {change.task['id']}  {printable(change.wanted.name)}")
        for name, (old, new) in change.fields.items():
            click.echo(f"    {name}: {_short(old)} -> {_short(new)}")
    for wanted in plan.create:
        click.echo(f"+ {printable(wanted.name)}  {_when(wanted)}")


def _when(wanted: Wanted) -> str:
    return f"{json.dumps(wanted.shown['schedule_spec'])} {wanted.shown['timezone']}"


def _short(value: Any) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _as_json(plan: Plan) -> Mapping[str, Any]:
    return {
        "create": [wanted.name for wanted in plan.create],
        "change": [
            {"id": change.task["id"], "name": change.wanted.name, "fields": sorted(change.fields)}
            for change in plan.change
        ],
        "delete": [task["id"] for task in plan.delete],
        "unchanged": [task["id"] for task in plan.unchanged],
    }
