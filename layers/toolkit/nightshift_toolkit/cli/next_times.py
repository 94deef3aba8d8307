"""`nightshift next`: the next times of a schedule, worked out here, without a cloud."""

import sys
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import click

from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.instants import format_instant, parse_rfc3339
from nightshift.domain.model.schedule_input import parse_schedule
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.words import describe, fire_note
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.text import in_zone
from nightshift_toolkit.schedules import DEFAULT_COUNT, MAX_COUNT, next_batch, short_instant


@click.command()
@click.argument("expressions", metavar="[EXPR]...", nargs=-1)
@click.option("--zone", default="UTC", show_default=True, help="IANA name of the zone.")
@click.option("--count", type=click.IntRange(1, MAX_COUNT), default=DEFAULT_COUNT)
@click.option("--after", help="RFC 3339 time to begin after; else now.")
@click.option("--words", is_flag=True, help="Say the schedule in words first.")
@click.option("--batch", metavar="FILE|-", help="Answer JSON lines: expr, zone, after, count.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *,
    expressions: tuple[str, ...],
    zone: str,
    count: int,
    after: str | None,
    words: bool,
    batch: str | None,
    as_json: bool,
) -> None:
    """Show the next times of one or more cron expressions, without a cloud.

    \b
    nightshift next "0 9 * * MON-FRI" --zone America/New_York
    nightshift next --batch rows.jsonl
    """
    if bool(expressions) == (batch is not None):
        raise click.UsageError("Give cron expressions, or --batch FILE.")
    if batch is not None:
        _answer_batch(batch)
        return
    try:
        start = datetime.now(UTC) if after is None else parse_rfc3339(after, field="after")
        schedule = parse_schedule({"cron": list(expressions)}, zone=zone, now=start)
        times = schedule.occurrences(start, count)
    except NightshiftError as error:
        raise Failure(error.message, ExitCode.REFUSED, hint="nightshift next --help") from error
    _show(schedule, zone, times, words=words, as_json=as_json)


def _show(
    schedule: Schedule, zone: str, times: tuple[datetime, ...], *, words: bool, as_json: bool
) -> None:
    if as_json:
        answer: dict[str, Any] = {"next": [short_instant(time) for time in times]}
        show_json(answer | ({"words": describe(schedule)} if words else {}))
        return
    if words:
        click.echo(describe(schedule))
    for time in times:
        note = fire_note(schedule, time)
        remark = f"  ({note})" if note else ""
        click.echo(f"{in_zone(format_instant(time), zone)}  {short_instant(time)}{remark}")


def _answer_batch(name: str) -> None:
    try:
        with _lines(name) as lines:
            for answer in next_batch(lines):
                click.echo(answer)
    except OSError as error:
        raise Failure(f"{name} cannot be read: {error.strerror}.", ExitCode.USAGE) from error


def _lines(name: str) -> AbstractContextManager[IO[str]]:
    # A byte that is no UTF-8 spoils its own line and no other.
    if name == "-":
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        return nullcontext(sys.stdin)
    return Path(name).open(encoding="utf-8", errors="replace")
