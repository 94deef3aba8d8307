"""`exclude`: dates and times of day that never fire (holidays, quiet hours)."""

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.exclusions import parse_exclusions
from nightshift.domain.model.spec import CronSchedule
from unit.schedule.expressions import EXPRESSIONS, STEADY
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, calendar, cron, fires, schedule
from unit.schedule.oracle import utc


def answers(text: str, exclude: dict[str, list[str]], after: str, zone: str = "UTC") -> list[str]:
    found = fires(calendar(text, zone=zone, exclude=exclude), utc(after), 3)
    return [f"{instant:%Y-%m-%dT%H:%M}" for instant in found]


def test_an_excluded_date_and_both_ends_of_a_range_never_fire() -> None:
    """Dates are inclusive, in the task's zone."""
    exclude = {"dates": ["2026-12-21", "2026-12-24/2027-01-02"]}
    assert answers("0 9 * * *", exclude, "2026-12-20T00:00") == [
        "2026-12-20T09:00",
        "2026-12-22T09:00",
        "2026-12-23T09:00",
    ]
    assert answers("0 9 * * *", exclude, "2026-12-23T10:00")[0] == "2027-01-03T09:00"


def test_the_date_is_that_of_the_zone() -> None:
    """22:00 on the 24th in New York is the 25th in UTC, and fires."""
    assert answers("0 22 * * *", {"dates": ["2026-12-25"]}, "2026-12-24T12:00", NEW_YORK) == [
        "2026-12-25T03:00",
        "2026-12-27T03:00",
        "2026-12-28T03:00",
    ]


def test_quiet_hours_are_half_open_and_may_wrap_midnight() -> None:
    """22:00 is quiet, 06:00 is not."""
    assert answers("0 */2 * * *", {"times": ["22:00-06:00"]}, "2026-01-01T19:00") == [
        "2026-01-01T20:00",
        "2026-01-02T06:00",
        "2026-01-02T08:00",
    ]


def test_a_fire_is_judged_by_where_a_gap_moves_it() -> None:
    """The local wall time of the instant decides: 02:30 runs at 03:00 on the day of the change."""
    named, landed = {"times": ["02:15-02:45"]}, {"times": ["03:00-03:01"]}
    other = {"times": ["09:00-10:00"]}
    for exclude, expected in ((landed, "2026-03-09T06:30"), (other, "2026-03-08T07:00")):
        assert answers("30 2 * * *", exclude, "2026-03-08T05:00", NEW_YORK)[0] == expected
    assert answers("30 2,9 * * *", named, "2026-03-08T05:00", NEW_YORK)[:2] == [
        "2026-03-08T07:00",
        "2026-03-08T13:30",
    ]
    late = {"dates": ["2026-03-28"]}
    assert answers("30 23 * * *", late, "2026-03-28T12:00", "America/Nuuk")[:2] == [
        "2026-03-29T01:00",
        "2026-03-30T00:30",
    ]
    yearly = answers("30 23 28 3 *", late, "2026-01-01T00:00", "America/Nuuk")
    assert yearly[:2] == ["2026-03-29T01:00", "2027-03-29T00:30"]


@settings(STEADY, max_examples=80)
@given(
    text=EXPRESSIONS,
    zone=st.sampled_from([NEW_YORK, "Australia/Lord_Howe", "Africa/Cairo", "America/Nuuk", "UTC"]),
    first=st.integers(0, 23),
    end=st.integers(0, 23),
    month=st.integers(1, 11),
)
def test_what_is_left_is_every_fire_that_is_not_excluded(
    text: str, zone: str, first: int, end: int, month: int
) -> None:
    """Exclusion takes fires away and moves none."""
    dates = [f"2026-{month:02}-20/2026-{month + 1:02}-10", "2026-03-28", "2026-11-01"]
    exclude = parse_exclusions(
        {"dates": dates, "times": [f"{first:02}:00-{end:02}:00"] if first != end else []}
    )
    start = utc(f"2026-{month:02}-18T00:00")
    limit = fires(calendar(text, zone=zone), start, 400)
    kept = []
    for fire in limit:
        wall = fire.astimezone(ZoneInfo(zone))
        quiet = first <= wall.hour < end or (end < first and not end <= wall.hour < first)
        holiday = any(a <= wall.date() <= b for a, b in exclude.dates)
        if not (quiet and first != end) and not holiday:
            kept.append(fire)
    found = calendar(text, zone=zone, exclude=exclude.to_dict())
    if any(rule.times for rule in found.rules):
        assert fires(found, start, len(kept)) == kept


