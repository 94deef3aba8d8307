"""Time zones from the pinned tzdata package, never from the host's files (SPEC section 5).

A zone is seen here as a row of stretches of constant offset; the calendar computes in whole seconds
on them. Wall-clock seconds are UTC seconds plus the offset, counted from 1970-01-01T00:00.
"""

import zoneinfo
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]

from nightshift.domain.errors import InvalidTimeZone
from nightshift.domain.model.instants import EPOCH

# The host's zone files may be older than the package and would win over it; emptied here, where
# every zone of the project is loaded, so that no other place can forget it.
zoneinfo.reset_tzpath(())

MAX_NAME: Final = 64
"""Longest zone name, in characters, that is looked up."""

DAY: Final = 86_400
LAST_SECOND: Final = int((datetime(9999, 12, 30, tzinfo=UTC) - EPOCH).total_seconds())
"""Last UTC second the calendar answers with: one that every zone can still show in year 9999."""

FIRST_SECOND: Final = int((datetime(1, 1, 3, tzinfo=UTC) - EPOCH).total_seconds())
"""First UTC second the calendar looks at."""

_HOST_DEPENDENT: Final = frozenset({"localtime", "posixrules", "Factory"})
_CHUNK: Final = 31_556_952  # one mean year: the piece of a zone that is computed and kept at a time
_PROBE: Final = 5 * DAY  # no zone has kept an offset for less than 6.9 days
_LOOK_BACK: Final = 2 * DAY  # longer than any repeated wall clock lasts
_KEPT_CHUNKS: Final = 512


class Stretch(NamedTuple):
    """A span of constant offset; cut at arbitrary places too, where nothing changes."""

    start: int
    """First UTC second."""
    end: int
    """First UTC second that no longer belongs to it."""
    offset: int
    """Seconds that the wall clock is ahead of UTC."""
    reached: int
    """Wall second that the clock had reached before `start`; below `start + offset` there is a gap
    of skipped wall clock, above it the wall clock repeats up to here."""


@dataclass(frozen=True, slots=True)
class WallTime:
    """Where a wall-clock time lies in UTC: once, never, or twice."""

    kind: Literal["ordinary", "gap", "overlap"]
    first: datetime | None
    """The instant, or the earlier of two; None in a gap."""
    second: datetime | None
    """The later of two; None otherwise."""


class Stretches:
    """The stretches of one zone, computed a year at a time and kept."""

    def __init__(self, info: tzinfo) -> None:
        self._info = info
        self._chunks: dict[int, tuple[list[int], list[Stretch]]] = {}

    def at(self, second: int) -> Stretch:
        """Give the stretch that contains a UTC second; outside the years 1 to 9999 the nearest
        known offset goes on."""
        chunk = self._chunks.get(second // _CHUNK)
        if chunk is None:
            chunk = self._computed(second // _CHUNK)
        return chunk[1][bisect_right(chunk[0], second) - 1]

    def may_change_around(self, second: int) -> bool:
        """Tell cheaply whether the offset could change within two days of a UTC second."""
        return self._offset(second - 2 * DAY) != self._offset(second + 2 * DAY)

    def changes(self, start: int, end: int) -> Iterator[int]:
        """Yield the UTC seconds in [start, end) at which the offset changes."""
        stretch = self.at(start)
        while stretch.end < end:
            following = self.at(stretch.end)
            if following.offset != stretch.offset:
                yield following.start
            stretch = following

    def _computed(self, number: int) -> tuple[list[int], list[Stretch]]:
        first, last = number * _CHUNK, (number + 1) * _CHUNK
        stretches: list[Stretch] = []
        start, offset = first - _LOOK_BACK, self._offset(first - _LOOK_BACK)
        reached = start + offset
        for change in [*self._probed(start, last), last]:
            if change > first:
                begin = max(start, first)
                here = reached if begin == start else max(reached, begin + offset)
                stretches.append(Stretch(begin, change, offset, here))
            reached = max(reached, change + offset)
            start, offset = change, self._offset(change)
        if len(self._chunks) >= _KEPT_CHUNKS:
            self._chunks.clear()
        chunk = ([stretch.start for stretch in stretches], stretches)
        self._chunks[number] = chunk
        return chunk

    def _probed(self, start: int, end: int) -> Iterator[int]:
        low, before = start, self._offset(start)
        while low < end:
            high = min(low + _PROBE, end - 1)
            if high == low:
                return
            after = self._offset(high)
            if after != before:
                yield self._change(low, high, before)
            low, before = high, after

    def _change(self, low: int, high: int, before: int) -> int:
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(middle) == before:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, second: int) -> int:
        known = min(max(second, FIRST_SECOND), LAST_SECOND)
        shift = datetime.fromtimestamp(known, self._info).utcoffset()
        if shift is None:
            raise InvalidTimeZone
        return shift.days * DAY + shift.seconds


@cache
def zone_names() -> frozenset[str]:
    """Give every zone name that a schedule may use, from the pinned package (SPEC section 5)."""
    return frozenset(zoneinfo.available_timezones() - _HOST_DEPENDENT)


def load_zone(name: str) -> ZoneInfo:
    """Give the zone of a name, from the pinned package.

    Raises InvalidTimeZone for every other value, whatever zoneinfo would say of it.
    """
    if not isinstance(name, str) or len(name) > MAX_NAME or name not in zone_names():
        raise InvalidTimeZone(field="timezone")
    return _loaded(name)


def zone_stretches(name: str) -> Stretches:
    """Give the stretches of constant offset of a zone. Raises InvalidTimeZone."""
    load_zone(name)
    return _stretches(name)


def tzdata_version() -> str:
    """Give the version of the zone rules in use, like `2026a`, to be stamped on what they said."""
    return str(tzdata.IANA_VERSION)


def local_to_utc(wall: datetime, zone: str) -> WallTime:
    """Place a naive wall-clock time in a zone: once, in a gap, or twice (SPEC section 5).

    Raises InvalidTimeZone for the zone and ValueError for an aware time.
    """
    if wall.tzinfo is not None:
        raise ValueError("a wall-clock time is naive")
    info = load_zone(zone)
    earlier = wall.replace(tzinfo=info, fold=0).utcoffset() or timedelta()
    later = wall.replace(tzinfo=info, fold=1).utcoffset() or timedelta()
    if earlier < later:
        return WallTime("gap", None, None)
    first = (wall - earlier).replace(tzinfo=UTC)
    if earlier == later:
        return WallTime("ordinary", first, None)
    return WallTime("overlap", first, (wall - later).replace(tzinfo=UTC))


@cache
def _loaded(name: str) -> ZoneInfo:
    # no_cache: an entry of zoneinfo's own cache may be older than the emptied search path.
    return ZoneInfo.no_cache(name)


@cache
def _stretches(name: str) -> Stretches:
    return Stretches(_loaded(name))
