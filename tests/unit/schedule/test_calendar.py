"""The next time of a cron schedule in a zone (P9, SPEC section 5)."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from unit.schedule.making import NEW_YORK, calendar, fires
from unit.schedule.oracle import utc


def answers(text: str, zone: str, after: str, count: int) -> list[str]:
    found = fires(calendar(text, zone=zone), utc(after), count)
    return [f"{instant:%Y-%m-%dT%H:%M}" for instant in found]


def test_nine_in_new_york_is_an_hour_later_in_utc_in_winter() -> None:
    """P9: the zone's wall clock decides, not an offset."""
    assert answers("0 9 * * *", NEW_YORK, "2026-03-06T15:00", 3) == [
        "2026-03-07T14:00",
        "2026-03-08T13:00",
        "2026-03-09T13:00",
    ]


def test_a_fixed_time_in_the_gap_is_due_at_the_first_instant_after_it() -> None:
    """Section 5, gap: due once, right after it, and the next day at its own time."""
    assert answers("30 2 * * *", NEW_YORK, "2026-03-07T17:00", 2) == [
        "2026-03-08T07:00",
        "2026-03-09T06:30",
    ]
    assert answers("30 2 * * *", NEW_YORK, "2026-03-08T06:30", 1) == ["2026-03-08T07:00"]


def test_many_fixed_times_in_the_gap_are_due_once() -> None:
    """Section 5, gap: once however many skipped times match."""
    assert answers("*/10 2 * * *", NEW_YORK, "2026-03-08T06:00", 2) == [
        "2026-03-08T07:00",
        "2026-03-09T06:00",
    ]


def test_an_interval_is_not_due_in_the_gap_and_goes_on_with_the_next_existing_minute() -> None:
    """Section 5, gap: Lord Howe skips half an hour, and 02:00 with it."""
    assert answers("0 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00", 2) == [
        "2026-10-03T14:30",
        "2026-10-03T16:00",
    ]


def test_a_fixed_time_in_the_overlap_fires_in_the_first_pass_only() -> None:
    """Section 5, overlap: one run per local day."""
    assert answers("30 1 * * *", NEW_YORK, "2026-11-01T04:00", 2) == [
        "2026-11-01T05:30",
        "2026-11-02T06:30",
    ]
    assert answers("45 1 * * *", NEW_YORK, "2026-11-01T06:10", 1) == ["2026-11-02T06:45"]


def test_an_interval_fires_in_both_passes_of_the_overlap() -> None:
    """Section 5, overlap: an interval keeps its real cadence."""
    assert answers("*/30 * * * *", NEW_YORK, "2026-11-01T04:59", 4) == [
        "2026-11-01T05:00",
        "2026-11-01T05:30",
        "2026-11-01T06:00",
        "2026-11-01T06:30",
    ]


def test_the_second_pass_is_not_missed_when_the_next_matching_day_is_far() -> None:
    """Section 5, overlap: Sao Paulo repeated the last hour of a Saturday."""
    assert answers("15 * * * 6", "America/Sao_Paulo", "2018-02-18T01:14", 3) == [
        "2018-02-18T01:15",
        "2018-02-18T02:15",
        "2018-02-24T03:15",
    ]
    assert answers("15 * 17 2 *", "America/Sao_Paulo", "2018-02-18T01:14", 3) == [
        "2018-02-18T01:15",
        "2018-02-18T02:15",
        "2019-02-17T03:15",
    ]


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00", "2026-04-23T22:00"),
        ("0 */2 * * *", "Africa/Cairo", "2026-04-23T21:30", "2026-04-23T22:00"),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", "2018-11-04T03:00"),
        ("0 20 * * *", "Europe/Paris", "2022-10-30T22:00", "2022-10-31T19:00"),
        ("10 3 * * 0", "Europe/Prague", "2025-10-19T12:00", "2025-10-26T02:10"),
        ("*/20 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:30", "2026-04-04T14:40"),
    ],
)
def test_changes_at_midnight_and_by_half_an_hour(
    text: str, zone: str, after: str, expected: str
) -> None:
    """Section 5: the places where libraries lose a day or an hour."""
    assert answers(text, zone, after, 1) == [expected]


def test_a_skipped_local_day_has_no_fires_of_its_own() -> None:
    """Section 5: Apia had no 30 December 2011."""
    assert answers("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00", 2) == [
        "2011-12-29T22:00",
        "2011-12-30T22:00",
    ]
    assert answers("0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00", 1) == ["2012-12-29T22:00"]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-01-01T00:00", "2028-02-29T09:00"),
        ("2028-02-29T09:00", "2032-02-29T09:00"),
        ("2096-03-01T00:00", "2104-02-29T09:00"),
        ("2028-02-28T23:59", "2028-02-29T09:00"),
    ],
)
def test_the_leap_day_comes_every_fourth_year_but_not_in_2100(after: str, expected: str) -> None:
    """Section 5: 29 February is a rare date, not an error."""
    assert answers("0 9 29 2 *", "UTC", after, 1) == [expected]


