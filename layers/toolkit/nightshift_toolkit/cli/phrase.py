"""A schedule given as an English phrase: read, and said back before anything is sent."""

from datetime import UTC, datetime
from typing import Any

import click

from nightshift.domain.errors import InvalidTimeZone, NightshiftError
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.schedule_input import parse_schedule
from nightshift.domain.model.words import describe
from nightshift_toolkit.cli.text import in_zone
from nightshift_toolkit.phrases import NotUnderstoodError, understand


def schedule_of(phrase: str, zone: str | None) -> dict[str, Any]:
    """The fields of the schedule that a phrase means; says on standard error what was understood.

    Raises:
        UsageError: the phrase is not understood, or names another zone than `--zone`.
    """
    now = datetime.now(UTC)
    try:
        read = understand(phrase, today=now, zone=zone)
    except NotUnderstoodError as error:
        raise click.UsageError(str(error)) from error
    except InvalidTimeZone as error:
        raise click.UsageError(f"--zone {zone} is no zone that is known here.") from error
    if read.zone is not None and zone not in (None, read.zone):
        raise click.UsageError(f"The phrase names {read.zone}, and --zone names {zone}.")
    chosen = read.zone or zone
    _say(read.spec, chosen or "UTC", now)
    return {"schedule_spec": read.spec} | ({"timezone": chosen} if chosen else {})


def _say(spec: dict[str, Any], zone: str, now: datetime) -> None:
    try:
        schedule = parse_schedule(spec, zone=zone, now=now)
        first = schedule.next_after(now)
    except NightshiftError:
        return  # the API refuses it, with the sentence that says why
    next_time = "" if first is None else f"; first {in_zone(format_instant(first), zone)}"
    click.echo(f"Understood: {describe(schedule, 'en')}{next_time}", err=True)
