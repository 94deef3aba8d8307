"""What a user may send as a schedule, and how it is stored (SPEC sections 5 and 7)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from nightshift.domain.errors import CorruptRecord, InvalidSchedule, InvalidTimeZone, NeverFires
from nightshift.domain.model.schedule_storage import schedule_from_dict
from nightshift.domain.model.spec import CronSchedule
from unit.schedule.expressions import EXPRESSIONS, STEADY
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, cron, schedule
from unit.schedule.oracle import utc


@pytest.mark.parametrize(
    "spec",
    [
        {},
        None,
        [],
        "0 9 * * *",
        {"cron": "0 9 * * *", "once": "2026-07-01T09:00:00Z"},
        {"cron": "0 9 * * *", "every_seconds": 600},
        {"once": "2026-07-01T09:00:00Z", "after_seconds": 90},
        {"cron": "0 9 * * *", "anchor": "2026-01-01T00:00:00Z"},
        {"every_seconds": 600, "exclude": {}},
        {"once": "2026-07-01T09:00:00Z", "exclude": {}},
        {"cron": "0 9 * * *", "zone": "UTC"},
        {"corn": "0 9 * * *"},
        {"cron": []},
        {"cron": ["0 9 * * *"] * 11},
        {"cron": ["0 9 * * *", 5]},
        {"cron": None},
        {"cron": {"minute": 0}},
        {"cron": [["0 9 * * *"]]},
        {"every_seconds": 600, "anchor": None},
        {"every_seconds": 600, "anchor": "2026-01-01"},
        {"every_seconds": 600, 5: 6},
    ],
    ids=repr,
)
def test_anything_but_one_selector_with_its_own_fields_is_refused(spec: Any) -> None:
    """Section 7: unknown fields and selector fields of another kind."""
    with pytest.raises(InvalidSchedule) as refused:
        schedule(spec)
    assert (refused.value.field or "").startswith("schedule_spec")


def test_a_zone_that_does_not_exist_is_refused_first() -> None:
    """Section 7: `invalid_time_zone` has a code of its own."""
    with pytest.raises(InvalidTimeZone):
        schedule({"cron": "bad"}, "Mars/Olympus")


def test_the_same_expression_twice_is_one() -> None:
    """The union has one fire where they coincide, so one is enough."""
    made = schedule({"cron": ["0 9 * * *", "00 09 * * *", "@hourly"]})
    assert made.spec() == {"cron": ["0 9 * * *", "0 * * * *"]}
    assert schedule({"cron": ["0 9 * * *"]}) == cron("0 9 * * *")


def test_a_schedule_with_no_time_left_may_not_be_submitted() -> None:
    """Section 3: launchable is next_after plus what binds at submission."""
    cron("0 0 29 2 *").ensure_launchable(NOW, Limits())
    with pytest.raises(NeverFires):
        cron("0 0 29 2 *").ensure_launchable(utc("9997-01-01T00:00"), Limits())


SPECS = [
    ({"cron": "0 9 * * MON-FRI"}, NEW_YORK, {}),
    ({"cron": ["@daily", "0 12 L * 5#2"]}, "Asia/Tokyo", {"max_runs": 7}),
    (
        {"cron": "0 9 * * *", "exclude": {"dates": ["2026-12-25"], "times": ["22:00-06:00"]}},
        "Europe/Paris",
        {"starts_at": "2026-02-01T00:00:00+01:00", "ends_at": "2026-12-31T22:59:59.999Z"},
    ),
    ({"every_seconds": 600}, "UTC", {"starts_at": "2026-02-01T00:00:00Z"}),
    ({"every_seconds": 600, "anchor": "2025-01-01T00:00:00.001Z"}, NEW_YORK, {}),
    ({"once": "2026-11-01T01:30:00"}, NEW_YORK, {}),
    ({"after_seconds": 90}, "Asia/Tokyo", {}),
]


@pytest.mark.parametrize(("spec", "zone", "bounds"), SPECS)
def test_a_schedule_survives_the_table_and_its_own_wire_form(
    spec: dict[str, Any], zone: str, bounds: dict[str, Any]
) -> None:
    """K9, B14: the zone's name and UTC instants are stored, and read back to an equal schedule."""
    made = schedule(spec, zone, **bounds)
    stored = json.loads(json.dumps(made.to_dict()))
    assert stored == made.to_dict()
    read = schedule_from_dict(stored)
    assert read == made
    assert read.same_times_as(made)
    assert read.occurrences(NOW, 3) == made.occurrences(NOW, 3)
    again = schedule(made.spec(), zone, now=utc("2031-01-01T00:00"), **bounds)
    assert again == made


@settings(STEADY, max_examples=60)
@given(text=EXPRESSIONS)
def test_any_expression_survives_the_table(text: str) -> None:
    """Section 5: what is stored is the normal form, and it means the same."""
    made = cron(text, NEW_YORK)
    read = schedule_from_dict(made.to_dict())
    assert read == made
    assert read.to_dict() == made.to_dict()
    assert read.next_after(NOW) == made.next_after(NOW)


GOOD = {"kind": "cron", "zone": "UTC", "spec": {"cron": "0 9 * * *"}}


@pytest.mark.parametrize(
    "stored",
    [
        {},
        None,
        "0 9 * * *",
        {**GOOD, "kind": "yearly"},
        {**GOOD, "kind": "every"},
        {**GOOD, "kind": []},
        {**GOOD, "zone": "Mars/Olympus"},
        {**GOOD, "zone": None},
        {**GOOD, "spec": {"cron": "61 * * * *"}},
        {**GOOD, "spec": None},
        {**GOOD, "spec": {"cron": "0 9 * * *", "extra": 1}},
        {**GOOD, "bounds": {"max_runs": "3"}},
        {**GOOD, "bounds": {"until": "2026-01-01T00:00:00.000Z"}},
        {**GOOD, "bounds": None},
        {"kind": "every", "zone": "UTC", "spec": {"every_seconds": 600}},
        {"kind": "once", "zone": "UTC", "spec": {"after_seconds": 600}},
        {"kind": "once", "zone": "UTC", "spec": {"once": "2026-02-30T00:00:00.000Z"}},
    ],
    ids=repr,
)
def test_a_row_that_cannot_be_read_is_corrupt_and_not_the_clients_mistake(stored: Any) -> None:
    """P20: a corrupt stored schedule must not look like bad input."""
    with pytest.raises(CorruptRecord):
        schedule_from_dict(stored)


def test_another_zone_is_another_schedule_unless_times_are_absolute() -> None:
    """B36: a new zone recomputes a cron; a single time and a grid stay where they are."""
    made = schedule({"cron": "0 5 1 * *"}, NEW_YORK)
    moved = schedule(made.spec(), "Asia/Tokyo")
    assert not made.same_times_as(moved)
    assert moved.next_after(utc("2026-05-17T00:00")) == utc("2026-05-31T20:00")
    single = schedule({"once": "2026-07-01T09:00:00"}, NEW_YORK)
    assert single.same_times_as(schedule(single.spec(), "Asia/Tokyo"))


def test_another_spelling_is_the_same_schedule() -> None:
    """Editing rules: an edit that does not change the normalised schedule moves nothing."""
    assert cron("0 9 * * MON-FRI").same_times_as(cron(" 00  09 * * 1,2,3,4,5"))
    assert not cron("0 9 * * *").same_times_as(cron("0 9 * * MON-FRI"))
    assert isinstance(cron("0 9 * * *"), CronSchedule)
    assert len({cron("0 9 * * MON-FRI"), cron("0 9 * * 1-5")}) == 1
