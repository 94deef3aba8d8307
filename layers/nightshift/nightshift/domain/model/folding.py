"""Counting the fires that passed unrun, without walking through them (P15)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from nightshift.domain.model.calendar import Calendar, moved_by_gap
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.wall_union import WallUnion
from nightshift.domain.model.zones import DAY

MAX_COUNT: Final = 1_000_000
"""Most occurrences that are counted; more are marked as cut."""
MAX_SPAN: Final = 50 * 366 * DAY
"""Longest time, in seconds, that is counted through; what lies behind it is marked as cut."""

_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Folded:
    """Occurrences that are represented by one run (P15)."""

    count: int
    """How many lie after the given instant; at least so many when `cut`."""
    through: datetime | None
    """The latest of them, exact also when `cut`; None when there is none."""
    cut: bool = False
    """The count was given up at its bound."""


NOTHING_FOLDED: Final = Folded(0, None)


def folded_fires(calendar: Calendar, after: datetime, through: datetime) -> Folded:
    """Count the fires later than `after` and not later than `through`, both UTC (P15).

    Exact up to a million fires and fifty years; beyond either, the count is a lower bound and
    marked. The latest fire is always exact, since lateness is measured from it (P16).
    """
    start, end = (after - EPOCH) // _SECOND, (through - EPOCH) // _SECOND
    first = calendar.next_second(start)
    if first is None or first > end:
        return NOTHING_FOLDED
    counted_end = min(end, first + MAX_SPAN)
    count = _count(calendar, start, counted_end)
    latest = _latest(calendar, first, end)
    cut = count > MAX_COUNT or latest > counted_end
    return Folded(min(count, MAX_COUNT), EPOCH + timedelta(seconds=latest), cut)


def _count(calendar: Calendar, after: int, through: int) -> int:
    """Count the fires in the UTC seconds (after, through]."""
    fixed = tuple(rule for rule in calendar.rules if not rule.expression.is_interval)
    intervals = tuple(rule for rule in calendar.rules if rule.expression.is_interval)
    every, repeated = WallUnion(calendar.rules), WallUnion(intervals)
    total, second = 0, after + 1
    while second <= through:
        stretch = calendar.stretches.at(second)
        start = second + stretch.offset
        end = min(stretch.end, through + 1) + stretch.offset
        if second == stretch.start and any(moved_by_gap(rule, stretch) for rule in fixed):
            # A time named for the very first instant is the same fire.
            total += 1 - every.count(start, start + 1)
        # In the second pass of a repeated wall clock only intervals fire.
        passed = min(max(start, stretch.reached), end)
        total += repeated.count(start, passed) + every.count(passed, end)
        second = stretch.end
    return total


def _latest(calendar: Calendar, first: int, through: int) -> int:
    """Give the last fire in the UTC seconds [first, through], where `first` is a fire."""
    step, low, high = 60, first, through
    while True:
        found = calendar.next_second(max(first, through - step))
        if found is not None and found <= through:
            low = found
            break
        high = max(first, through - step)
        if high == first:
            return first
        step *= 4
    while low < high:
        middle = (low + high) // 2
        found = calendar.next_second(middle)
        if found is None or found > high:
            high = middle
        else:
            low = found
    return low
