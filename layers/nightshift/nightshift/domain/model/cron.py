"""The cron grammar: text to explicit sets, strictly (SPEC section 5).

Everything a library could read its own way (ranges, steps, names, stars) is decided here, once:

- The fields are read by `cron_field`; the aliases are written exactly as in the specification.
- A day field that begins with `*` does not restrict by itself: both day fields must match then.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import Final

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.cron_field import DAYS_OF_WEEK, FIELD, FIELDS, parse_field

MAX_LENGTH: Final = 256
"""Longest cron expression, in characters."""

ALIASES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTH_LENGTHS: Final = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
HOURS_OF_DAY: Final = 24

FEBRUARY: Final = 2
_LEAPFEBRUARY: Final = 29


@dataclass(frozen=True)
class CronExpression:
    """A parsed expression; two are equal when they name the same sets, however they are spelled."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    nth_weekdays: frozenset[tuple[int, int]]
    """(weekday, n): the nth such weekday of the month."""
    last_day: bool
    """`L`: the last day of the month."""
    day_star: bool
    """The day-of-month field begins with `*`."""
    weekday_star: bool
    """The day-of-week field begins with `*`."""
    normalised: str = field(compare=False)
    """The text as it is stored: aliases expanded, names as numbers, whitespace folded."""
    _days_by_shape: dict[int, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def is_interval(self) -> bool:
        """Tell whether it runs in every hour of the day, however it is spelled (SPEC section 5)."""
        return len(self.hours) == HOURS_OF_DAY

    @cached_property
    def times(self) -> tuple[int, ...]:
        """Minutes of the day at which it fires, ascending."""
        return tuple(
            hour * 60 + minute for hour, minute in product(sorted(self.hours), sorted(self.minutes))
        )

    @cached_property
    def next_months(self) -> tuple[tuple[int, int], ...]:
        """For each month by its number, how many years on the next named month lies, and which."""
        first = min(self.months)
        later = (min((m for m in self.months if m > month), default=0) for month in range(13))
        return tuple((0, month) if month else (1, first) for month in later)

    def month_days(self, first_weekday: int, length: int) -> tuple[int, ...]:
        """Give the matching days of a month that begins on a weekday (0 is Sunday) and has
        `length` days; whether the month itself matches is not asked."""
        shape = first_weekday * 32 + length
        days = self._days_by_shape.get(shape)
        if days is None:
            days = tuple(
                day for day in range(1, length + 1) if self._matches(day, first_weekday, length)
            )
            self._days_by_shape[shape] = days
        return days

    def _matches(self, day: int, first_weekday: int, length: int) -> bool:
        weekday = (first_weekday + day - 1) % DAYS_OF_WEEK
        by_day = day in self.days or (self.last_day and day == length)
        by_weekday = weekday in self.weekdays or (
            (weekday, (day - 1) // DAYS_OF_WEEK + 1) in self.nth_weekdays
        )
        if self.day_star or self.weekday_star:
            return by_day and by_weekday
        return by_day or by_weekday


def parse_cron(text: object) -> CronExpression:
    """Read a cron expression strictly (SPEC section 5).

    Raises InvalidSchedule with a sentence that names the field and never repeats the text, and
    NeverFires for dates that do not exist in any year.
    """
    if not isinstance(text, str):
        raise _refused("the cron expression must be text")
    if len(text) > MAX_LENGTH:
        raise _refused(f"the cron expression is longer than {MAX_LENGTH} characters")
    return _parsed(text)


@lru_cache(maxsize=2048)
def _parsed(text: str) -> CronExpression:
    minute, hour, day, month, weekday = (
        parse_field(field_text, kind) for field_text, kind in zip(_split(text), FIELDS, strict=True)
    )
    expression = CronExpression(
        minutes=minute.values,
        hours=hour.values,
        days=day.values,
        months=month.values,
        weekdays=weekday.values,
        nth_weekdays=weekday.nth,
        last_day=day.last_day,
        day_star=day.star,
        weekday_star=weekday.star,
        normalised=" ".join(part.text for part in (minute, hour, day, month, weekday)),
    )
    if not _ever_fires(expression):
        raise NeverFires("day of month: no year has such a date", field=FIELD)
    return expression


def _ever_fires(expression: CronExpression) -> bool:
    # Every month begins on every weekday in some year of the 400-year cycle, in leap years too.
    return any(
        expression.month_days(first_weekday, length)
        for month in expression.months
        for length in (MONTH_LENGTHS[month], _LEAPFEBRUARY if month == FEBRUARY else 0)
        if length
        for first_weekday in range(DAYS_OF_WEEK)
    )


def _split(text: str) -> list[str]:
    if any(not (" " <= character <= "~" or character == "\t") for character in text):
        raise _refused("the cron expression may hold only printable ASCII, space and tab")
    parts = text.split()
    if not parts:
        raise _refused("the cron expression is empty")
    if parts[0].startswith("@"):
        if len(parts) > 1 or parts[0] not in ALIASES:
            raise _refused(f"the aliases are {', '.join(ALIASES)}, each alone")
        parts = ALIASES[parts[0]].split()
    if "TZ=" in parts[0]:
        raise _refused("the time zone is a field of its own, not part of the cron expression")
    if len(parts) != len(FIELDS):
        raise _refused(f"a cron expression has five fields, this one has {len(parts)}")
    return parts


def _refused(sentence: str) -> InvalidSchedule:
    return InvalidSchedule(sentence, field=FIELD)
