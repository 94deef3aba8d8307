"""The words of the phrases: days, months, ordinals, times of day, and the cities of the zones."""

import re
from functools import cache

from nightshift.domain.model.zones import zone_names

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHORTEST_NAME = 3
_DAYS = 31
_WHOLE_YEAR = frozenset({"UTC", "GMT"})


def _spellings(names: tuple[str, ...], *, plural: bool) -> dict[str, int]:
    """Each name and its unambiguous beginnings of three letters and more, by its place."""
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        for length in range(_SHORTEST_NAME, len(name) + 1):
            found[name[:length]] = place
        if plural:
            found[f"{name}s"] = place
    return found


DAY_OF_WEEK = {name: (place + 1) % 7 for name, place in _spellings(WEEKDAYS, plural=True).items()}
"""As cron counts them: Sunday is 0."""
MONTH = {name: place + 1 for name, place in _spellings(_MONTHS, plural=False).items()}
ORDINAL = {name: place + 1 for place, name in enumerate(_ORDINALS)} | {
    f"{number}{ending}": number
    for number in range(1, _DAYS + 1)
    for ending in ("st", "nd", "rd", "th")
}
NUMBER = {"a": 1, "an": 1} | {name: place + 1 for place, name in enumerate(_NUMBERS)}
SECONDS = {
    "second": 1,
    "sec": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
}
NAMED_TIMES = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}

_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm|a\.m\.|p\.m\.|h|o'clock)?")
_LAST_HOUR = 23
_LAST_MINUTE = 59
_NOON = 12


def clock(text: str) -> tuple[int, int] | None:
    """Hour and minute of `9`, `9:30`, `9am`, `17.15`, `noon`; None when it is no time of day."""
    if text in NAMED_TIMES:
        return NAMED_TIMES[text]
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").replace(".", "")
    if half in ("am", "pm"):
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if half == "pm" else 0)
    return (hour, minute) if hour <= _LAST_HOUR and minute <= _LAST_MINUTE else None


def count(text: str) -> int | None:
    """The number that a word or digits give; None for anything else."""
    if text.isascii() and text.isdigit() and len(text) <= _SHORTEST_NAME + 2:
        return int(text)
    return NUMBER.get(text)


def unit_seconds(text: str) -> int | None:
    """Seconds of a unit of time, singular or plural; None for anything else."""
    return SECONDS.get(text.removesuffix("s"))


def zone_named(text: str) -> str | None:
    """The zone of a city, or of a zone's own name, in any case; None when there is none.

    A city that several zones are named after is that of the shortest name, for the others are
    old spellings of it. Letters like EST are no zone here: whoever writes them in summer hardly
    means the time without daylight saving, which is what they stand for.
    """
    return _zones().get(text.strip().removesuffix(" time").replace("_", " "))


@cache
def _zones() -> dict[str, str]:
    found: dict[str, str] = {}
    for zone in sorted(zone_names(), key=lambda name: (len(name), name)):
        if zone.isupper() and zone not in _WHOLE_YEAR:
            continue
        spelled = zone.lower().replace("_", " ")
        found[spelled] = zone
        found.setdefault(spelled.rpartition("/")[2], zone)
    return found
