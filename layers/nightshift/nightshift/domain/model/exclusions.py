"""Dates and times of day at which a cron schedule never fires (holidays, quiet hours)."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from operator import itemgetter
from typing import Final

from nightshift.domain.errors import InvalidSchedule

MAX_DATES: Final = 100
"""Most dates and date ranges in one exclusion."""
MAX_TIMES: Final = 24
"""Most times of day in one exclusion."""
MINUTES_OF_DAY: Final = 1440
LAST_MINUTE: Final = 59
FIELD: Final = "schedule_spec.exclude"

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIMES: Final = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})", re.ASCII)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Exclusions:
    """What a schedule leaves out, by the local wall time at which a fire would really happen."""

    dates: tuple[tuple[date, date], ...] = ()
    """Inclusive ranges, ascending, apart from each other."""
    times: tuple[tuple[int, int], ...] = ()
    """Minutes of the day, half-open, ascending, apart from each other; none wraps midnight."""

    def __bool__(self) -> bool:
        return bool(self.dates or self.times)

    @cached_property
    def day_ranges(self) -> tuple[tuple[int, int], ...]:
        """The dates as inclusive ranges of days since 1970-01-01."""
        return tuple(
            (first.toordinal() - _EPOCH_DAY, last.toordinal() - _EPOCH_DAY)
            for first, last in self.dates
        )

    def last_day_excluded(self, day: int) -> int | None:
        """Give the last day of the excluded range that holds a day, both since 1970-01-01."""
        place = bisect_right(self.day_ranges, day, key=itemgetter(0)) - 1
        if place >= 0 and day <= self.day_ranges[place][1]:
            return self.day_ranges[place][1]
        return None

    def covers_time(self, minute: int) -> bool:
        """Tell whether a minute of the day is left out."""
        return any(first <= minute < end for first, end in self.times)

    def covers(self, wall: int) -> bool:
        """Tell whether a wall-clock second since 1970-01-01T00:00 is left out."""
        day, second = divmod(wall, 86_400)
        return self.covers_time(second // 60) or self.last_day_excluded(day) is not None

    def to_dict(self) -> dict[str, list[str]]:
        """Give the exclusion as it is written, in its normal form; empty parts are left out."""
        parts = {
            "dates": [_write_dates(*span) for span in self.dates],
            "times": self._write_times(),
        }
        return {name: values for name, values in parts.items() if values}

    def _write_times(self) -> list[str]:
        spans = list(self.times)
        if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == MINUTES_OF_DAY:
            spans = [*spans[1:-1], (spans[-1][0], spans[0][1])]
        return [f"{_write_minute(first)}-{_write_minute(end)}" for first, end in spans]


NOTHING_EXCLUDED: Final = Exclusions()


def parse_exclusions(value: object) -> Exclusions:
    """Read `{"dates": ["2026-12-25", "2026-12-24/2027-01-02"], "times": ["22:00-06:00"]}`.

    Dates and inclusive date ranges are in the task's zone; times of day are half-open and may wrap
    midnight. At most 100 dates and 24 times. Raises InvalidSchedule.
    """
    if not isinstance(value, Mapping) or not value.keys() <= {"dates", "times"}:
        raise _wrong("must be an object with `dates`, `times` or both", FIELD)
    dates = _texts(value.get("dates", []), MAX_DATES, f"{FIELD}.dates")
    times = _texts(value.get("times", []), MAX_TIMES, f"{FIELD}.times")
    days = ((a.toordinal(), b.toordinal() + 1) for a, b in map(_read_dates, dates))
    minutes = (span for text in times for span in _read_times(text))
    return Exclusions(
        tuple((date.fromordinal(a), date.fromordinal(b - 1)) for a, b in _merged(days)),
        tuple(_merged(minutes)),
    )


def _texts(value: object, most: int, field: str) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise _wrong("must be a list of texts", field)
    if len(value) > most:
        raise _wrong(f"holds more than {most} entries", field)
    return list(value)


def _read_dates(text: str) -> tuple[date, date]:
    field = f"{FIELD}.dates"
    first_text, slash, last_text = text.partition("/")
    first = _read_date(first_text, field)
    last = _read_date(last_text, field) if slash else first
    if last < first:
        raise _wrong("a date range goes backwards", field)
    return first, last


def _read_date(text: str, field: str) -> date:
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise _wrong("must be dates like 2026-12-25 or ranges like 2026-12-24/2027-01-02", field)


def _read_times(text: str) -> list[tuple[int, int]]:
    field = f"{FIELD}.times"
    match = _TIMES.fullmatch(text)
    if match is None:
        raise _wrong("must be times of day like 22:00-06:00", field)
    first_hour, first_minute, end_hour, end_minute = map(int, match.groups())
    first, end = first_hour * 60 + first_minute, end_hour * 60 + end_minute
    if (
        max(first_minute, end_minute) > LAST_MINUTE
        or first >= MINUTES_OF_DAY
        or end > MINUTES_OF_DAY
    ):
        raise _wrong("a time of day lies between 00:00 and 23:59, an end may be 24:00", field)
    if first == end:
        raise _wrong("a time of day begins and ends at the same minute", field)
    if first < end:
        return [(first, end)]
    return [(first, MINUTES_OF_DAY), (0, end)] if end else [(first, MINUTES_OF_DAY)]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((first, end))
    return merged


def _write_dates(first: date, last: date) -> str:
    return first.isoformat() if first == last else f"{first.isoformat()}/{last.isoformat()}"


def _write_minute(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _wrong(sentence: str, field: str) -> InvalidSchedule:
    return InvalidSchedule(f"exclude: {sentence}", field=field)
