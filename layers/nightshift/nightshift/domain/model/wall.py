"""Matches of a cron expression on the wall clock alone, where no zone and no change exists.

Wall seconds count from 1970-01-01T00:00 on the clock of the task's zone.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import date
from typing import Final, NamedTuple

from nightshift.domain.model.cron import FEBRUARY, MONTH_LENGTHS, CronExpression
from nightshift.domain.model.cron_field import DAYS_OF_WEEK
from nightshift.domain.model.exclusions import Exclusions
from nightshift.domain.model.zones import DAY

EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
MONTHS_OF_YEAR: Final = 12
_END: Final = (date.max.toordinal() + 1 - EPOCH_ORDINAL) * DAY


class WallRule(NamedTuple):
    """One expression with what is excluded from it, ready to be searched."""

    expression: CronExpression
    times: tuple[int, ...]
    """Minutes of the day that are left after the exclusion."""
    exclude: Exclusions

    @classmethod
    def of(cls, expression: CronExpression, exclude: Exclusions) -> "WallRule":
        """Take the excluded times of day out once, so that a search never walks through them."""
        times = expression.times
        if exclude.times:
            times = tuple(time for time in times if not exclude.covers_time(time))
        return cls(expression, times, exclude)

    def next_match(self, wall: int) -> int | None:
        """Give the first match at or after a wall second, exclusions applied."""
        if not self.exclude.dates:
            return next_match(self.expression, self.times, wall)
        found = next_match(self.expression, self.times, wall)
        while found is not None:
            last = self.exclude.last_day_excluded(found // DAY)
            if last is None:
                return found
            found = next_match(self.expression, self.times, (last + 1) * DAY)
        return None

    def next_named(self, wall: int, may_move: Callable[[int], bool]) -> int | None:
        """Give a wall second from the given one on before which no fire is named, not even one that
        a gap moves; excluded times of day count as named.

        A fire moved by a gap is judged by where it lands, which may be the day after: so an
        excluded range is passed whole only if the clock does not change around its end, which
        `may_move` tells of a wall second.
        """
        found = next_match(self.expression, self.expression.times, wall)
        while found is not None:
            last = self.exclude.last_day_excluded(found // DAY)
            if last is None:
                return found
            if may_move((last + 1) * DAY):
                return max(found, last * DAY)
            found = next_match(self.expression, self.expression.times, (last + 1) * DAY)
        return None


def next_match(expression: CronExpression, times: tuple[int, ...], wall: int) -> int | None:
    """Give the first wall second at or after `wall` on a matching day, at one of `times`.

    `times` are minutes of the day, ascending. None when the calendar ends first (year 9999).
    """
    if not times or wall >= _END:
        return None
    day, second = divmod(wall, DAY)
    minute = (second + 59) // 60
    if minute > times[-1]:
        day, minute = day + 1, 0
        if day >= _END // DAY:
            return None
    year, month, day_of_month, first_day = month_of(day)
    while True:
        if month in expression.months:
            length = month_length(year, month)
            days = expression.month_days(first_weekday(first_day), length)
            place = bisect_left(days, day_of_month)
            if place < len(days):
                if days[place] != day_of_month:
                    minute = 0
                time = times[bisect_left(times, minute)] if minute else times[0]
                return (first_day + days[place] - 1) * DAY + time * 60
        years, month = expression.next_months[month]
        year += years
        if year > date.max.year:
            return None
        day_of_month, minute = 1, 0
        first_day = date(year, month, 1).toordinal() - EPOCH_ORDINAL


def first_weekday(day: int) -> int:
    """Give the weekday of a day since 1970-01-01, which was a Thursday; 0 is Sunday."""
    return (day + 4) % DAYS_OF_WEEK


def month_length(year: int, month: int) -> int:
    """Give the number of days of a month."""
    if month == FEBRUARY and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return MONTH_LENGTHS[month]


def month_of(day: int) -> tuple[int, int, int, int]:
    """Give year, month, day of the month, and the day since the epoch on which the month begins."""
    found = date.fromordinal(day + EPOCH_ORDINAL)
    return found.year, found.month, found.day, day - found.day + 1