def test_an_exclusion_that_leaves_nothing_never_fires() -> None:
    """Refused, as an expression that never fires is."""
    for exclude in ({"times": ["08:00-10:00"]}, {"times": ["00:00-24:00"]}):
        with pytest.raises(NeverFires):
            schedule({"cron": "0 9 * * *", "exclude": exclude})
    made = schedule({"cron": "0 9 * * *", "exclude": {"dates": ["2026-01-01/9999-12-31"]}})
    assert made.next_after(NOW) is None
    with pytest.raises(NeverFires):
        made.ensure_launchable(NOW, Limits())


def test_one_expression_of_several_may_be_excluded_whole() -> None:
    """The union only loses what is excluded."""
    made = schedule({"cron": ["0 9 * * *", "0 23 * * *"], "exclude": {"times": ["22:00-06:00"]}})
    assert made.occurrences(NOW, 2) == (utc("2026-01-01T09:00"), utc("2026-01-02T09:00"))


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ({"dates": ["2026-12-25", "2026-12-25"]}, {"dates": ["2026-12-25"]}),
        (
            {"dates": ["2026-12-27/2026-12-28", "2026-12-25/2026-12-26", "2026-01-01"]},
            {"dates": ["2026-01-01", "2026-12-25/2026-12-28"]},
        ),
        ({"times": ["22:00-06:00"]}, {"times": ["22:00-06:00"]}),
        ({"times": ["22:00-24:00", "00:00-06:00"]}, {"times": ["22:00-06:00"]}),
        ({"times": ["12:00-13:00", "12:30-14:00"]}, {"times": ["12:00-14:00"]}),
        ({"times": ["23:00-00:00"]}, {"times": ["23:00-24:00"]}),
        ({"times": [], "dates": []}, {}),
        ({"dates": ["9999-12-31"]}, {"dates": ["9999-12-31"]}),
    ],
)
def test_exclusions_have_one_normal_form(
    written: dict[str, list[str]], normal: dict[str, list[str]]
) -> None:
    """Editing rules: another order is no other exclusion."""
    parsed = parse_exclusions(written)
    assert parsed.to_dict() == normal
    assert parse_exclusions(normal) == parsed


@pytest.mark.parametrize(
    "exclude",
    [
        None,
        [],
        "2026-12-25",
        {"date": ["2026-12-25"]},
        {"dates": "2026-12-25"},
        {"dates": [20261225]},
        {"dates": ["2026-12-25T00:00:00Z"]},
        {"dates": ["20261225"]},
        {"dates": ["2026-W52-5"]},
        {"dates": ["2026-02-30"]},
        {"dates": ["2026-12-26/2026-12-25"]},
        {"dates": ["2026-12-25/"]},
        {"dates": ["/2026-12-25"]},
        {"dates": ["2026-12-25\n"]},
        {"dates": ["2026-12-25/2026-12-26/2026-12-27"]},
        {"dates": None},
        {"dates": ["2026-12-25"] * 101},
        {"times": ["22-06"]},
        {"times": ["22:00"]},
        {"times": ["24:00-06:00"]},
        {"times": ["06:00-24:01"]},
        {"times": ["06:60-07:00"]},
        {"times": ["06:00-06:00"]},
        {"times": ["６:00-07:00"]},
        {"times": ["01:00-02:00"] * 25},
        {"times": [["01:00", "02:00"]]},
    ],
    ids=repr,
)
def test_a_malformed_exclusion_is_refused_under_its_name(exclude: Any) -> None:
    """Section 7: the error names the field."""
    with pytest.raises(InvalidSchedule) as refused:
        schedule({"cron": "0 9 * * *", "exclude": exclude})
    assert (refused.value.field or "").startswith("schedule_spec.exclude")
    assert refused.value.message.startswith("exclude")


def test_a_hundred_dates_and_24_times_are_allowed() -> None:
    """The bounds are part of the contract."""
    dates = [f"{2030 + n}-12-25" for n in range(100)]
    times = [f"{hour:02}:30-{hour:02}:31" for hour in range(24)]
    made = schedule({"cron": "0 9 * * *", "exclude": {"dates": dates, "times": times}})
    assert isinstance(made, CronSchedule)
    assert len(made.exclude.dates) == 100


def test_an_exclusion_is_part_of_the_schedule() -> None:
    """Editing rules: another exclusion is another schedule."""
    plain = cron("0 9 * * *")
    held = schedule({"cron": "0 9 * * *", "exclude": {"dates": ["2026-12-25"]}})
    assert plain != held
    assert not held.same_times_as(plain)
    assert plain.same_times_as(schedule({"cron": "0 9 * * *", "exclude": {}}))
