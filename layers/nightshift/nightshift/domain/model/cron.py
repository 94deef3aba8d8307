"""The cron grammar: text to explicit sets, strictly (SPEC section 5).

Everything a library could read its own way (ranges, steps, names, stars) is decided here, once:

- A step may be as wide as the number of values in its field (60 minutes, 24 hours, 31 days, 12
  months, 7 weekdays), not wider, also behind a range.
- `n/step` runs from n to the end of the field. For weekdays the field ends on Saturday, since 7 is
  only a spelling of Sunday; `7/step` is refused.
- A name is its number, Sunday's is 0: `SUN-TUE` is a range, `FRI-SUN` goes backwards and is refused
  (`5-7` or `FRI-SAT,SUN` say it).
- `L` and the aliases are written exactly as in the specification; names in any case.
- A day field that begins with `*` does not restrict by itself: both day fields must match then.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

from nightshift.domain.errors import InvalidSchedule, NeverFires

MAX_LENGTH: Final = 256
"""Longest cron expression, in characters."""

FIELD: Final = "schedule_spec.cron"
"""The request field that errors about an expression name."""

ALIASES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTH_NAMES: Final = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTH_LENGTHS: Final = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
HOURS_OF_DAY: Final = 24
DAYS_OF_WEEK: Final = 7

FEBRUARY: Final = 2
_LEAPFEBRUARY: Final = 29
_WEEKS_IN_MONTH: Final = 5
_DIGITS: Final = frozenset("0123456789")
_MAX_DIGITS: Final = 2


class Field(NamedTuple):
    """What one of the five fields may hold."""

    name: str
    low: int
    high: int
    """Highest number that may be written."""
    last: int
    """Highest value that exists: 6 for weekdays, where 7 is a spelling of 0."""
    names: dict[str, int]


MINUTE: Final = Field("minute", 0, 59, 59, {})
HOUR: Final = Field("hour", 0, 23, 23, {})
DAY_OF_MONTH: Final = Field("day of month", 1, 31, 31, {})
MONTH: Final = Field("month", 1, 12, 12, {name: n for n, name in enumerate(MONTH_NAMES, 1)})
WEEKDAY: Final = Field("day of week", 0, 7, 6, {name: n for n, name in enumerate(WEEKDAY_NAMES)})
FIELDS: Final = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, WEEKDAY)


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


class _Parsed(NamedTuple):
    values: frozenset[int]
    nth: frozenset[tuple[int, int]]
    last_day: bool
    star: bool
    text: str


def parse_cron(text: object) -> CronExpression:
    """Read a cron expression strictly (SPEC section 5).

    Raises InvalidSchedule with a sentence that names the field and never repeats the text, and
    NeverFires for dates that do not exist in any year.
    """
    minute, hour, day, month, weekday = (
        _parse_field(field_text, kind)
        for field_text, kind in zip(_split(text), FIELDS, strict=True)
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


def _split(text: object) -> list[str]:
    if not isinstance(text, str):
        raise _refused("the cron expression must be text")
    if len(text) > MAX_LENGTH:
        raise _refused(f"the cron expression is longer than {MAX_LENGTH} characters")
    if any(not (" " <= character <= "~" or character == "\t") for character in text):
        raise _refused("the cron expression may hold only printable ASCII, space and tab")
    parts = text.split()
    if not parts:
        raise _refused("the cron expression is empty")
    if parts[0].startswith("@"):
        if len(parts) > 1 or parts[0] not in ALIASES:
            raise _refused(f"the aliases are {', '.join(ALIASES)}, each alone")
        parts = ALIASES[parts[0]].split()
    if len(parts) != len(FIELDS):
        raise _refused(f"a cron expression has five fields, this one has {len(parts)}")
    return parts


def _parse_field(text: str, kind: Field) -> _Parsed:
    values: set[int] = set()
    nth: set[tuple[int, int]] = set()
    last_day = False
    written: dict[str, None] = {}  # keeps order: whether the field begins with `*` has a meaning
    for item in text.split(","):
        if not item:
            raise _wrong(kind, "a list has an empty item")
        if item == "L" and kind is DAY_OF_MONTH:
            last_day = True
            written["L"] = None
        elif "#" in item and kind is WEEKDAY:
            weekday, n = _parse_nth(item)
            nth.add((weekday, n))
            written[f"{weekday}#{n}"] = None
        else:
            found, canonical = _parse_item(item, kind)
            values.update(found)
            written[canonical] = None
    return _Parsed(
        frozenset(values), frozenset(nth), last_day, text.startswith("*"), ",".join(written)
    )


def _parse_nth(item: str) -> tuple[int, int]:
    weekday, _, n = item.partition("#")
    if not _is_number(n) or not 1 <= int(n) <= _WEEKS_IN_MONTH:
        raise _wrong(WEEKDAY, "`#` is followed by a number from 1 to 5")
    return _value(weekday, WEEKDAY) % DAYS_OF_WEEK, int(n)


def _parse_item(item: str, kind: Field) -> tuple[set[int], str]:
    span, slash, step_text = item.partition("/")
    step = _step(step_text, kind) if slash else 1
    suffix = f"/{step}" if slash else ""
    if span == "*":
        return set(range(kind.low, kind.last + 1, step)), f"*{suffix}"
    low_text, dash, high_text = span.partition("-")
    low = _value(low_text, kind)
    if dash:
        high = _value(high_text, kind)
        if high < low:
            raise _wrong(kind, "a range goes backwards")
        return _wrapped(range(low, high + 1, step), kind), f"{low}-{high}{suffix}"
    if slash:
        if low > kind.last:
            raise _wrong(kind, "7 cannot have a step; write 0 for Sunday")
        return set(range(low, kind.last + 1, step)), f"{low}{suffix}"
    return _wrapped(range(low, low + 1), kind), str(low if low <= kind.last else 0)


def _wrapped(values: range, kind: Field) -> set[int]:
    return {value if value <= kind.last else 0 for value in values}


def _step(text: str, kind: Field) -> int:
    if not _is_number(text):
        raise _wrong(kind, "`/` is followed by a number of one or two digits")
    step, widest = int(text), kind.last - kind.low + 1
    if not 1 <= step <= widest:
        raise _wrong(kind, f"a step of {step} is not between 1 and {widest}")
    return step


def _value(text: str, kind: Field) -> int:
    if _is_number(text):
        number = int(text)
        if not kind.low <= number <= kind.high:
            raise _wrong(kind, f"{number} is not between {kind.low} and {kind.high}")
        return number
    if text and _DIGITS.issuperset(text):
        raise _wrong(kind, "a number has at most two digits")
    named = kind.names.get(text.upper())
    if named is None:
        names = f" or a name from {_names_of(kind)}" if kind.names else ""
        raise _wrong(kind, f"expected a number from {kind.low} to {kind.high}{names}")
    return named


def _names_of(kind: Field) -> str:
    names = list(kind.names)
    return f"{names[0]} to {names[-1]}"


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MAX_DIGITS and _DIGITS.issuperset(text)


def _refused(sentence: str) -> InvalidSchedule:
    return InvalidSchedule(sentence, field=FIELD)


def _wrong(kind: Field, sentence: str) -> InvalidSchedule:
    return InvalidSchedule(f"{kind.name}: {sentence}", field=FIELD)
