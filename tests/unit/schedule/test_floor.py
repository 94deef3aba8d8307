"""The floor: two occurrences closer than the policy allows, anywhere in the cycle (section 5)."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.errors import TooFrequent
from nightshift.domain.model.cron import parse_cron
from nightshift.domain.model.exclusions import NOTHING_EXCLUDED, parse_exclusions
from nightshift.domain.model.wall import WallRule
from nightshift.domain.model.wall_union import WallUnion
from unit.schedule.expressions import EXPRESSIONS, STEADY
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, schedule
from unit.schedule.oracle import Fields

DAY = 86_400


def gap_below(texts: tuple[str, ...], floor: int, times: tuple[str, ...] = ()) -> int | None:
    exclude = parse_exclusions({"times": list(times)}) if times else NOTHING_EXCLUDED
    return WallUnion(tuple(WallRule.of(parse_cron(t), exclude) for t in texts)).gap_below(floor)


@pytest.mark.parametrize(
    ("texts", "gap"),
    [
        (("* * * * *",), 60),
        (("*/7 * * * *",), 240),
        (("1,2,30 * * * *",), 60),
        (("0 9 * * *",), DAY),
        (("59 23 * * *", "0 0 * * *"), 60),
        (("59 23 31 12 *", "0 0 1 1 *"), 60),
        (("59 23 L * *", "0 0 1 * *"), 60),
        (("59 23 28 2 *", "0 0 1 3 *"), 60),
        (("59 23 29 2 *", "2 0 1 3 *"), 180),
        (("59 23 28 2 *", "2 0 29 2 *"), 180),
        (("59 23 * * 0", "1 0 * * 1"), 120),
        (("59 23 * * 0", "1 0 * * 2"), 24 * 3600 + 120),
        (("0 9 * * 1", "0 9 * * 1#1"), None),
        (("0 9 * * 1", "1 9 * * 1#1"), 60),
        (("0 9 31 * 1#5", "5 9 31 1 *"), 300),
        (("0 9,10 * * *",), 3600),
        (("0 0 1,L * *",), DAY),
        (("30 8 1 1 *",), None),
        (("0 9 13 * *", "0 9 * 2 5"), DAY),
    ],
)
def test_the_smallest_gap_is_found_wherever_it_lies(
    texts: tuple[str, ...], gap: int | None
) -> None:
    """Section 5: over midnight, month and year ends, leap days, and across a union."""
    assert gap_below(texts, 7 * DAY) == gap
    if gap is not None:
        assert gap_below(texts, gap) is None
        assert gap_below(texts, gap + 1) == gap


def test_a_floor_of_months_sees_leap_days_of_the_following_year() -> None:
    """Section 5: anywhere in the cycle, whatever an operator sets."""
    assert gap_below(("0 0 31 12 *", "0 0 29 2 *"), 100 * DAY) == 60 * DAY
    assert gap_below(("0 0 31 12 *", "0 0 1 3 *"), 100 * DAY) == 60 * DAY


def test_excluded_times_of_day_do_not_count() -> None:
    """What never fires is not close to anything."""
    assert gap_below(("0 9,12 * * *", "1 9 * * *"), 3600) == 60
    assert gap_below(("0 9,12 * * *", "1 9 * * *"), 3600, ("09:01-09:02",)) is None


def test_a_schedule_below_the_floor_may_not_be_submitted_but_goes_on() -> None:
    """Section 3: the floor binds at submission; re-planning does not ask."""
    made = schedule({"cron": "1,2,30 * * * *"})
    made.ensure_launchable(NOW, Limits(min_interval_seconds=60))
    with pytest.raises(TooFrequent, match="60 seconds apart; at least 300 are required"):
        made.ensure_launchable(NOW, Limits(min_interval_seconds=300))
    assert made.next_after(NOW) is not None


@pytest.mark.parametrize(
    ("text", "floor"),
    [("0 9 * * *", DAY), ("0 * * * *", 3600), ("30 2 * * *", DAY), ("0 2,3 * * *", 3600)],
)
def test_a_clock_change_makes_no_healthy_schedule_too_frequent(text: str, floor: int) -> None:
    """Section 5: the floor is of the wall clock's cycle; 23 hours between two days are healthy."""
    made = schedule({"cron": text}, NEW_YORK)
    made.ensure_launchable(NOW, Limits(min_interval_seconds=floor))
    with pytest.raises(TooFrequent):
        made.ensure_launchable(NOW, Limits(min_interval_seconds=floor + 1))


@settings(STEADY, max_examples=15)
@given(texts=st.lists(EXPRESSIONS, min_size=1, max_size=2), days=st.integers(1, 3))
def test_the_smallest_gap_equals_that_of_28_walked_years(texts: list[str], days: int) -> None:
    """Section 5: 28 years hold every weekday of every date, leap days too."""
    fields = [(Fields(text), parse_cron(text).times) for text in texts]
    start = datetime(2000, 1, 1)  # noqa: DTZ001
    smallest, last, seen = 10**9, -(10**9), set()
    for number in range(28 * 365 + 8):
        day = start + timedelta(days=number)
        matching = tuple(times for field, times in fields if field.match_day(day))
        if matching:
            named = sorted(set().union(*matching)) if matching not in seen else None
            if named:
                gaps = (later - earlier for earlier, later in pairwise(named))
                smallest = min(smallest, *gaps, 10**9)
                seen.add(matching)
            first = number * 1440 + min(times[0] for times in matching)
            smallest = min(smallest, first - last)
            last = number * 1440 + max(times[-1] for times in matching)
    seconds = smallest * 60
    assert gap_below(tuple(texts), days * DAY) == (seconds if seconds < days * DAY else None)
