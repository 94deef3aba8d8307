"""Schedules in English."""

from collections.abc import Sequence
from typing import Final

from nightshift.domain.model.shape import (
    Cadence,
    ClockTimes,
    Days,
    Hourly,
    Timing,
    row_of,
)

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = (*("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),)
ORDINALS: Final = ("", "first", "second", "third", "fourth", "fifth")
_WORKING_WEEK: Final = (1, 2, 3, 4, 5)
_UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
_TEENS: Final = range(11, 14)


class English:
    """The sentences of one language; the other one has the same methods."""

    def cron(self, timing: Timing, days: Days) -> str:
        """Say when one expression fires."""
        when = self._timing(timing)
        if isinstance(timing, ClockTimes):
            return f"{self._days(days)} at {when}"
        return when if days.every_day else f"{when} {self._days(days).removeprefix('every day ')}"

    def union(self, parts: Sequence[str]) -> str:
        """Say several expressions."""
        return "; and ".join(parts)

    def every(self, seconds: int, anchor: str) -> str:
        """Say a fixed interval."""
        return f"every {self._duration(seconds)}, counted from {anchor}"

    def once(self, at: str) -> str:
        """Say a single time."""
        return f"once, on {at}"

    def excluded(self, dates: Sequence[tuple[str, str]], times: Sequence[tuple[str, str]]) -> str:
        """Say what is left out."""
        days = _listed([a if a == b else f"{a} to {b}" for a, b in dates])
        hours = _listed([f"{a} to {b}" for a, b in times])
        on, between = dates and f"on {days}", times and f"from {hours}"
        return f", but not {' and not '.join(part for part in (on, between) if part)}"

    def bounds(self, starts_at: str | None, ends_at: str | None, max_runs: int | None) -> str:
        """Say the bounds."""
        parts = [
            starts_at and f", from {starts_at} on",
            ends_at and f", until {ends_at}",
            max_runs and f", at most {max_runs} {'time' if max_runs == 1 else 'times'}",
        ]
        return "".join(part for part in parts if part)

    def sentence(self, text: str, zone: str) -> str:
        """Finish what was said."""
        return f"{text[0].upper()}{text[1:]} ({zone})"

    def moved(self, skipped: str, runs: str) -> str:
        """Say that a fire was moved by a gap."""
        return f"The clock skips {skipped} on this day; it runs at {runs}, right after the change."

    def first_only(self, wall: str) -> str:
        """Say that a fixed time in an overlap fires in the first pass."""
        return f"{wall} comes twice on this day; it runs the first time only."

    def one_of_two(self, wall: str, *, second: bool) -> str:
        """Say which pass of an overlap a fire belongs to."""
        return f"{wall} comes twice on this day; this is the {'second' if second else 'first'} one."

    def _timing(self, timing: Timing) -> str:
        if isinstance(timing, ClockTimes):
            return _listed([clock(time) for time in timing.times])
        if isinstance(timing, Cadence):
            every = f"every {self._duration(timing.step * 60)}"
            if not timing.around_the_clock:
                return f"{every} from {clock(timing.first)} to {clock(timing.last)}"
            return every if timing.first == 0 else f"{every} beginning at {clock(timing.first)}"
        if isinstance(timing, Hourly):
            if timing.minutes == (0,):
                return "every hour on the hour"
            return f"every hour at {_counted('minute', timing.minutes)}"
        minutes = (
            "every minute"
            if row_of(timing.minutes) == (0, 59)
            else f"at {_counted('minute', timing.minutes)}"
        )
        return f"{minutes} of {_counted('hour', timing.hours)}"

    def _days(self, days: Days) -> str:
        if days.every_day:
            return "every day"
        months = _listed([MONTHS[month - 1] for month in days.months or ()])
        row = row_of(days.months or ())
        if row:
            months = f"{MONTHS[row[0] - 1]} to {MONTHS[row[1] - 1]}"
        of_month = f" of {months or 'the month'}"
        dates = f"on {self._dates(days)}{of_month}" if days.by_date else ""
        weekdays = self._weekdays(days, of_month) if days.by_weekday else ""
        if days.both:
            return f"{weekdays} when that is {self._dates(days)}{of_month}"
        if dates and weekdays:
            return f"{dates} and also {weekdays}{self._in(days, months)}"
        if dates:
            return dates
        return f"{weekdays or 'every day'}{self._in(days, months)}"

    def _in(self, days: Days, months: str) -> str:
        named_already = days.by_weekday and not days.weekdays
        return f" in {months}" if months and not named_already else ""

    def _dates(self, days: Days) -> str:
        dates = days.dates or ()
        row = row_of(dates)
        parts = [f"{_ordinal(row[0])} to {_ordinal(row[1])}"] if row else map(_ordinal, dates)
        last = ["last day"] if days.last_day else []
        return f"the {_listed([*parts, *last])}"

    def _weekdays(self, days: Days, of_month: str) -> str:
        weekdays = days.weekdays or ()
        parts = []
        if weekdays == _WORKING_WEEK:
            parts.append("on weekdays (Monday to Friday)")
        elif row_of(_iso(weekdays)):
            first, last = WEEKDAYS[weekdays[0]], WEEKDAYS[weekdays[-1]]
            parts.append(f"on every day from {first} to {last}")
        elif weekdays:
            parts.append(f"on {_listed([f'{WEEKDAYS[weekday]}s' for weekday in weekdays])}")
        if days.nth_weekdays:
            named = [f"{ORDINALS[n]} {WEEKDAYS[weekday]}" for weekday, n in days.nth_weekdays]
            parts.append(f"on the {_listed(named)}{of_month}")
        return " and ".join(parts)

    def _duration(self, seconds: int) -> str:
        parts = []
        for unit, length in _UNITS:
            count, seconds = divmod(seconds, length)
            if count:
                parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
        text = _listed(parts)
        return text.removeprefix("1 ") if len(parts) == 1 else text


def clock(minute: int) -> str:
    """Write a minute of the day as HH:MM."""
    return f"{minute // 60:02}:{minute % 60:02}"


def _iso(weekdays: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(weekday or 7 for weekday in weekdays)


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _counted(noun: str, values: Sequence[int]) -> str:
    row = row_of(tuple(values))
    if row:
        return f"{noun}s {row[0]} to {row[1]}"
    return f"{noun}{'s' if len(values) > 1 else ''} {_listed([str(value) for value in values])}"


def _ordinal(day: int) -> str:
    ending = "th" if day in _TEENS else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
