"""Why a schedule has a time or does not have it, in the order window, exclusion, schedule.

Whether it has it is what `next_after` says and nothing else; the reasons are looked for afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import Final

from nightshift.domain.model.cron import CronExpression
from nightshift.domain.model.enums import Rule
from nightshift.domain.model.exclusions import NOTHING_EXCLUDED
from nightshift.domain.model.instants import EPOCH, MILLISECOND, has_offset, parse_local
from nightshift.domain.model.schedule_input import parse_moment
from nightshift.domain.model.spec import (
    NO_BOUNDS,
    CronSchedule,
    EverySchedule,
    OnceSchedule,
    Schedule,
)
from nightshift.domain.model.wall import EPOCH_ORDINAL, first_weekday, month_length
from nightshift.domain.model.words import fire_note, local_text
from nightshift.domain.model.zones import DAY, local_to_utc, zone_stretches

_SECOND: Final = timedelta(seconds=1)
_WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of a time: whether it lets the schedule have it, and why."""

    rule: Rule
    holds: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that was asked about; `skipped` is the wall clock that a gap left out before it."""

    instant: datetime
    skipped: datetime | None = None


def moment_of(text: str, zone: str) -> Moment:
    """Read a time as `once` accepts it; one that the clock skips is the first instant after that.

    Raises InvalidSchedule.
    """
    if text and not has_offset(text):
        wall = parse_local(text, field="at")
        if MINYEAR < wall.year < MAXYEAR and local_to_utc(wall, zone).kind == "gap":
            # Read with the offset that held before, it lies behind the change.
            ahead = (wall.replace(tzinfo=UTC) - EPOCH) // _SECOND
            stretches = zone_stretches(zone)
            second = ahead - stretches.at(ahead - 2 * DAY).offset
            return Moment(EPOCH + stretches.at(second).start * _SECOND, wall)
    return Moment(parse_moment(text, zone=zone, field="at"))


def has_time(schedule: Schedule, at: datetime) -> bool:
    """Tell whether a UTC instant is an occurrence of a schedule."""
    return schedule.next_after(at - MILLISECOND) == at


def findings(schedule: Schedule, moment: Moment) -> Iterator[Finding]:
    """What window, exclusion and schedule say of a time, up to the one that decides."""
    for finding in (_window, _exclusion, _having):
        found = finding(schedule, moment)
        yield found
        if not found.holds:
            return


def _unbounded(schedule: Schedule) -> Schedule:
    return schedule if schedule.kind == "once" else replace(schedule, bounds=NO_BOUNDS)


def _window(schedule: Schedule, moment: Moment) -> Finding:
    bounds, at = schedule.bounds, moment.instant
    if bounds.starts_at is not None and bounds.opened(at - MILLISECOND) >= at:
        text = f"It lies before starts_at, {_shown(bounds.starts_at, schedule)}."
        return Finding(Rule.WINDOW, holds=False, detail=text)
    if bounds.ends_at is not None and bounds.closed(at) is None:
        text = f"It lies after ends_at, {_shown(bounds.ends_at, schedule)}."
        return Finding(Rule.WINDOW, holds=False, detail=text)
    open_ended = bounds.starts_at is None and bounds.ends_at is None
    text = "The schedule has no bounds in time." if open_ended else "It lies between the bounds."
    return Finding(Rule.WINDOW, holds=True, detail=text)


def _exclusion(schedule: Schedule, moment: Moment) -> Finding:
    if not isinstance(schedule, CronSchedule) or not schedule.exclude:
        return Finding(Rule.EXCLUSION, holds=True, detail="Nothing is excluded.")
    at = moment.instant
    unbounded = replace(schedule, bounds=NO_BOUNDS)
    if has_time(unbounded, at) or not has_time(replace(unbounded, exclude=NOTHING_EXCLUDED), at):
        return Finding(Rule.EXCLUSION, holds=True, detail="No exclusion takes it away.")
    second = (at - EPOCH) // _SECOND
    wall = second + zone_stretches(schedule.zone).at(second).offset
    by_date = schedule.exclude.last_day_excluded(wall // DAY) is not None
    what = "that day" if by_date else "that time of day"
    text = f"The schedule excludes {what}: {_shown(at, schedule)}."
    return Finding(Rule.EXCLUSION, holds=False, detail=text)


def _having(schedule: Schedule, moment: Moment) -> Finding:
    at = moment.instant
    if has_time(_unbounded(schedule), at):
        note = fire_note(schedule, at)
        text = f"{_shown(at, schedule)} is one of its times." + (f" {note}" if note else "")
        return Finding(Rule.SCHEDULE, holds=True, detail=text)
    return Finding(Rule.SCHEDULE, holds=False, detail=" ".join(_missing(schedule, moment)))


def _missing(schedule: Schedule, moment: Moment) -> Iterator[str]:
    at = moment.instant
    if moment.skipped is not None:
        yield f"The clock of {schedule.zone} skips {moment.skipped.isoformat(' ', 'minutes')}."
    elif isinstance(schedule, OnceSchedule):
        yield f"Its one time is {_shown(schedule.at, schedule)}."
        return
    elif isinstance(schedule, EverySchedule):
        anchor = _shown(schedule.anchor, schedule)
        yield f"It is not a multiple of {schedule.every_seconds} seconds from {anchor}."
    else:
        for expression in schedule.expressions:
            yield f"`{expression.normalised}`: {_mismatch(expression, at, schedule.zone)}."
    following = schedule.next_after(at)
    yield f"The next time is {_shown(following, schedule)}." if following else "None follows."


def _mismatch(expression: CronExpression, at: datetime, zone: str) -> str:
    """Which fields do not match the local time; where all do, what else keeps it from firing."""
    second = (at - EPOCH) // _SECOND
    stretch = zone_stretches(zone).at(second)
    wall = second + stretch.offset
    local = datetime(1970, 1, 1) + wall * _SECOND  # noqa: DTZ001 - the wall clock of the zone
    minute, hour, day, month, weekday = expression.normalised.split()
    first = local.toordinal() - EPOCH_ORDINAL - local.day + 1
    days = expression.month_days(first_weekday(first), month_length(local.year, local.month))
    name = _WEEKDAYS[first_weekday(first + local.day - 1)]
    wrong = [
        said
        for said, matches in (
            ("it fires on full minutes", not local.second and not at.microsecond),
            (f"minute {local.minute} is not in {minute}", local.minute in expression.minutes),
            (f"hour {local.hour} is not in {hour}", local.hour in expression.hours),
            (
                f"{local:%Y-%m-%d} ({name}) is not in day {day}, weekday {weekday}",
                local.day in days,
            ),
            (f"month {local.month} is not in {month}", local.month in expression.months),
        )
        if not matches
    ]
    if not wrong and wall < stretch.reached:
        return "this local time comes twice, and it fires the first time only"
    return ", ".join(wrong) or "the clock change before it leaves no time there"


def _shown(instant: datetime, schedule: Schedule) -> str:
    return f"{local_text(instant, schedule.zone)} {schedule.zone}"
