"""Several cron rules together on the wall clock: how many times they name, and how close.

Times named by more than one rule count once. Everything is computed from tables per shape of month
(which month, first weekday, length), so that years cost no more than their months.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from nightshift.domain.model.cron_field import DAYS_OF_WEEK
from nightshift.domain.model.exclusions import MINUTES_OF_DAY, NOTHING_EXCLUDED
from nightshift.domain.model.wall import (
    MONTHS_OF_YEAR,
    WallRule,
    first_weekday,
    month_length,
    month_of,
)
from nightshift.domain.model.zones import DAY

_COMMON_YEAR: Final = 2001
_LEAP_YEAR: Final = 2000


class _Month(NamedTuple):
    masks: tuple[int, ...]
    """Per day, which rules match it: bit n stands for rule n."""
    before: tuple[int, ...]
    """Times named before each day of the month, and in the whole month at the end."""


class _Year(NamedTuple):
    first: int
    """Minute of the year of the first named time."""
    last: int
    length: int
    """Minutes of the year."""
    closest: int | None
    """Fewest minutes between two named times within the year."""


class WallUnion:
    """A set of rules that share one exclusion."""

    def __init__(self, rules: tuple[WallRule, ...]) -> None:
        self._rules = rules
        self._exclude = rules[0].exclude if rules else NOTHING_EXCLUDED
        self._months: dict[tuple[int, int, int], _Month] = {}
        self._times: dict[int, tuple[int, ...]] = {}
        self._closest: dict[int, int] = {}

    def count(self, start: int, end: int) -> int:
        """Count the distinct times named in the wall seconds [start, end), less the excluded."""
        excluded = sum(
            self._count(max(start, first * DAY), min(end, (last + 1) * DAY))
            for first, last in self._exclude.day_ranges
        )
        return self._count(start, end) - excluded

    def gap_below(self, floor: int) -> int | None:
        """Give the fewest seconds between two named times, if that is fewer than `floor`.

        Years of every shape are looked at, each with the years that can follow it, so that a pair
        around midnight or around a month's or year's end is seen (SPEC section 5, floor). It is the
        cycle of the wall clock: days on which the clock changes are left aside, since neither 23
        hours between two daily fires nor a fire moved by a gap makes a schedule more frequent.
        Excluded times of day do not count; excluded dates do, as they are no part of the cycle.
        """
        times = self._merged((1 << len(self._rules)) - 1)
        if not times or _closest([*times, times[0] + MINUTES_OF_DAY]) * 60 >= floor:
            return None  # not even if every rule matched every day
        gap = min(self._gaps(), default=None)
        return gap * 60 if gap is not None and gap * 60 < floor else None

    def _gaps(self) -> Iterator[int]:
        years = {
            (first, leap): year
            for first in range(DAYS_OF_WEEK)
            for leap in (False, True)
            if (year := self._year(first, leap=leap)) is not None
        }
        for (first, leap), year in years.items():
            if year.closest is not None:
                yield year.closest
            next_first = (first + year.length // MINUTES_OF_DAY) % DAYS_OF_WEEK
            for next_leap in (False,) if leap else (False, True):
                following = years.get((next_first, next_leap))
                if following is not None:
                    yield year.length - year.last + following.first

    def _year(self, first: int, *, leap: bool) -> _Year | None:
        start, last, earliest = 0, None, None
        gaps: list[int] = []
        for month in range(1, MONTHS_OF_YEAR + 1):
            length = month_length(_LEAP_YEAR if leap else _COMMON_YEAR, month)
            weekday = (first + start // MINUTES_OF_DAY) % DAYS_OF_WEEK
            for mask in self._month(month, weekday, length).masks:
                times = self._merged(mask)
                if times:
                    if last is None:
                        earliest = start + times[0]
                    else:
                        gaps.append(start + times[0] - last)
                    if len(times) > 1:
                        gaps.append(self._closest_of(mask))
                    last = start + times[-1]
                start += MINUTES_OF_DAY
        if last is None or earliest is None:
            return None
        return _Year(earliest, last, start, min(gaps, default=None))

    def _closest_of(self, mask: int) -> int:
        if mask not in self._closest:
            self._closest[mask] = _closest(self._merged(mask))
        return self._closest[mask]

    def _count(self, start: int, end: int) -> int:
        if end <= start:
            return 0
        day, last_day = start // DAY, end // DAY
        total = self._count_before(end) - self._count_before(start)
        while day < last_day:
            year, month, day_of_month, month_start = month_of(day)
            length = month_length(year, month)
            before = self._month(month, first_weekday(month_start), length).before
            through = min(length, last_day - month_start)
            total += before[through] - before[day_of_month - 1]
            day = month_start + length
        return total

    def _count_before(self, wall: int) -> int:
        """Count the times named on the day of a wall second, before that second."""
        day, second = divmod(wall, DAY)
        year, month, day_of_month, month_start = month_of(day)
        table = self._month(month, first_weekday(month_start), month_length(year, month))
        return bisect_left(self._merged(table.masks[day_of_month - 1]), (second + 59) // 60)

    def _month(self, month: int, weekday: int, length: int) -> _Month:
        shape = (month, weekday, length)
        table = self._months.get(shape)
        if table is None:
            masks = [0] * length
            for bit, rule in enumerate(self._rules):
                if month in rule.expression.months:
                    for day in rule.expression.month_days(weekday, length):
                        masks[day - 1] |= 1 << bit
            named = accumulate((len(self._merged(mask)) for mask in masks), initial=0)
            table = self._months[shape] = _Month(tuple(masks), tuple(named))
        return table

    def _merged(self, mask: int) -> tuple[int, ...]:
        times = self._times.get(mask)
        if times is None:
            chosen = [rule.times for bit, rule in enumerate(self._rules) if mask >> bit & 1]
            times = tuple(sorted(set().union(*chosen))) if len(chosen) != 1 else chosen[0]
            self._times[mask] = times
        return times


def _closest(times: Iterable[int]) -> int:
    return min((later - earlier for earlier, later in pairwise(times)), default=MINUTES_OF_DAY)
