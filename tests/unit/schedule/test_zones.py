"""Which zones there are, where they come from, and when they change (SPEC section 5)."""

import struct
import zoneinfo
from datetime import datetime, timedelta, tzinfo
from importlib.resources import files

import pytest

from nightshift.domain.errors import InvalidTimeZone
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.zones import (
    LAST_SECOND,
    Stretches,
    load_zone,
    local_to_utc,
    tzdata_version,
    zone_names,
    zone_stretches,
)
from unit.schedule.making import NEW_YORK
from unit.schedule.oracle import utc

HOSTILE = [
    "",
    ".",
    "..",
    "/etc/localtime",
    "../etc/passwd",
    "\x00",
    "UTC\x00",
    "tzone://Microsoft/Custom",
    "leapseconds",
    "zone.tab",
    "tzdata.zi",
    "Europe//Paris",
    " UTC",
    "UTC ",
    "utc",
    "europe/paris",
    "UTC+3",
    "+02:00",
    "America",
    "US",
    "Pacific",
    "America/New_Yrok",
    "localtime",
    "posixrules",
    "Factory",
    "posix/UTC",
    "right/UTC",
    "A" * 300,
    "Europe/Paris\n",
    None,
    5,
    True,
    b"UTC",
    ["UTC"],
]


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_every_other_name_is_refused_in_one_way(name: object) -> None:
    """Section 5: whatever zoneinfo would raise, and names whose meaning the host decides."""
    with pytest.raises(InvalidTimeZone) as refused:
        load_zone(name)  # type: ignore[arg-type]
    assert refused.value.field == "timezone"
    assert "Microsoft" not in refused.value.message


def test_the_names_are_those_of_the_pinned_package() -> None:
    """Section 5: never the host's files."""
    listed = (files("tzdata") / "zones").read_text().split()
    assert zone_names() == set(listed) - {"localtime", "posixrules", "Factory"}
    assert len(zone_names()) > 590
    assert zoneinfo.TZPATH == ()


def test_the_version_of_the_rules_is_the_packages() -> None:
    """The stamp on a task names the rules that planned it."""
    assert tzdata_version()[:4].isdecimal()
    assert tzdata_version()[4:].isalpha()


def explicit_changes(name: str) -> list[int]:
    """The changes of offset that a zone's file lists, read from its bytes (RFC 8536)."""
    data = (files("tzdata") / "zoneinfo").joinpath(name).read_bytes()
    counts = struct.unpack(">6l", data[20:44])
    utc_count, std_count, leap_count, time_count, type_count, char_count = counts
    skip = time_count * 5 + type_count * 6 + char_count + leap_count * 8 + std_count + utc_count
    _, _, _, time_count, type_count, _ = struct.unpack(">6l", data[64 + skip : 88 + skip])
    at = 88 + skip
    times = struct.unpack(f">{time_count}q", data[at : at + 8 * time_count])
    kinds = data[at + 8 * time_count : at + 9 * time_count]
    types = at + 9 * time_count
    offsets = [struct.unpack(">l", data[types + 6 * n : types + 6 * n + 4])[0] for n in kinds]
    return [
        later
        for later, before, after in zip(times[1:], offsets, offsets[1:], strict=False)
        if before != after
    ]


def test_every_change_of_every_zone_is_found() -> None:
    """Section 5: probing every few days misses no stretch, however short."""
    start = 0
    wrong, seen = [], set()
    for name in sorted(zone_names()):
        listed = [second for second in explicit_changes(name) if second > start + 86_400]
        if not listed or tuple(listed) in seen:
            continue
        seen.add(tuple(listed))
        if list(zone_stretches(name).changes(start + 86_400, listed[-1] + 1)) != listed:
            wrong.append(name)
    assert wrong == []
    assert len(seen) > 200


