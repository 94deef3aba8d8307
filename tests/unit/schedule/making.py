"""Schedules for tests, from the forms in which users send them."""

from datetime import datetime
from typing import Any, Final

from nightshift.domain.model.calendar import Calendar
from nightshift.domain.model.cron import parse_cron
from nightshift.domain.model.exclusions import parse_exclusions
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import NO_BOUNDS, CronSchedule, EverySchedule, Schedule
from unit.schedule.oracle import utc

NOW: Final = utc("2026-01-01T00:00")
NEW_YORK: Final = "America/New_York"


def calendar(
    *texts: str, zone: str = "UTC", exclude: dict[str, list[str]] | None = None
) -> Calendar:
    """The fires of some expressions."""
    return Calendar(tuple(map(parse_cron, texts)), zone, parse_exclusions(exclude or {}))


def schedule(
    spec: dict[str, Any], zone: str = "UTC", now: datetime = NOW, **bounds: Any
) -> Schedule:
    """A schedule as a user sends it."""
    limits = {"starts_at": None, "ends_at": None, "max_runs": None, **bounds}
    parsed = parse_bounds(**limits) if bounds else NO_BOUNDS
    return parse_schedule(spec, zone=zone, now=now, bounds=parsed)


def cron(text: str, zone: str = "UTC", **more: Any) -> CronSchedule:
    """A cron schedule."""
    made = schedule({"cron": text}, zone, **more)
    assert isinstance(made, CronSchedule)
    return made


def every(seconds: int, now: datetime = NOW, **more: Any) -> EverySchedule:
    """An `every` anchored at `now`."""
    made = schedule({"every_seconds": seconds}, now=now, **more)
    assert isinstance(made, EverySchedule)
    return made


def fires(found: Calendar, after: datetime, count: int) -> list[datetime]:
    """The next fires, each asked from the one before."""
    instants: list[datetime] = []
    while len(instants) < count:
        upcoming = found.next_after(instants[-1] if instants else after)
        if upcoming is None:
            break
        instants.append(upcoming)
    return instants
