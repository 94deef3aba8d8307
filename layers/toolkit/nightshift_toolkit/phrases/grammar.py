"""Reads "every weekday at 9 in New York" into a schedule, or says which forms it knows.

What is not understood whole is refused: a word that is passed over could be the one that counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from nightshift.domain.model.zones import load_zone
from nightshift_toolkit.phrases.words import (
    DAY_OF_WEEK,
    MONTH,
    ORDINAL,
    clock,
    count,
    unit_seconds,
    zone_named,
)

FORMS: Final = (
    "every weekday at 9 in New York",
    "every monday and thursday at 8:30",
    "every 15 minutes",
    "every hour on weekdays",
    "on the first monday of every month at noon",
    "on the last day of every month at 18:00",
    "every year on march 1 at 9am",
    "tomorrow at 9",
    "next friday at 5pm in Europe/Berlin",
    "in 20 minutes",
    "on 2027-01-15 at 14:00",
)
_DAYS_OF_WEEK: Final = {
    "day": "*",
    "weekday": "1-5",
    "workday": "1-5",
    "business day": "1-5",
    "weekend": "0,6",
    "weekend day": "0,6",
}
_SHORT: Final = {
    "hourly": "every hour",
    "daily": "every day",
    "nightly": "every day",
    "weekly": "every week",
    "monthly": "every month",
    "yearly": "every year",
    "annually": "every year",
    "everyday": "every day",
}
_MINUTES: Final = 60
_HOURS: Final = 24
_DENSE: Final = (1, 2, 3, 4)
"""Minutes that are too short for a fixed interval and go as a rule of the clock."""
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


class NotUnderstoodError(ValueError):
    """The phrase is none of the known forms; the message says what was not understood."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase says: the schedule as the API takes it, and the zone if it names one."""

    spec: dict[str, Any]
    zone: str | None


def understand(text: str, *, today: datetime, zone: str | None = None) -> Phrase:
    """The schedule that an English phrase means.

    Args:
        text: the phrase, in any case.
        today: now, with an offset; days like "tomorrow" are counted from its date in the zone.
        zone: in which times are read where the phrase names none; UTC without one.

    Raises:
        NotUnderstoodError: with a sentence that says what was not understood.
    """
    words = re.sub(r"[\s,]+", " ", text.lower().replace(",", " and ")).strip(" .")
    words = re.sub(r"\band( and)+\b", "and", words)
    words, named = _without_zone(words)
    for short, long in _SHORT.items():
        words = re.sub(rf"^{short}\b", long, words)
    local = today.astimezone(load_zone(named or zone or "UTC"))
    for read in (_after, _single, _interval, _of_month, _of_year, _of_week):
        spec = read(words, local)
        if spec is not None:
            return Phrase(spec, named)
    raise NotUnderstoodError(f"{text!r} is not understood. Known forms: {'; '.join(FORMS)}.")


def _without_zone(words: str) -> tuple[str, str | None]:
    """The phrase without the zone at its end, and that zone."""
    for found in reversed(list(re.finditer(r" (?:in |(?=\S+(?: \S+){0,2}$))", words))):
        zone = zone_named(words[found.end() :])
        if zone is not None:
            return words[: found.start()], zone
    return words, None


# -- once --


def _after(words: str, _local: datetime) -> dict[str, Any] | None:
    found = re.fullmatch(r"in (\S+) (\S+)(?: from now)?", words)
    if found is None:
        return None
    number, unit = count(found[1]), unit_seconds(found[2])
    return None if number is None or unit is None else {"after_seconds": number * unit}


def _single(words: str, local: datetime) -> dict[str, Any] | None:
    day, times = _split_times(words)
    if day is None or times is None or (when := _day_named(day, local)) is None:
        return None
    if len(times) != 1:
        raise NotUnderstoodError("One day takes one time; make a task for each time.")
    (hour, minute) = times[0]
    return {"once": f"{datetime.combine(when, time(hour, minute)):%Y-%m-%dT%H:%M:%S}"}


def _day_named(day: str, local: datetime) -> date | None:
    day = day.removeprefix("on ")
    if day in ("today", "tomorrow"):
        return local.date() + timedelta(days=day == "tomorrow")
    if (found := _DATE.fullmatch(day)) is not None:
        try:
            return date(int(found[1]), int(found[2]), int(found[3]))
        except ValueError as wrong:
            raise NotUnderstoodError(f"{day} is no day of the calendar.") from wrong
    if (found := re.fullmatch(r"next (\w+)", day)) is not None and found[1] in DAY_OF_WEEK:
        ahead = (DAY_OF_WEEK[found[1]] - local.isoweekday()) % 7 or 7
        return local.date() + timedelta(days=ahead)
    return None


# -- again and again --


