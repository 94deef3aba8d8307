"""Text for a terminal: times people read, and other people's words made harmless."""

import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from nightshift.domain.model.instants import parse_instant

_SAFE_CONTROLS = "\n\t"
_SPOOFING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
"""Characters that change the direction of the text after them."""
_TENTHS_BELOW = 10
_SECONDS_BELOW = 100


def printable(text: str) -> str:
    """The text with everything that could steer a terminal replaced by U+FFFD."""
    return "".join(
        "\ufffd" if _steers(character) else character for character in text.replace("\r\n", "\n")
    )


def _steers(character: str) -> bool:
    if character in _SPOOFING:
        return True
    return unicodedata.category(character) in ("Cc", "Cs") and character not in _SAFE_CONTROLS


def one_line(text: str) -> str:
    """The first line that says anything, printable."""
    return printable(next((line.strip() for line in text.splitlines() if line.strip()), ""))


def local_time(instant: str, zone: tzinfo | None = None) -> str:
    """A stored instant as `Mon 2026-01-05 09:00` in the zone, by default this machine's."""
    moment = parse_instant(instant).astimezone(zone)
    return moment.strftime("%a %Y-%m-%d %H:%M" + (":%S" if moment.second else ""))


def in_zone(instant: str, zone: str) -> str:
    """A stored instant in a named zone, with the name; in UTC if the name is not known here."""
    try:
        return f"{local_time(instant, ZoneInfo(zone))} {zone}"
    except (KeyError, ValueError, OSError):
        return f"{local_time(instant, UTC)} UTC"


def relative(instant: str, now: datetime) -> str:
    """How far a stored instant is from now: `in 2 h 5 min`, `3 min ago`, `now`."""
    distance = parse_instant(instant) - now
    if abs(distance) < timedelta(seconds=1):
        return "now"
    words = span(abs(distance).total_seconds())
    return f"in {words}" if distance > timedelta(0) else f"{words} ago"


def span(seconds: float) -> str:
    """A length of time in its two largest units, as `70 s`, `2 h 5 min` or `3 d`."""
    tenths, whole = round(seconds, 1), round(seconds)
    if tenths < _TENTHS_BELOW:
        return f"{tenths:g} s"
    if whole < _SECONDS_BELOW:
        return f"{whole} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "min")]
    largest = next(index for index, (count, _) in enumerate(units) if count)
    return " ".join(f"{count} {unit}" for count, unit in units[largest : largest + 2] if count)
