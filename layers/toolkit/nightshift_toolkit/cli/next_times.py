"""`nightshift next`: the next times of a schedule, worked out here, without a cloud."""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.schedule_input import parse_schedule
from nightshift.domain.model.words import LANGUAGES, Language, describe, fire_note
from nightshift.domain.model.zones import load_zone
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.text import in_zone
from nightshift_toolkit.cli.values import EXCLUDE_HELP, Exclusion, excluded
from nightshift_toolkit.schedules import (
    DEFAULT_COUNT,
    MAX_COUNT,
    next_batch,
    parse_after,
    sentence_of,
    short_instant,
)


@click.command()
@click.argument("expressions", metavar="[EXPR]...", nargs=-1)
@click.option("--zone", default="UTC", show_default=True, help="IANA name of the zone.")
@click.option("--count", type=click.IntRange(1, MAX_COUNT), default=DEFAULT_COUNT)
@click.option("--after", help="RFC 3339 time to begin after; else now.")
@click.option("--exclude", type=Exclusion(), multiple=True, help=EXCLUDE_HELP)
@click.option("--spec", help="A schedule_spec as JSON, in place of cron expressions.")
@click.option("--words", is_flag=True, help="Say the schedule in words first.")
@click.option("--language", type=click.Choice(sorted(LANGUAGES)), default="en", show_default=True)
@click.option("--batch", metavar="FILE|-", help="Answer JSON lines: expr, zone, after, count.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *,
    expressions: tuple[str, ...],
    zone: str,
    count: int,
    after: str | None,
    exclude: tuple[str, ...],
    spec: str | None,
    words: bool,
    language: Language,
    batch: str | None,
    as_json: bool,
) -> None:
    """Show the next times of one or more cron expressions, without a cloud.

    \b
    nightshift next "0 9 * * MON-FRI" --zone America/New_York
    nightshift next --spec '{"every_seconds": 600}' --count 10
    nightshift next --batch rows.jsonl
    """
    if bool(expressions) + (spec is not None) + (batch is not None) != 1:
        raise click.UsageError("Give cron expressions, or --spec JSON, or --batch FILE.")
    if exclude and not expressions:
        raise click.UsageError("--exclude goes with cron expressions.")
    if batch is not None:
        _answer_batch(batch)
        return
    try:
        start = datetime.now(UTC) if after is None else parse_after(after)
        wanted = _cron(expressions, exclude) if spec is None else _spec(spec)
        schedule = parse_schedule(wanted, zone=zone, now=start)
        times = schedule.occurrences(start, count)
    except NightshiftError as error:
        said = sentence_of(error)
        raise Failure(said, ExitCode.REFUSED, hint="nightshift next --help") from error
    described = describe(schedule, language) if words else None
    fires = [(time, fire_note(schedule, time, language)) for time in times]
    if as_json:
        show_json(_as_json(fires, zone) | ({"words": described} if words else {}))
    else:
        _show(fires, zone, described)


def _cron(expressions: tuple[str, ...], exclude: tuple[str, ...]) -> dict[str, Any]:
    return {"cron": list(expressions)} | ({"exclude": excluded(exclude)} if exclude else {})


def _spec(text: str) -> dict[str, Any]:
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError):
        spec = None
    if not isinstance(spec, dict):
        raise click.UsageError("--spec must be a JSON object.")
    return spec


def _as_json(fires: Sequence[tuple[datetime, str | None]], zone: str) -> dict[str, Any]:
    """The times as `--batch` gives them, and with each its local time and its note."""
    local = [time.astimezone(load_zone(zone)).isoformat() for time, _ in fires]
    return {
        "next": [short_instant(time) for time, _ in fires],
        "local": local,
        "notes": [note for _, note in fires],
    }


def _show(fires: Sequence[tuple[datetime, str | None]], zone: str, words: str | None) -> None:
    if words:
        click.echo(words)
    for time, note in fires:
        remark = f"  ({note})" if note else ""
        click.echo(f"{in_zone(format_instant(time), zone)}  {short_instant(time)}{remark}")


def _answer_batch(name: str) -> None:
    for answer in next_batch(_lines(name)):
        click.echo(answer)


def _lines(name: str) -> Iterator[str]:
    """The lines of a file or of standard input; a byte that is no UTF-8 spoils its own alone."""
    try:
        if name == "-":
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
            yield from sys.stdin
            return
        with Path(name).open(encoding="utf-8", errors="replace") as lines:
            yield from lines
    except OSError as error:
        raise Failure(f"{name} cannot be read: {error.strerror}.", ExitCode.USAGE) from error
