"""The grammar of one cron field: text to explicit values (SPEC section 5).

- A step may be as wide as the number of values in its field (60 minutes, 24 hours, 31 days, 12
  months, 7 weekdays), not wider, also behind a range.
- `n/step` runs from n to the end of the field. For weekdays the field ends on Saturday, since 7 is
  only a spelling of Sunday; `7/step` is refused.
- A name is its number, Sunday's is 0: `SUN-TUE` is a range, `FRI-SUN` goes backwards and is refused
  (`5-7` or `FRI-SAT,SUN` say it).
- Names are read in any case; `L` is written as in the specification.
"""

from typing import Final, NamedTuple

from nightshift.domain.errors import InvalidSchedule

FIELD: Final = "schedule_spec.cron"
"""The request field that errors about an expression name."""

MONTH_NAMES: Final = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
DAYS_OF_WEEK: Final = 7

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


class ParsedField(NamedTuple):
    """The values of one field."""

    values: frozenset[int]
    nth: frozenset[tuple[int, int]]
    last_day: bool
    star: bool
    text: str


def parse_field(text: str, kind: Field) -> ParsedField:
    """Read one field strictly.

    Raises InvalidSchedule with a sentence that names the field and never repeats its text.
    """
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
    return ParsedField(
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
    if text == "?":
        raise _wrong(kind, "`?` is not read; write `*`")
    if named is None:
        names = f" or a name from {_names_of(kind)}" if kind.names else ""
        raise _wrong(kind, f"expected a number from {kind.low} to {kind.high}{names}")
    return named


def _names_of(kind: Field) -> str:
    names = list(kind.names)
    return f"{names[0]} to {names[-1]}"


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MAX_DIGITS and _DIGITS.issuperset(text)


def _wrong(kind: Field, sentence: str) -> InvalidSchedule:
    return InvalidSchedule(f"{kind.name}: {sentence}", field=FIELD)
