"""What a cron expression amounts to, before it is put into any language.

Everything is decided on the sets, so that two spellings of one schedule read the same and nothing
is said that the sets do not say.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nightshift.domain.model.cron import (
    FEBRUARY,
    HOURS_OF_DAY,
    MONTH_LENGTHS,
    CronExpression,
)
from nightshift.domain.model.cron_field import DAYS_OF_WEEK
from nightshift.domain.model.exclusions import MINUTES_OF_DAY

MINUTES_OF_HOUR: Final = 60
_MAX_CLOCK_TIMES: Final = 6
_MAX_MINUTES: Final = 4
_DAYS: Final = 31
_MONTHS: Final = 12
_SHORTEST_ROW: Final = 3


@dataclass(frozen=True, slots=True)
class Cadence:
    """Every `step` minutes, from minute `first` to minute `last` of the day."""

    step: int
    first: int
    last: int
    around_the_clock: bool
    """The row goes on over midnight, so that only its beginning may need telling."""


@dataclass(frozen=True, slots=True)
class Hourly:
    """At certain minutes of every hour."""

    minutes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClockTimes:
    """At a few times of day, in minutes."""

    times: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MinutesOfHours:
    """At certain minutes of certain hours: the wording that always fits."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]


Timing = Cadence | Hourly | ClockTimes | MinutesOfHours


@dataclass(frozen=True, slots=True)
class Days:
    """On which days: a part that is None does not restrict."""

    dates: tuple[int, ...] | None
    """Days of the month."""
    last_day: bool
    weekdays: tuple[int, ...] | None
    """0 is Sunday, but last in order: the week is told from Monday."""
    nth_weekdays: tuple[tuple[int, int], ...]
    both: bool
    """Dates and weekdays must both match; otherwise either does."""
    months: tuple[int, ...] | None

    @property
    def by_date(self) -> bool:
        """Dates restrict."""
        return self.dates is not None

    @property
    def by_weekday(self) -> bool:
        """Weekdays restrict."""
        return self.weekdays is not None

    @property
    def every_day(self) -> bool:
        """Nothing restricts."""
        return not self.by_date and not self.by_weekday and self.months is None


def timing_of(expression: CronExpression) -> Timing:
    """Give the plainest exact shape of the times of day."""
    minutes, hours = tuple(sorted(expression.minutes)), tuple(sorted(expression.hours))
    times = expression.times
    step = _even_step(times)
    if len(hours) == HOURS_OF_DAY:
        goes_on = step is not None and step == times[0] + MINUTES_OF_DAY - times[-1]
        if goes_on and len(minutes) > 1 and (minutes[0] == 0 or len(minutes) > _MAX_MINUTES):
            return Cadence(
                MINUTES_OF_HOUR // len(minutes), times[0], times[-1], around_the_clock=True
            )
        return Hourly(minutes)
    if len(times) <= _MAX_CLOCK_TIMES:
        return ClockTimes(times)
    if step is not None:
        return Cadence(step, times[0], times[-1], around_the_clock=False)
    return MinutesOfHours(minutes, hours)


def days_of(expression: CronExpression) -> Days:
    """Give the plainest exact shape of the days."""
    all_dates, all_weekdays = (
        len(expression.days) == _DAYS,
        len(expression.weekdays) == DAYS_OF_WEEK,
    )
    both = expression.day_star or expression.weekday_star
    free = not both and (all_dates or all_weekdays)
    # A date that no named month has is not worth a word.
    longest = max(MONTH_LENGTHS[month] for month in expression.months)
    longest += expression.months == {FEBRUARY}
    dates = tuple(sorted(day for day in expression.days if day <= longest))
    by_date = not all_dates and not free and bool(dates or expression.last_day)
    by_weekday = not all_weekdays and not free
    return Days(
        dates=dates if by_date else None,
        last_day=by_date and expression.last_day,
        weekdays=_from_monday(expression.weekdays) if by_weekday else None,
        nth_weekdays=_nth(expression) if by_weekday else (),
        both=both and by_date and by_weekday,
        months=tuple(sorted(expression.months)) if len(expression.months) < _MONTHS else None,
    )


def row_of(values: tuple[int, ...]) -> tuple[int, int] | None:
    """Give the ends of three or more values that follow each other without a hole, if they do."""
    if len(values) >= _SHORTEST_ROW and values == tuple(range(values[0], values[-1] + 1)):
        return values[0], values[-1]
    return None


def _from_monday(weekdays: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(weekdays, key=lambda weekday: (weekday - 1) % DAYS_OF_WEEK))


def _nth(expression: CronExpression) -> tuple[tuple[int, int], ...]:
    # A weekday that matches anyway needs no telling which of the month it is.
    return tuple(
        sorted(
            (pair for pair in expression.nth_weekdays if pair[0] not in expression.weekdays),
            key=lambda pair: (pair[1], (pair[0] - 1) % DAYS_OF_WEEK),
        )
    )


def _even_step(times: tuple[int, ...]) -> int | None:
    steps = {later - earlier for earlier, later in pairwise(times)}
    return steps.pop() if len(steps) == 1 else None
