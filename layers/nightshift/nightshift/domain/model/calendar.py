"""The one function for the next time of a cron schedule (SPEC section 5).

Create, patch, resume, admission, preview and simulation all ask `Calendar.next_after`. Time is cut
into stretches of constant offset, and inside a stretch the wall clock is searched:

- An *interval* (it runs in every hour of the day) fires at every matching wall minute that exists,
  in both passes of a repeated hour and in none of a skipped one.
- Every other expression is *fixed*. Of a repeated wall clock only the first pass counts, so the
  search begins at the wall time that was already reached. Wall times that a gap skipped are due at
  the first instant after it, once; a gap of a whole day or more has no fires of its own.

Several expressions are the union of their fires; each decides for itself whether it is an interval.
Exclusions judge a fire by the local wall time at which it would really happen.
"""

from datetime import datetime, timedelta
from typing import Final

from nightshift.domain.errors import InvalidSchedule
from nightshift.domain.model.cron import CronExpression
from nightshift.domain.model.exclusions import NOTHING_EXCLUDED, Exclusions
from nightshift.domain.model.instants import EPOCH, require_utc
from nightshift.domain.model.wall import WallRule, next_match
from nightshift.domain.model.zones import (
    DAY,
    FIRST_SECOND,
    LAST_SECOND,
    Stretch,
    Stretches,
    zone_stretches,
)

_SECOND: Final = timedelta(seconds=1)
_SETTLED: Final = 2 * DAY  # two offsets never differ by more than two days


class Calendar:
    """The fires of a set of cron expressions in a zone."""

    def __init__(
        self,
        expressions: tuple[CronExpression, ...],
        zone: str,
        exclude: Exclusions = NOTHING_EXCLUDED,
    ) -> None:
        self.stretches: Stretches = zone_stretches(zone)
        self.rules = tuple(WallRule.of(expression, exclude) for expression in expressions)

    def next_after(self, after: datetime) -> datetime | None:
        """Give the first fire strictly later than a UTC instant, or None if there is none left.

        Raises ValueError if `after` is not aware UTC, and InvalidSchedule if the answer were not
        later than the question (such a task must fail alone, and not be asked for ever).
        """
        require_utc(after)
        base = (after - EPOCH) // _SECOND
        found = self.next_second(base)
        if found is None:
            return None
        if found <= base:
            raise InvalidSchedule("the next time is not later than its base")
        return EPOCH + timedelta(seconds=found)

    def next_second(self, base: int) -> int | None:
        """Give the first fire later than a UTC second, as seconds since 1970-01-01T00:00Z."""
        if len(self.rules) == 1:
            return self._next_of(self.rules[0], base)
        found = [second for rule in self.rules if (second := self._next_of(rule, base)) is not None]
        return min(found, default=None)

    def _next_of(self, rule: WallRule, base: int) -> int | None:
        base = max(base, FIRST_SECOND)
        interval = rule.expression.is_interval
        stretch = self.stretches.at(base)
        floor = base + 1 + stretch.offset
        match, match_floor = rule.next_match(floor), floor
        while match is not None:
            if not interval and floor < stretch.reached:
                floor = stretch.reached
            # The first match from an earlier floor is still the first one, unless it was passed.
            if not match_floor <= floor <= match:
                match, match_floor = rule.next_match(floor), floor
                if match is None:
                    break
            if match - stretch.offset < stretch.end:
                found = match - stretch.offset
                return found if found <= LAST_SECOND else None
            following = self._following(rule, stretch, floor, match)
            if not interval and moved_by_gap(rule, following):
                return following.start
            stretch, floor = following, following.start + following.offset
        return None

    def _following(self, rule: WallRule, stretch: Stretch, floor: int, match: int) -> Stretch:
        """Give the next stretch in which the rule could fire: the one that follows, or a later one
        when the first named time is so far away that the changes in between can be skipped."""
        # Close to its end, a repeated wall clock may begin before `floor`.
        if stretch.end + stretch.offset - floor < _SETTLED:
            return self.stretches.at(stretch.end)
        if rule.exclude:
            named = rule.next_named(floor, self.stretches.may_change_around)
            match = match if named is None else named
        return self.stretches.at(max(stretch.end, match - _SETTLED))


def moved_by_gap(rule: WallRule, stretch: Stretch) -> bool:
    """Tell whether a fixed expression is due at the first instant of a stretch because it names a
    time in the gap before it."""
    return named_in_gap(rule, stretch) is not None


def named_in_gap(rule: WallRule, stretch: Stretch) -> int | None:
    """Give the first wall second that a fixed expression names in the gap before a stretch, if it
    does and the stretch's first instant is not excluded."""
    begin = stretch.start + stretch.offset
    if not 0 < begin - stretch.reached < DAY:
        return None
    named = next_match(rule.expression, rule.expression.times, stretch.reached)
    if named is None or named >= begin or rule.exclude.covers(begin):
        return None
    return named