def test_a_leap_day_on_a_monday_is_found_decades_ahead() -> None:
    """Section 5: a fifth Monday in February; 2100 is no leap year, so one comes 40 years late."""
    assert answers("0 0 * 2 1#5", "UTC", "2060-03-01T00:00", 2) == [
        "2072-02-29T00:00",
        "2112-02-29T00:00",
    ]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 13 * 5", [2, 9, 13, 16, 23, 30]),
        ("0 0 */2 * 1", [5, 19]),
        ("0 0 1-31 * 1", list(range(1, 32))),
        ("0 0 1-7 * */7", [4]),
        ("0 0 10-12,L * *", [10, 11, 12, 31]),
        ("0 0 L * 5#2", [9, 31]),
        ("0 0 5,*/15 * 1", [1, 5, 12, 16, 19, 26, 31]),
        ("0 0 * * 1#5", []),
    ],
)
def test_both_day_fields_match_by_or_unless_one_begins_with_a_star(
    text: str, days: list[int]
) -> None:
    """Section 5: as in crontab; January 2026 begins on a Thursday."""
    start = utc("2025-12-31T23:59")
    january = [fire for fire in fires(calendar(text), start, 31) if fire < utc("2026-02-01T00:00")]
    assert [fire.day for fire in january] == days


def test_several_expressions_are_their_union_with_one_fire_where_they_coincide() -> None:
    """A list of expressions is the union of their fires."""
    found = calendar("0 9 * * *", "0 */3 * * *", "30 9 * * *")
    assert [fire.strftime("%H:%M") for fire in fires(found, utc("2026-01-01T05:00"), 4)] == [
        "06:00",
        "09:00",
        "09:30",
        "12:00",
    ]


def test_each_expression_of_a_list_decides_for_itself_whether_it_is_an_interval() -> None:
    """In the overlap the hourly one fires twice, the fixed one beside it once."""
    found = calendar("0 * * * *", "30 1 * * *", zone=NEW_YORK)
    assert [fire.strftime("%H:%M") for fire in fires(found, utc("2026-11-01T04:30"), 4)] == [
        "05:00",
        "05:30",
        "06:00",
        "07:00",
    ]


@pytest.mark.parametrize("milliseconds", [0, 1, 999])
def test_the_next_time_is_strictly_later_than_a_base_of_any_millisecond(milliseconds: int) -> None:
    """Section 5: strictly later; the minute itself is not next when it has come."""
    base = utc("2026-01-01T09:00") + timedelta(milliseconds=milliseconds)
    assert calendar("0 9 * * *").next_after(base) == utc("2026-01-02T09:00")
    before = utc("2026-01-01T09:00") - timedelta(milliseconds=1 + milliseconds)
    assert calendar("0 9 * * *").next_after(before) == utc("2026-01-01T09:00")


@pytest.mark.parametrize(
    "after",
    [
        datetime(2026, 1, 1),  # noqa: DTZ001
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-5))),
        datetime(2026, 1, 1, tzinfo=ZoneInfo(NEW_YORK)),
    ],
)
def test_a_base_that_is_not_in_utc_is_refused(after: datetime) -> None:
    """K9: a fixed offset or a naive time must never reach the arithmetic."""
    with pytest.raises(ValueError, match="UTC"):
        calendar("0 9 * * *").next_after(after)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Niue", NEW_YORK])
@pytest.mark.parametrize("text", ["* * * * *", "0 9 * * *", "0 0 29 2 *", "30 2 31 12 *"])
def test_the_end_of_the_calendar_is_an_end_and_not_an_error(text: str, zone: str) -> None:
    """Section 5: after the last time of year 9999 there is none."""
    found = calendar(text, zone=zone)
    assert found.next_after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)) is None
    late = fires(found, datetime(9998, 12, 30, tzinfo=UTC), 2)
    assert all(instant.astimezone(ZoneInfo(zone)).year >= 9998 for instant in late)


def test_the_beginning_of_the_calendar_is_no_error_either() -> None:
    """A base in year 1 has a next time."""
    first = datetime(1, 1, 1, tzinfo=UTC)
    for text in ("* * * * *", "0 9 * * *"):
        assert calendar(text, zone="Pacific/Kiritimati").next_after(first) is not None
