"""`once` and `after_seconds`: one instant, strictly read (P1, P10, SPEC section 5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from nightshift.domain.errors import InvalidSchedule, NotInFuture
from nightshift.domain.model.spec import OnceSchedule
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, schedule
from unit.schedule.oracle import utc


def once(text: object, zone: str = NEW_YORK) -> datetime:
    made = schedule({"once": text}, zone)
    assert isinstance(made, OnceSchedule)
    return made.at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-01T09:00:00", "2026-07-01T13:00"),
        ("2026-12-01T09:00:00.250", "2026-12-01T14:00:00.250"),
        ("2026-07-01T09:00:00Z", "2026-07-01T09:00"),
        ("2026-07-01T09:00:00+08:00", "2026-07-01T01:00"),
        ("2026-11-01T01:30:00", "2026-11-01T05:30"),
        ("2026-11-01T01:30:00-05:00", "2026-11-01T06:30"),
        ("2026-03-08T01:59:59.999", "2026-03-08T06:59:59.999"),
        ("2026-03-08T03:00:00", "2026-03-08T07:00"),
    ],
)
def test_a_single_time_is_the_utc_instant_it_names(text: str, expected: str) -> None:
    """Section 5: with its offset, or local in the zone; of two the earlier."""
    assert once(text) == utc(expected)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2026-03-08T02:30:00", NEW_YORK),
        ("2026-03-08T02:00:00", NEW_YORK),
        ("2026-10-04T02:15:00", "Australia/Lord_Howe"),
        ("2026-04-24T00:00:00", "Africa/Cairo"),
        ("2011-12-30T12:00:00", "Pacific/Apia"),
    ],
)
def test_a_local_time_that_does_not_exist_is_refused(text: str, zone: str) -> None:
    """Section 5: refused, never shifted in silence."""
    with pytest.raises(InvalidSchedule, match="does not exist") as refused:
        once(text, zone)
    assert refused.value.field == "schedule_spec.once"


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-01",
        "2026-07-01T09:00",
        "2026-07-01 09:00:00",
        "2026-07-01T09:00:00+0800",
        "tomorrow",
        "",
        "9999-12-31T00:00:00Z",
        "9999-12-31T23:59:59",
        "0001-01-01T00:00:00",
        "0001-01-01T00:00:00Z",
        1782900000,
        None,
        True,
    ],
    ids=repr,
)
def test_other_forms_are_refused(text: object) -> None:
    """Section 5: nothing is guessed, and nothing outside the calendar is stored."""
    with pytest.raises(InvalidSchedule):
        once(text)


def test_after_seconds_is_a_way_to_write_a_single_time() -> None:
    """P1: so many seconds from now, to the millisecond."""
    now = NOW + timedelta(microseconds=1_234_567)
    made = schedule({"after_seconds": 90}, now=now)
    assert isinstance(made, OnceSchedule)
    assert made.at == utc("2026-01-01T00:01:31.234")
    assert made.spec() == {"once": "2026-01-01T00:01:31.234Z"}


@pytest.mark.parametrize("seconds", [0, -1, 1.5, True, "90", None, 3650 * 86_400 + 1, 10**30])
def test_after_seconds_is_a_whole_number_up_to_ten_years(seconds: Any) -> None:
    """Section 7: no coercion; true is not 1."""
    with pytest.raises(InvalidSchedule):
        schedule({"after_seconds": seconds})


def test_after_seconds_past_the_end_of_the_calendar_is_refused() -> None:
    """No overflow reaches the user."""
    with pytest.raises(InvalidSchedule):
        schedule({"after_seconds": 86_400 * 30}, now=utc("9999-12-30T00:00"))


def test_a_single_time_is_next_until_it_has_come() -> None:
    """Section 3: next_after serves re-planning and knows no minimum delay."""
    made = schedule({"once": "2026-01-01T00:00:10Z"})
    assert made.next_after(NOW) == utc("2026-01-01T00:00:10")
    assert made.next_after(utc("2026-01-01T00:00:09.999")) == utc("2026-01-01T00:00:10")
    assert made.next_after(utc("2026-01-01T00:00:10")) is None
    assert made.occurrences(NOW, 3) == (utc("2026-01-01T00:00:10"),)
    assert not made.recurring


def test_the_minimum_delay_binds_only_at_submission() -> None:
    """P10: exactly the delay is enough, a millisecond less is not."""
    limits = Limits(min_once_delay_seconds=60)
    at = utc("2026-01-01T00:01:00")
    made = schedule({"once": "2026-01-01T00:01:00Z"})
    made.ensure_launchable(at - timedelta(seconds=60), limits)
    late = at - timedelta(seconds=59, milliseconds=999)
    with pytest.raises(NotInFuture, match="60 seconds"):
        made.ensure_launchable(late, limits)
    assert made.next_after(late) == at


def test_bounds_do_not_go_with_a_single_time() -> None:
    """Section 5: starts_at, ends_at and max_runs bound recurring kinds."""
    with pytest.raises(InvalidSchedule, match="recurring"):
        schedule({"once": "2026-07-01T09:00:00Z"}, max_runs=1)
