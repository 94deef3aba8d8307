"""`starts_at`, `ends_at`, `max_runs` of recurring schedules (SPEC sections 3 and 5)."""

from typing import Any

import pytest

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.schedule_input import parse_bounds
from unit.schedule.limits import Limits
from unit.schedule.making import NEW_YORK, NOW, cron, every, schedule
from unit.schedule.oracle import utc


def test_the_start_is_inclusive() -> None:
    """Section 5: an occurrence at `starts_at` is the first one."""
    made = cron("0 9 * * *", starts_at="2026-02-01T09:00:00Z")
    assert made.next_after(NOW) == utc("2026-02-01T09:00")
    late = cron("0 9 * * *", starts_at="2026-02-01T09:00:00.001Z")
    assert late.next_after(NOW) == utc("2026-02-02T09:00")
    assert made.next_after(utc("2026-03-01T10:00")) == utc("2026-03-02T09:00")


def test_the_end_is_inclusive() -> None:
    """Section 3: `ends_at` is inclusive."""
    made = cron("0 9 * * *", ends_at="2026-01-02T09:00:00Z")
    assert made.occurrences(NOW, 5) == (utc("2026-01-01T09:00"), utc("2026-01-02T09:00"))
    early = cron("0 9 * * *", ends_at="2026-01-02T08:59:59.999Z")
    assert early.occurrences(NOW, 5) == (utc("2026-01-01T09:00"),)


def test_an_every_is_bounded_on_its_own_grid() -> None:
    """Section 5: a start does not move the grid."""
    made = every(3600, starts_at="2026-01-01T02:30:00Z", ends_at="2026-01-01T04:00:00Z")
    assert made.occurrences(NOW, 5) == (utc("2026-01-01T03:00"), utc("2026-01-01T04:00"))


def test_only_what_lies_within_the_bounds_is_folded() -> None:
    """P15: an end that has passed ends the counting, too."""
    bounds = {"starts_at": "2026-01-03T00:00:00Z", "ends_at": "2026-01-05T09:00:00Z"}
    for made in (cron("0 9 * * *", **bounds), every(86_400, now=utc("2026-01-01T09:00"), **bounds)):
        folded = made.folded(NOW, utc("2026-01-20T00:00"))
        assert (folded.count, folded.through) == (3, utc("2026-01-05T09:00"))
        assert made.folded(NOW, utc("2026-01-02T00:00")).count == 0
        assert made.folded(utc("2026-01-05T09:00"), utc("2026-02-01T00:00")).count == 0


def test_a_schedule_whose_end_has_passed_may_not_be_submitted() -> None:
    """B26: refused at the write, never an error of every tick."""
    made = cron("0 9 * * *", ends_at="2025-12-31T00:00:00Z")
    assert made.next_after(NOW) is None
    with pytest.raises(NeverFires):
        made.ensure_launchable(NOW, Limits())


def test_bounds_are_instants_with_an_offset() -> None:
    """Section 5: the local form is that of `once` alone."""
    bounds = parse_bounds(starts_at="2026-07-01T09:00:00-04:00", ends_at=None, max_runs=3)
    assert bounds.starts_at == utc("2026-07-01T13:00")
    assert bounds.max_runs == 3


@pytest.mark.parametrize("bound", ["starts_at", "ends_at"])
@pytest.mark.parametrize("text", ["2026-07-01T09:00:00", "2026-07-01", "2026-07-01T09:00Z"])
def test_a_bound_without_an_offset_is_refused(bound: str, text: str) -> None:
    """Section 7: a date without a zone is nobody's instant."""
    with pytest.raises(InvalidSchedule) as refused:
        cron("0 9 * * *", **{bound: text})
    assert refused.value.field == bound


def test_an_anchor_without_an_offset_is_refused() -> None:
    """Section 7: the grid of an interval has no zone."""
    with pytest.raises(InvalidSchedule) as refused:
        schedule({"every_seconds": 3600, "anchor": "2026-07-01T09:00:00"}, NEW_YORK)
    assert refused.value.field == "schedule_spec.anchor"


@pytest.mark.parametrize("runs", [0, -1, True, 1.0, "3"])
def test_max_runs_is_a_whole_number_from_one(runs: Any) -> None:
    """Section 7: no coercion; true is not 1."""
    with pytest.raises(InvalidSchedule) as refused:
        cron("0 9 * * *", max_runs=runs)
    assert refused.value.field == "max_runs"


def test_an_end_before_the_start_is_refused() -> None:
    """Section 5: nothing could ever run; one instant is enough."""
    with pytest.raises(InvalidSchedule) as refused:
        cron("0 9 * * *", starts_at="2026-02-01T00:00:00Z", ends_at="2026-01-31T00:00:00Z")
    assert refused.value.field == "ends_at"
    one = cron("0 9 * * *", starts_at="2026-02-01T09:00:00Z", ends_at="2026-02-01T09:00:00Z")
    assert one.occurrences(NOW, 2) == (utc("2026-02-01T09:00"),)


@pytest.mark.parametrize("field", ["starts_at", "ends_at"])
@pytest.mark.parametrize("text", ["2026-02-30T00:00:00Z", "soon", 5, "0001-01-01T00:00:00Z"])
def test_a_malformed_bound_is_refused_under_its_name(field: str, text: Any) -> None:
    """Section 7: the error names the field."""
    with pytest.raises(InvalidSchedule) as refused:
        cron("0 9 * * *", **{field: text})
    assert refused.value.field == field


def test_the_run_limit_alone_moves_no_time() -> None:
    """Editing rules: more runs is no other schedule."""
    made = cron("0 9 * * *", max_runs=3)
    assert made.same_times_as(cron("0 9 * * *", max_runs=5))
    assert made != cron("0 9 * * *", max_runs=5)
    assert not made.same_times_as(cron("0 9 * * *", ends_at="2027-01-01T00:00:00Z"))
    assert not made.same_times_as(schedule({"every_seconds": 86_400}))
