"""Instants: the one stored format and the strict readers of what people write (K9, SPEC section 5).

Stored times are UTC text of one fixed width with milliseconds, so that text order is time order.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeGuard

from nightshift.domain.errors import InvalidSchedule

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)
MAX_TEXT: Final = 64
"""Longest text, in characters, that is read as a time."""

_STORED: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", re.ASCII
)
_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_LOCAL: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{3}))?",
    re.ASCII,
)
_LAST_HOUR: Final = 23
_LAST_MINUTE: Final = 59


def require_utc(instant: datetime) -> None:
    """Refuse every datetime that is not aware in `datetime.UTC` itself (K9).

    A fixed offset or a zoned value would carry wall-clock arithmetic into a place that counts real
    seconds. Raises ValueError.
    """
    if instant.tzinfo is not UTC:
        raise ValueError("an instant is an aware datetime in UTC")


def truncate(instant: datetime) -> datetime:
    """Cut a UTC instant down to whole milliseconds, which is what the table can hold (K9)."""
    require_utc(instant)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def to_milliseconds(instant: datetime) -> int:
    """Count the whole milliseconds from 1970-01-01T00:00Z to a UTC instant, rounding down."""
    require_utc(instant)
    return (instant - EPOCH) // MILLISECOND


def from_milliseconds(milliseconds: int) -> datetime:
    """Give the UTC instant that lies so many milliseconds after 1970-01-01T00:00Z."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def format_instant(instant: datetime) -> str:
    """Write a UTC instant as `YYYY-MM-DDTHH:MM:SS.mmmZ`, truncated to milliseconds (K9).

    Raises ValueError for anything but an aware datetime in UTC.
    """
    require_utc(instant)
    # isoformat pads the year to four digits, which strftime does not do on every platform.
    return instant.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> datetime:
    """Read what `format_instant` wrote, and nothing else (K9).

    Raises ValueError for any other form, also for other valid spellings of the same time.
    """
    if not isinstance(text, str) or _STORED.fullmatch(text) is None:
        raise ValueError("a stored instant is written YYYY-MM-DDTHH:MM:SS.mmmZ")
    return datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC)


def parse_rfc3339(text: object, *, field: str | None = None) -> datetime:
    """Read an RFC 3339 time with its offset as a UTC instant, truncated to milliseconds.

    The grammar is RFC 3339's own: a full date, `T` (or `t`), seconds, an optional fraction of any
    length, and `Z` (or `z`) or an offset with a colon. `-00:00` is UTC. A leap second (`:60`) is
    refused: no clock here can be asked to show it. `field` names the request field in the error.
    Raises InvalidSchedule.
    """
    match = _RFC3339.fullmatch(text) if is_time_text(text) else None
    if match is None:
        raise InvalidSchedule(
            "the time must be RFC 3339 with an offset, like 2026-03-08T09:00:00Z", field=field
        )
    year, month, day, hour, minute, second, fraction, sign, *offset = match.groups()
    local = _built((year, month, day, hour, minute, second), fraction, field)
    if sign is None:
        return local.replace(tzinfo=UTC)
    hours, minutes = int(offset[0]), int(offset[1])
    if hours > _LAST_HOUR or minutes > _LAST_MINUTE:
        raise InvalidSchedule("the offset must lie between -23:59 and +23:59", field=field)
    shift = timedelta(hours=hours, minutes=minutes)
    try:
        return (local + shift if sign == "-" else local - shift).replace(tzinfo=UTC)
    except OverflowError:
        raise InvalidSchedule("the time lies outside the calendar", field=field) from None


def parse_local(text: object, *, field: str | None = None) -> datetime:
    """Read `YYYY-MM-DDTHH:MM:SS[.mmm]` as a naive wall-clock time, to be placed in a zone.

    `field` names the request field in the error. Raises InvalidSchedule.
    """
    match = _LOCAL.fullmatch(text) if is_time_text(text) else None
    if match is None:
        raise InvalidSchedule(
            "the local time must be written YYYY-MM-DDTHH:MM:SS or YYYY-MM-DDTHH:MM:SS.mmm",
            field=field,
        )
    *parts, fraction = match.groups()
    return _built(tuple(parts), fraction, field)


def is_time_text(text: object) -> TypeGuard[str]:
    """Tell whether a value is text short enough to be read as a time."""
    return isinstance(text, str) and len(text) <= MAX_TEXT


def has_offset(text: str) -> bool:
    """Tell whether a time is written with an offset, so that it needs no zone to be placed."""
    return text[-1:] in ("Z", "z") or text[-6:-5] in ("+", "-")


def _built(parts: tuple[str, ...], fraction: str | None, field: str | None) -> datetime:
    year, month, day, hour, minute, second = (int(part) for part in parts)
    microsecond = int((fraction or "0")[:3].ljust(3, "0")) * 1000
    try:
        return datetime(year, month, day, hour, minute, second, microsecond)  # noqa: DTZ001
    except ValueError:
        raise InvalidSchedule("there is no such date or time of day", field=field) from None