def _interval(words: str, _local: datetime) -> dict[str, Any] | None:
    found = re.fullmatch(r"every (?:(\S+) )?(\w+)(?: on (.+))?", words)
    if found is None:
        return None
    number, unit = count(found[1] or "one"), unit_seconds(found[2])
    if number is None or unit is None or number < 1 or found[2].startswith(("day", "week")):
        return _of_days(number, found[2]) if found[3] is None else None
    days = _days_of_week(found[3]) if found[3] else "*"
    whole, step = divmod(number * unit, _MINUTES)
    on_the_clock = whole == _MINUTES or (whole in _DENSE and not step)
    if found[3] is None and not on_the_clock:
        return {"every_seconds": number * unit}
    if days is None or step:
        return None
    if whole < _MINUTES and _MINUTES % whole == 0:
        return {"cron": f"{_every(whole)} * * * {days}"}
    hours, rest = divmod(whole, _MINUTES)
    if rest or not hours or _HOURS % hours:
        raise NotUnderstoodError("Between fixed days, use a part of an hour or of a day.")
    return {"cron": f"0 {_every(hours)} * * {days}"}


def _every(step: int) -> str:
    return "*" if step == 1 else f"*/{step}"


def _of_days(number: int | None, unit: str) -> dict[str, Any] | None:
    if number is not None and number > 1 and (seconds := unit_seconds(unit)) is not None:
        return {"every_seconds": number * seconds}
    return None


def _of_month(words: str, _local: datetime) -> dict[str, Any] | None:
    found = re.fullmatch(
        r"(?:every month )?(?:on )?the (.+?)(?: of (?:every|each|the) month)? at (.+)", words
    )
    if found is None or "month" not in words:
        return None
    times = _times(found[2])
    fields = _day_of_month(found[1])
    if times is None or fields is None:
        return None
    day, day_of_week = fields
    return _crons(times, f"{day} * {day_of_week}")


def _day_of_month(words: str) -> tuple[str, str] | None:
    if words == "last day":
        return "L", "*"
    ordinal, _, name = words.partition(" ")
    if name in DAY_OF_WEEK and ORDINAL.get(ordinal, 6) <= 5:  # noqa: PLR2004 - no month has six
        return "*", f"{DAY_OF_WEEK[name]}#{ORDINAL[ordinal]}"
    listed = re.sub(r" and the | and ", " ", words.removesuffix(" day")).split()
    days = [ORDINAL[word] for word in listed if word in ORDINAL]
    return (",".join(map(str, days)), "*") if days and len(days) == len(listed) else None


def _of_year(words: str, _local: datetime) -> dict[str, Any] | None:
    found = re.fullmatch(r"every (?:year on )?(\w+) (\w+) at (.+)", words)
    if found is None or found[1] not in MONTH:
        return None
    day = ORDINAL.get(found[2], count(found[2]))
    times = _times(found[3])
    return None if day is None or times is None else _crons(times, f"{day} {MONTH[found[1]]} *")


def _of_week(words: str, _local: datetime) -> dict[str, Any] | None:
    day, times = _split_times(words)
    if day is None or times is None:
        return None
    found = re.fullmatch(r"(?:every week )?(?:on |every |each )+(.+)", day)
    days = _days_of_week(found[1]) if found else None
    if days is None and day.endswith("s"):
        days = _days_of_week(day)  # "mondays" says by itself that it comes again
    return None if days is None else _crons(times, f"* * {days}")


def _days_of_week(words: str) -> str | None:
    plain = words.removesuffix("s") if words.removesuffix("s") in _DAYS_OF_WEEK else words
    if plain in _DAYS_OF_WEEK:
        return _DAYS_OF_WEEK[plain]
    if (span := re.fullmatch(r"(\w+) (?:to|through|until) (\w+)", words)) is not None:
        first, last = (DAY_OF_WEEK.get(name) for name in span.groups())
        return None if first is None or last is None else f"{first}-{last or 7}"
    names = re.sub(r" and (?:on |every )?| or ", " ", words).split()
    days = [DAY_OF_WEEK[name] for name in names if name in DAY_OF_WEEK]
    return ",".join(map(str, sorted(set(days)))) if days and len(days) == len(names) else None


# -- times of day --


def _split_times(words: str) -> tuple[str | None, list[tuple[int, int]] | None]:
    """What stands before the times of day, and those times; also the other way round."""
    day, at, times = words.partition(" at ")
    if at:
        return day, _times(times)
    found = re.fullmatch(r"at (.+?) ((?:on |every |each |today|tomorrow|next ).*)", words)
    return (found[2], _times(found[1])) if found else (None, None)


def _times(words: str) -> list[tuple[int, int]] | None:
    texts = [text.removeprefix("at ") for text in words.split(" and ")]
    found = [moment for text in texts if (moment := clock(text)) is not None]
    return sorted(set(found)) if len(found) == len(texts) else None


def _crons(times: Sequence[tuple[int, int]], rest: str) -> dict[str, Any]:
    """One cron line for each minute of the hour that the times have."""
    hours: dict[int, list[int]] = {}
    for hour, minute in times:
        hours.setdefault(minute, []).append(hour)
    lines = [f"{minute} {','.join(map(str, of))} {rest}" for minute, of in sorted(hours.items())]
    return {"cron": lines[0] if len(lines) == 1 else lines}