@pytest.mark.parametrize("zone", [NEW_YORK, "Africa/Casablanca", "Pacific/Apia", "Asia/Kathmandu"])
def test_stretches_follow_each_other_without_a_hole(zone: str) -> None:
    """Every second belongs to exactly one stretch, with the offset that zoneinfo shows."""
    stretches, info = zone_stretches(zone), load_zone(zone)
    second = int((utc("2009-12-30T00:00") - EPOCH).total_seconds())
    stretch = stretches.at(second)
    while stretch.start < second + 4 * 366 * 86_400:
        assert stretch.start < stretch.end
        for inside in (stretch.start, stretch.end - 1):
            shown = (EPOCH + timedelta(seconds=inside)).astimezone(info).utcoffset()
            assert shown == timedelta(seconds=stretch.offset)
        following = stretches.at(stretch.end)
        assert following.start == stretch.end
        reached = stretch.end + stretch.offset
        assert following.reached >= reached
        stretch = following


class TurnedBack(tzinfo):
    """A zone whose clock is turned back by an hour at one UTC second."""

    def __init__(self, second: int) -> None:
        self._change = (EPOCH + timedelta(seconds=second)).replace(tzinfo=None)

    def utcoffset(self, when: datetime | None) -> timedelta:
        """Never asked for a wall time here."""
        assert when is not None
        return self._offset(when.replace(tzinfo=None) - timedelta(hours=1 - when.fold))

    def dst(self, when: datetime | None) -> None:
        """Not told."""
        return

    def tzname(self, when: datetime | None) -> None:
        """Not told."""
        return

    def fromutc(self, when: datetime) -> datetime:
        """Exact on both sides of the change."""
        offset = self._offset(when.replace(tzinfo=None))
        return (when + offset).replace(fold=0 if offset else 1)

    def _offset(self, moment: datetime) -> timedelta:
        return timedelta(hours=1 if moment < self._change else 0)


@pytest.mark.parametrize("place", [0, 1, 1800, 3599, 3600, 86_400])
def test_a_repeated_hour_is_known_wherever_the_computed_years_are_cut(place: int) -> None:
    """A zone is computed a year at a time; what the first pass had reached is not forgotten."""
    cut = zone_stretches("UTC").at(int(utc("2026-06-01T00:00").timestamp())).end
    change = cut - place
    stretches = Stretches(TurnedBack(change))
    before, after = stretches.at(change - 1), stretches.at(change)
    assert (before.offset, after.offset, before.end, after.start) == (3600, 0, change, change)
    last_repeated = stretches.at(change + 3599)
    assert last_repeated.reached == change + 3600
    assert stretches.at(change + 7200).reached >= change + 3600


def test_the_last_stretch_of_the_calendar_can_be_asked() -> None:
    """No year overflows."""
    assert zone_stretches("Pacific/Kiritimati").at(LAST_SECOND).offset == 14 * 3600
    assert zone_stretches("Pacific/Niue").at(LAST_SECOND + 10**9).offset == -11 * 3600


@pytest.mark.parametrize(
    ("wall", "kind", "first", "second"),
    [
        ("2026-07-01T09:00", "ordinary", "2026-07-01T13:00", None),
        ("2026-03-08T02:30", "gap", None, None),
        ("2026-03-08T02:00", "gap", None, None),
        ("2026-03-08T03:00", "ordinary", "2026-03-08T07:00", None),
        ("2026-11-01T01:30", "overlap", "2026-11-01T05:30", "2026-11-01T06:30"),
        ("2026-11-01T01:00", "overlap", "2026-11-01T05:00", "2026-11-01T06:00"),
        ("2026-11-01T02:00", "ordinary", "2026-11-01T07:00", None),
        ("2026-11-01T00:59", "ordinary", "2026-11-01T04:59", None),
    ],
)
def test_a_wall_time_lies_in_utc_once_never_or_twice(
    wall: str, kind: str, first: str | None, second: str | None
) -> None:
    """Section 5: gap and overlap are told apart by the offsets before and after."""
    placed = local_to_utc(datetime.fromisoformat(wall), NEW_YORK)
    assert placed.kind == kind
    assert placed.first == (utc(first) if first else None)
    assert placed.second == (utc(second) if second else None)


def test_an_aware_time_is_no_wall_time() -> None:
    """K9: what has an offset is not placed a second time."""
    with pytest.raises(ValueError, match="naive"):
        local_to_utc(utc("2026-01-01T00:00"), NEW_YORK)
