"""The one stored format, and the strict readers of times (K9, SPEC section 5)."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.errors import InvalidSchedule
from nightshift.domain.model.instants import (
    format_instant,
    from_milliseconds,
    parse_instant,
    parse_local,
    parse_rfc3339,
    to_milliseconds,
    truncate,
)
from unit.schedule.expressions import STEADY
from unit.schedule.oracle import utc

INSTANTS = st.datetimes(timezones=st.just(UTC))


@settings(STEADY)
@given(INSTANTS)
def test_the_stored_form_has_one_width_and_reads_back_to_the_millisecond(moment: datetime) -> None:
    """K9: fixed width, milliseconds, truncated and never rounded up."""
    text = format_instant(moment)
    assert len(text) == 24
    assert parse_instant(text) == truncate(moment) <= moment
    assert from_milliseconds(to_milliseconds(moment)) == truncate(moment)


@settings(STEADY)
@given(INSTANTS, INSTANTS)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    """K9: index keys sort as the instants do."""
    if truncate(one) < truncate(other):
        assert format_instant(one) < format_instant(other)


def test_the_year_one_is_padded() -> None:
    """K9: fixed width also for small years."""
    assert format_instant(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 1, 1),  # noqa: DTZ001
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/London")),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(0), "GMT")),
    ],
)
def test_only_utc_is_stored(moment: datetime) -> None:
    """K9: a zone that happens to stand at zero today is not UTC."""
    with pytest.raises(ValueError, match="UTC"):
        format_instant(moment)
    with pytest.raises(ValueError, match="UTC"):
        to_milliseconds(moment)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.000",
        "2026-01-01T00:00:00.000+00:00",
        "2026-01-01T00:00:00.0000Z",
        "2026-01-01 00:00:00.000Z",
        "2026-01-01t00:00:00.000z",
        "2026-02-30T00:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:00:60.000Z",
        "2026-01-01T00:00:00.000Z\n",
        "٢٠٢٦-01-01T00:00:00.000Z",
        None,
        5,
    ],
)
def test_no_other_form_is_read_from_the_table(text: object) -> None:
    """K9: what another function wrote is a corrupt row."""
    with pytest.raises(ValueError):
        parse_instant(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-08T09:00:00Z", "2026-03-08T09:00"),
        ("2026-03-08t09:00:00z", "2026-03-08T09:00"),
        ("2026-03-08T09:00:00+00:00", "2026-03-08T09:00"),
        ("2026-03-08T09:00:00-00:00", "2026-03-08T09:00"),
        ("2026-03-08T09:00:00+08:00", "2026-03-08T01:00"),
        ("2026-03-08T09:00:00-03:30", "2026-03-08T12:30"),
        ("2026-03-08T09:00:00+23:59", "2026-03-07T09:01"),
        ("2024-02-29T23:59:59+05:45", "2024-02-29T18:14:59"),
        ("2026-03-08T09:00:00.5Z", "2026-03-08T09:00:00.500"),
        ("2026-03-08T09:00:00.123Z", "2026-03-08T09:00:00.123"),
        ("2026-03-08T09:00:00.123999Z", "2026-03-08T09:00:00.123"),
        ("2026-03-08T09:00:00.0009999999999Z", "2026-03-08T09:00"),
    ],
)
def test_rfc_3339_is_read_as_the_instant_it_names(text: str, expected: str) -> None:
    """Section 5: normalised to UTC, truncated to milliseconds."""
    assert parse_rfc3339(text) == utc(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-08",
        "2026-03-08T09:00:00",
        "2026-03-08T09:00Z",
        "2026-03-08T09Z",
        "2026-03-08 09:00:00Z",
        "2026-03-08_09:00:00Z",
        "20260308T090000Z",
        "2026-W10-7T09:00:00Z",
        "2026-067T09:00:00Z",
        "2026-3-8T9:00:00Z",
        "26-03-08T09:00:00Z",
        "02026-03-08T09:00:00Z",
        "-2026-03-08T09:00:00Z",
        "+2026-03-08T09:00:00Z",
        "2026-03-08T09:00:00,5Z",
        "2026-03-08T09:00:00.Z",
        "2026-03-08T09:00:00.5.5Z",
        "2026-03-08T09:00:00+0800",
        "2026-03-08T09:00:00+08",
        "2026-03-08T09:00:00+8:00",
        "2026-03-08T09:00:00+08:00:00",
        "2026-03-08T09:00:00+24:00",
        "2026-03-08T09:00:00+08:60",
        "2026-03-08T09:00:00−08:00",
        "2026-03-08T09:00:00ZZ",
        "2026-03-08T09:00:00 Z",
        "2026-03-08T09:00:00Z ",
        " 2026-03-08T09:00:00Z",
        "2026-03-08T09:00:00Z\n",
        "2026-03-08T09:00:00[UTC]",
        "2026-03-08T09:00:00UTC",
        "2026-02-29T09:00:00Z",
        "2026-04-31T09:00:00Z",
        "2026-13-01T09:00:00Z",
        "2026-00-01T09:00:00Z",
        "2026-01-00T09:00:00Z",
        "0000-01-01T09:00:00Z",
        "2026-03-08T24:00:00Z",
        "2026-03-08T09:60:00Z",
        "2026-06-30T23:59:60Z",
        "2026-03-08T09:00:0xZ",
        "２０２６-03-08T09:00:00Z",
        "2026-03-08T09:00:0٠Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1772938800",
        "2026-03-08T09:00:00." + "0" * 60 + "Z",
        1772938800,
        1772938800.0,
        True,
        None,
        ["2026-03-08T09:00:00Z"],
    ],
    ids=repr,
)
def test_everything_else_is_refused(text: object) -> None:
    """Section 5: strict parsing; numbers, dates alone and other standards are no RFC 3339."""
    with pytest.raises(InvalidSchedule) as refused:
        parse_rfc3339(text, field="starts_at")
    assert refused.value.field == "starts_at"


def test_a_local_time_has_seconds_and_perhaps_milliseconds() -> None:
    """Section 5: `YYYY-MM-DDTHH:MM:SS[.mmm]`."""
    assert parse_local("2026-03-08T02:30:00") == datetime(2026, 3, 8, 2, 30)  # noqa: DTZ001
    assert parse_local("2026-03-08T02:30:00.250").microsecond == 250_000


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-08",
        "2026-03-08T02:30",
        "2026-03-08T02:30:00.5",
        "2026-03-08T02:30:00.1234",
        "2026-03-08 02:30:00",
        "2026-03-08t02:30:00",
        "2026-03-08T02:30:60",
        "2026-02-30T02:30:00",
        "2026-03-08T02:30:00Z",
        None,
        7,
    ],
)
def test_other_local_forms_are_refused(text: object) -> None:
    """Section 5: documented forms only."""
    with pytest.raises(InvalidSchedule):
        parse_local(text)
