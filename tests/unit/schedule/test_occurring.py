"""Why a schedule has a time or does not have it (SPEC section 5)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

import builders
from builders import HOUR, NOW
from nightshift.domain.errors import InvalidSchedule
from nightshift.domain.model.enums import Rule
from nightshift.domain.model.exclusions import parse_exclusions
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.occurring import Finding, findings, has_time, moment_of
from nightshift.domain.model.spec import Schedule

BERLIN = "Europe/Berlin"
NIGHTLY = builders.cron("30 2 * * *", zone=BERLIN)
QUIET = replace(
    builders.cron("0 * * * *", starts_at=NOW, ends_at=NOW + timedelta(days=400)),
    exclude=parse_exclusions({"dates": ["2026-12-25"], "times": ["22:00-06:00"]}),
)


def last(schedule: Schedule, text: str) -> Finding:
    """The finding that decides, or the last one."""
    *_, found = findings(schedule, moment_of(text, schedule.zone))
    return found


@pytest.mark.parametrize(
    ("schedule", "text", "rule", "detail"),
    [
        (QUIET, "2026-03-02T11:00:00Z", Rule.WINDOW, "It lies before starts_at, 2026-03-02 12:00"),
        (QUIET, "2028-03-02T11:00:00Z", Rule.WINDOW, "It lies after ends_at, 2027-04-06 12:00"),
        (QUIET, "2026-12-25T09:00:00Z", Rule.EXCLUSION, "The schedule excludes that day"),
        (QUIET, "2026-12-26T23:00:00Z", Rule.EXCLUSION, "The schedule excludes that time of day"),
        (QUIET, "2026-12-26T09:30:00Z", Rule.SCHEDULE, "`0 * * * *`: minute 30 is not in 0."),
        (NIGHTLY, "2026-03-30T04:31:07", Rule.SCHEDULE, "it fires on full minutes, minute 31 is"),
        (NIGHTLY, "2026-03-30T04:30:00", Rule.SCHEDULE, "hour 4 is not in 2. The next time is 202"),
        (
            NIGHTLY,
            "2026-10-25T01:30:00Z",
            Rule.SCHEDULE,
            "comes twice, and it fires the first time",
        ),
        (
            builders.cron("0 9 * * 1-5"),
            "2026-03-01T09:00:00",
            Rule.SCHEDULE,
            "2026-03-01 (Sunday) is not",
        ),
        (builders.cron("0 9 * 4 *"), "2026-03-01T09:00:00", Rule.SCHEDULE, "month 3 is not in 4"),
        (
            builders.cron("0 9 * * *", zone=BERLIN),
            "2026-03-29T02:30:00",
            Rule.SCHEDULE,
            "skips 2026",
        ),
        (
            builders.every(3600),
            "2026-03-02T12:10:00Z",
            Rule.SCHEDULE,
            "not a multiple of 3600 seco",
        ),
        (
            builders.once(),
            "2026-03-02T12:10:00Z",
            Rule.SCHEDULE,
            "Its one time is 2026-03-02 13:00",
        ),
    ],
)
def test_what_keeps_a_time_out_of_a_schedule_is_named(
    schedule: Schedule, text: str, rule: Rule, detail: str
) -> None:
    """SPEC section 5: bounds, exclusions, fields that do not match, gap and overlap."""
    found = last(schedule, text)
    assert (found.rule, found.holds) == (rule, False)
    assert detail in found.detail


def test_a_time_that_a_gap_skips_is_the_one_right_after_it() -> None:
    """SPEC section 5: a fixed time in the gap is due at the first instant after it."""
    moment = moment_of("2026-03-29T02:30:00", BERLIN)
    assert moment.instant == builders.at("2026-03-29T01:00Z")
    assert last(NIGHTLY, "2026-03-29T02:30:00").holds
    assert "it runs at 03:00, right after the change" in last(NIGHTLY, "2026-03-29T02:30:00").detail


def test_of_a_local_time_that_comes_twice_the_earlier_is_meant() -> None:
    """SPEC section 5: as for a `once`."""
    assert moment_of("2026-10-25T02:30:00", BERLIN).instant == builders.at("2026-10-25T00:30Z")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", BERLIN])
@pytest.mark.parametrize(
    "text",
    [
        *("", "noon", "2026-03-01", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00"),
        *("9999-12-31T23:59:59", "2026-03-01T09:00:00+0100", "2026-03-01T09:00:00.1"),
    ],
)
def test_what_is_no_time_is_refused(text: str, zone: str) -> None:
    """SPEC section 7: the field is named."""
    with pytest.raises(InvalidSchedule) as refused:
        moment_of(text, zone)
    assert refused.value.field == "at"


SCHEDULES = (
    *(NIGHTLY, QUIET, builders.every(3600), builders.every(5400), builders.once(NOW + HOUR)),
    builders.cron("0 9 * * 1-5", "*/30 2 * * *", zone="America/New_York"),
    builders.cron("*/30 * * * *", zone="Australia/Lord_Howe"),
)


@given(
    schedule=some.sampled_from(SCHEDULES),
    at=some.datetimes(datetime(2026, 3, 1), datetime(2026, 12, 31)),  # noqa: DTZ001
    near=some.booleans(),
)
def test_the_findings_all_hold_exactly_where_the_schedule_has_the_time(
    schedule: Schedule, at: datetime, *, near: bool
) -> None:
    """P9: the reasons never say anything else than `next_after`."""
    instant = builders.at(at.strftime("%Y-%m-%dT%H:%MZ"))
    if near:
        instant = schedule.next_after(instant) or instant
    found = list(findings(schedule, moment_of(format_instant(instant), schedule.zone)))
    assert all(finding.holds for finding in found) == has_time(schedule, instant)
    assert all(finding.holds for finding in found[:-1])
