"""`every`: a fixed interval on the grid of its anchor (P1, SPEC section 5)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.errors import InvalidSchedule, NeverFires, TooFrequent
from nightshift.domain.model.schedule_input import parse_schedule
from nightshift.domain.model.spec import EverySchedule
from unit.schedule.expressions import STEADY
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, every, schedule
from unit.schedule.oracle import utc


def test_the_grid_begins_at_the_creation() -> None:
    """Section 5: the anchor is the creation, to the millisecond, unless one is given."""
    made = every(600, now=NOW + timedelta(microseconds=123_999))
    assert made.anchor == utc("2026-01-01T00:00:00.123")
    assert made.next_after(NOW) == utc("2026-01-01T00:00:00.123")
    assert made.next_after(made.anchor) == utc("2026-01-01T00:10:00.123")


def test_a_given_anchor_sets_the_grid_on_both_sides_of_it() -> None:
    """Section 5: the anchor is a point of the grid, not a beginning; `starts_at` is that."""
    made = schedule({"every_seconds": 3600, "anchor": "2026-06-01T00:20:00Z"})
    assert made.occurrences(NOW, 2) == (utc("2026-01-01T00:20"), utc("2026-01-01T01:20"))


def test_an_anchor_is_an_instant_with_an_offset() -> None:
    """Section 5: the grid goes through it."""
    made = schedule({"every_seconds": 86_400, "anchor": "2026-01-01T09:00:00-05:00"}, NEW_YORK)
    assert made.next_after(NOW) == utc("2026-01-01T14:00")


def test_the_interval_is_real_time_through_a_clock_change() -> None:
    """K9: arithmetic is in UTC; 24 hours are 24 hours."""
    made = schedule({"every_seconds": 86_400, "anchor": "2026-03-07T14:00:00Z"}, NEW_YORK)
    assert made.occurrences(utc("2026-03-07T13:00"), 3)[2] == utc("2026-03-09T14:00")


@settings(STEADY)
@given(
    seconds=st.integers(1, 10**7),
    after=st.integers(-(10**12), 10**12),
    span=st.integers(0, 10**9),
)
def test_next_and_folded_are_points_of_the_grid(seconds: int, after: int, span: int) -> None:
    """Section 5, P15: missed points are folded, by arithmetic and exactly."""
    made = every(seconds)
    base = NOW + timedelta(milliseconds=after)
    upcoming = made.next_after(base)
    assert upcoming is not None
    step = timedelta(seconds=seconds)
    assert (upcoming - made.anchor) % step == timedelta(0)
    assert base < upcoming <= base + step
    folded = made.folded(base, base + timedelta(milliseconds=span))
    assert folded.count == max(0, (base + timedelta(milliseconds=span) - upcoming) // step + 1)
    assert folded.through == (upcoming + (folded.count - 1) * step if folded.count else None)
    assert not folded.cut


def test_a_year_of_seconds_is_counted_at_once() -> None:
    """P15: nothing is walked."""
    folded = every(1).folded(NOW, NOW + timedelta(days=365))
    assert folded.count == 365 * 86_400


@pytest.mark.parametrize("seconds", [0, -5, 1.5, True, "600", None, [600], 3650 * 86_400 + 1])
def test_every_seconds_is_a_whole_number_up_to_ten_years(seconds: Any) -> None:
    """Section 7: no coercion; true is not 1."""
    with pytest.raises(InvalidSchedule):
        schedule({"every_seconds": seconds})


def test_an_interval_below_the_policy_is_too_frequent() -> None:
    """Section 5: from `min_every_seconds` up; the cron floor is another setting."""
    limits = Limits(min_every_seconds=300, min_interval_seconds=3600)
    every(300).ensure_launchable(NOW, limits)
    with pytest.raises(TooFrequent, match="300"):
        every(299).ensure_launchable(NOW, limits)


def test_the_same_length_sent_again_keeps_the_grid() -> None:
    """Editing rules: a form sent back unchanged moves nothing, another length begins anew."""
    before = every(600)
    later = utc("2026-05-05T05:05:05")
    again = parse_schedule({"every_seconds": 600}, zone="UTC", now=later, previous=before)
    assert again == before
    other = parse_schedule({"every_seconds": 900}, zone="UTC", now=later, previous=before)
    assert isinstance(other, EverySchedule)
    assert other.anchor == later


def test_the_grid_does_not_depend_on_the_zone() -> None:
    """Editing rules: another zone only shows the same instants differently."""
    made = every(600)
    moved = schedule(made.spec(), NEW_YORK)
    assert made.same_times_as(moved)
    assert moved.next_after(NOW) == made.next_after(NOW)


def test_the_end_of_the_calendar_is_an_end() -> None:
    """No overflow: after the last point there is none."""
    made = every(86_400)
    assert made.next_after(utc("9999-12-31T00:00")) is None
    with pytest.raises(NeverFires):
        made.ensure_launchable(utc("9999-12-31T00:00"), Limits())
