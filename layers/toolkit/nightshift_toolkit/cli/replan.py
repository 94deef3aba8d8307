"""`nightshift replan`: make every plan of older zone rules anew at once, and say what moves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import click
from botocore.exceptions import BotoCoreError, ClientError

from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.domain.errors import NightshiftError
from nightshift.domain.exchanged import Event
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.zones import tzdata_version
from nightshift.domain.services.replanning import Move, Replanning
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.table_access import open_table
from nightshift_toolkit.cli.tables import show_table
from nightshift_toolkit.cli.text import in_zone, span

MAX_SHARDS: Final = 64
"""Every shard of the due index that a deployment may have; an empty one costs one query."""


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would move; write nothing.")
@click.option("--table", envvar="NIGHTSHIFT_TABLE", help="Else the local cloud's.")
@click.option("--region", help="AWS region; else that of the AWS configuration.")
@click.option("--profile", help="AWS profile; else the usual credentials.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *, dry_run: bool, table: str | None, region: str | None, profile: str | None, as_json: bool
) -> None:
    """Work out every next time anew that older zone rules gave, and list what moves.

    The clock does the same by itself after a deploy, a page at a time. What counts is the zone
    rules on this machine: run the version that is deployed.
    """
    try:
        moves, written = _replanned(open_table(table, region, profile), dry_run=dry_run)
    except (NightshiftError, ClientError, BotoCoreError) as error:
        raise Failure(f"The tasks cannot be planned anew: {error}", ExitCode.FAULT) from error
    if as_json:
        show_json(_as_json(moves, written, dry_run=dry_run))
    else:
        _show(moves, written, dry_run=dry_run)


def _replanned(table: Table, *, dry_run: bool) -> tuple[Sequence[Move], set[str]]:
    """Every plan of older rules with its new one, and the ids of the tasks that have it now."""
    replanning = Replanning(
        tasks=DynamoTasks(table),
        sweeps=DynamoSweeps(table, due_shards=MAX_SHARDS),
        observe=_tell_failure,
    )
    moves: list[Move] = []
    written: set[str] = set()
    for move in replanning.all_moves():
        moves.append(move)
        if not dry_run and replanning.apply(move):
            written.add(move.task.id)
    return moves, written


def _tell_failure(event: Event) -> None:
    if event.error is not None:
        click.echo(f"{event.facts.get('task_id')}: {event.error}", err=True)


def _show(moves: Sequence[Move], written: set[str], *, dry_run: bool) -> None:
    moving = [move for move in moves if move.moves]
    show_table(
        ("TASK", "BEFORE", "AFTER", "MOVES"),
        ((move.task.id, *_times(move), _by(move)) for move in moving),
        flexible="BEFORE",
        empty="No next time moves.",
    )
    click.echo(f"Zone rules {tzdata_version()}: {len(moves)} older plans, {len(moving)} move.")
    changed = len(moves) - len(written)
    if dry_run:
        click.echo("Nothing was written.")
    elif changed:
        click.echo(f"{changed} changed meanwhile and were left as they are now.")


def _times(move: Move) -> tuple[str, str]:
    zone = move.task.definition.schedule.zone
    before, after = move.task.state.next_run_at, move.plan.next_run_at
    return (
        in_zone(format_instant(before), zone) if before else "-",
        in_zone(format_instant(after), zone) if after else "-",
    )


def _by(move: Move) -> str:
    if move.seconds is None:
        return "no time is left"
    return f"{span(abs(move.seconds))} {'later' if move.seconds > 0 else 'earlier'}"


def _as_json(moves: Sequence[Move], written: set[str], *, dry_run: bool) -> dict[str, Any]:
    return {
        "tzdata_version": tzdata_version(),
        "dry_run": dry_run,
        "older_plans": len(moves),
        "moves": [
            {
                "task_id": move.task.id,
                "user_id": move.task.user_id,
                "timezone": move.task.definition.schedule.zone,
                "before": _instant(move.task.state.next_run_at),
                "after": _instant(move.plan.next_run_at),
                "seconds": move.seconds,
                "written": move.task.id in written,
            }
            for move in moves
            if move.moves
        ],
    }


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)
