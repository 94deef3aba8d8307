"""The calendar against an oracle that walks every minute of UTC (P9, SPEC section 5)."""

from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.model.folding import folded_fires
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.zones import zone_names, zone_stretches
from unit.schedule.expressions import DAILY, EXPRESSIONS, STEADY
from unit.schedule.making import calendar, fires
from unit.schedule.oracle import fires as oracle_fires
from unit.schedule.oracle import first_by_days, next_fires, utc, walk

FIRST, LAST = utc("2010-01-01T00:00"), utc("2042-01-01T00:00")
AROUND = [
    "*/7 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "*/20 1 * * *",
    "0 0 * * *",
    "15 0,1,2,3,23 * * *",
    "0 */2 * * *",
    "45 23 * * 6",
    "* 2-23 L * 0#5",
    "30 1 * * 7",
]
LIVELY = [
    "America/New_York",
    "America/St_Johns",
    "Europe/Dublin",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Gaza",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "America/Nuuk",
    "Antarctica/Troll",
    "UTC",
]


def changes(zone: str) -> list[datetime]:
    start, end = (int((limit - EPOCH).total_seconds()) for limit in (FIRST, LAST))
    found = zone_stretches(zone).changes(start, end)
    return [EPOCH + timedelta(seconds=second) for second in found]


@pytest.mark.parametrize("part", range(8))
def test_every_zone_agrees_with_the_oracle_around_a_change(part: int) -> None:
    """P9: all 598 zones, each around one of its changes of 2010 to 2041, fires and their number."""
    wrong = []
    for zone in sorted(zone_names())[part::8]:
        chance = Random(zone)  # noqa: S311
        change = chance.choice(changes(zone) or [utc("2027-03-28T00:00")])
        start = change.replace(second=0) - timedelta(hours=15)
        end = start + timedelta(hours=42)
        minutes = walk(zone, start - timedelta(days=1), end)
        for text in chance.sample(AROUND, 3):
            expected = [fire for fire in oracle_fires(text, minutes) if fire > start]
            found = calendar(text, zone=zone)
            count = folded_fires(found, start, end - timedelta(minutes=1)).count
            if fires(found, start, len(expected)) != expected or count != len(expected):
                wrong.append((zone, text, start))
    assert wrong == []


@settings(STEADY, max_examples=60)
@given(
    text=EXPRESSIONS,
    zone=st.sampled_from(LIVELY),
    place=st.randoms(use_true_random=False),
    seconds=st.integers(-2 * 86_400, 2 * 86_400),
)
def test_any_expression_agrees_with_the_oracle(
    text: str, zone: str, place: Random, seconds: int
) -> None:
    """P9: the next two times, asked anywhere around a change."""
    change = place.choice(changes(zone) or [FIRST])
    after = change + timedelta(seconds=seconds)
    expected = next_fires(text, zone, after, 2, days=3)
    found = fires(calendar(text, zone=zone), after, 2)
    assert found[: len(expected)] == expected
    horizon = after + timedelta(days=3)
    assert all(fire >= horizon for fire in found[len(expected) :])


@settings(STEADY, max_examples=100)
@given(
    text=EXPRESSIONS,
    zone=st.sampled_from(LIVELY),
    after=st.datetimes(datetime(2010, 1, 1), datetime(2099, 1, 1)),  # noqa: DTZ001
)
def test_a_far_answer_agrees_with_a_walk_over_local_days(
    text: str, zone: str, after: datetime
) -> None:
    """P9: months, leap years and decades, and the wall clock placed in UTC another way."""
    base = after.replace(tzinfo=FIRST.tzinfo)
    assert calendar(text, zone=zone).next_after(base) == first_by_days(text, zone, base, 45)


@settings(STEADY, max_examples=150)
@given(
    text=EXPRESSIONS,
    zone=st.sampled_from(sorted(zone_names())),
    after=st.datetimes(datetime(1970, 1, 2), datetime(2150, 1, 1)),  # noqa: DTZ001
    back=st.integers(1, 10**8),
)
def test_next_is_strictly_later_and_the_first(
    text: str, zone: str, after: datetime, back: int
) -> None:
    """Section 5: strictly later; asked from anywhere before it without a fire between, the same."""
    base = after.replace(tzinfo=utc("2026-01-01T00:00").tzinfo)
    found = calendar(text, zone=zone)
    first = found.next_after(base)
    assert first is not None
    assert first > base
    assert found.next_after(first - timedelta(milliseconds=1)) == first
    between = base + (first - base) * (back / 10**8) - timedelta(milliseconds=1)
    assert found.next_after(max(base, between)) == first
    second = found.next_after(first)
    assert second is None or second > first


@settings(STEADY, max_examples=40)
@given(
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    zone=st.sampled_from(LIVELY[:9]),
    place=st.randoms(use_true_random=False),
)
def test_a_fixed_time_fires_exactly_once_per_local_day(
    hour: int, minute: int, zone: str, place: Random
) -> None:
    """Section 5: neither lost in a gap nor doubled in an overlap."""
    start = place.choice(changes(zone)) - timedelta(days=2)
    found = fires(calendar(f"{minute} {hour} * * *", zone=zone), start, 5)
    steps = [later - earlier for earlier, later in pairwise(found)]
    assert all(timedelta(hours=22) <= step <= timedelta(hours=26) for step in steps)
    offsets = zone_stretches(zone)
    days = {
        (second + offsets.at(second).offset) // 86_400
        for second in (int((fire - EPOCH).total_seconds()) for fire in found)
    }
    assert len(days) >= 4  # a fire moved over midnight shares its day with the next one


@settings(STEADY, max_examples=60)
@given(
    text=DAILY,
    zone=st.sampled_from(LIVELY[:9]),
    after=st.datetimes(datetime(2012, 1, 1), datetime(2041, 1, 1)),  # noqa: DTZ001
)
def test_what_fires_on_every_day_is_never_silent_for_more_than_two(
    text: str, zone: str, after: datetime
) -> None:
    """No change of the clock sends the next time into another year."""
    base = after.replace(tzinfo=FIRST.tzinfo)
    upcoming = calendar(text, zone=zone).next_after(base)
    assert upcoming is not None
    assert upcoming - base <= timedelta(hours=49)


@settings(STEADY, max_examples=30)
@given(minutes=st.sampled_from([1, 5, 15, 30]), zone=st.sampled_from(LIVELY), place=st.randoms())
def test_an_interval_keeps_its_real_cadence_through_every_change(
    minutes: int, zone: str, place: Random
) -> None:
    """Section 5: real time between fires, whatever the wall clock does."""
    start = place.choice(changes(zone) or [FIRST]) - timedelta(hours=3)
    found = fires(calendar(f"*/{minutes} * * * *", zone=zone), start, 6 * 60 // minutes)
    steps = {later - earlier for earlier, later in pairwise(found)}
    assert steps == {timedelta(minutes=minutes)}
