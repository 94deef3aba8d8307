"""Counting what passed unrun, without walking through it (P15)."""

from datetime import timedelta

import pytest

from nightshift.domain.model.folding import MAX_COUNT, folded_fires
from unit.schedule.making import NEW_YORK, NOW, calendar, cron, fires, schedule
from unit.schedule.oracle import utc

TICK = timedelta(milliseconds=1)


def test_the_instant_itself_is_not_folded_and_the_end_is() -> None:
    """P15: later than the stored time, up to and with now."""
    made = cron("0 9 * * *")
    folded = made.folded(utc("2026-01-01T09:00"), utc("2026-01-03T09:00"))
    assert (folded.count, folded.through) == (2, utc("2026-01-03T09:00"))
    folded = made.folded(utc("2026-01-01T09:00"), utc("2026-01-03T08:59:59.999"))
    assert (folded.count, folded.through) == (1, utc("2026-01-02T09:00"))


def test_nothing_passed_is_nothing_folded() -> None:
    """P15: an occurrence taken in time folds none."""
    folded = cron("0 9 * * *").folded(utc("2026-01-01T09:00"), utc("2026-01-01T09:00:30"))
    assert (folded.count, folded.through, folded.cut) == (0, None, False)
    assert cron("0 9 * * *").folded(NOW, NOW - timedelta(days=9)).count == 0


@pytest.mark.parametrize(
    ("texts", "zone"),
    [
        (("*/2 * * * *",), NEW_YORK),
        (("*/5 * * * *",), NEW_YORK),
        (("30 1 * * *", "30 2 * * *"), NEW_YORK),
        (("30 2 * * *", "0 3 * * *"), NEW_YORK),
        (("*/7 * * * *", "30 1 * * *"), NEW_YORK),
        (("*/30 1-2 * * *", "0 * * * *"), "Australia/Lord_Howe"),
        (("0 0 * * *", "0 */2 * * 1-5"), "Africa/Cairo"),
        (("15 */3 L * *", "0 12 * * 5#2"), "Pacific/Chatham"),
    ],
)
def test_the_count_is_that_of_the_fires(texts: tuple[str, ...], zone: str) -> None:
    """P15: exact through changes of the clock, month ends and coincidences."""
    found = calendar(*texts, zone=zone)
    for start in (NOW, utc("2026-03-07T12:00"), utc("2026-10-31T12:00")):
        walked = fires(found, start, 2001)
        for last in (0, 1, 7, 50, 499, 1999):
            through = walked[last]
            for end in (through, min(through + timedelta(minutes=1), walked[last + 1] - TICK)):
                folded = folded_fires(found, start, end)
                assert (folded.count, folded.through, folded.cut) == (last + 1, through, False)
            if last:
                just_before = folded_fires(found, start, through - TICK)
                assert (just_before.count, just_before.through) == (last, walked[last - 1])


def test_excluded_occurrences_are_not_counted() -> None:
    """Dates and times that never fire were not missed."""
    found = calendar(
        "0 * * * *",
        zone=NEW_YORK,
        exclude={"dates": ["2026-01-03/2026-01-04", "2026-03-08"], "times": ["22:00-06:00"]},
    )
    walked = fires(found, NOW, 1500)
    folded = folded_fires(found, NOW, walked[-1])
    assert (folded.count, folded.through) == (1500, walked[-1])


def test_a_count_past_a_million_is_cut_and_the_latest_stays_exact() -> None:
    """P15, P16: bounded and marked, and lateness is measured from the true latest."""
    made = schedule({"cron": "* * * * *"})
    folded = made.folded(NOW, utc("2028-01-01T00:00:30"))
    assert (folded.count, folded.cut) == (MAX_COUNT, True)
    assert folded.through == utc("2028-01-01T00:00")


def test_a_span_past_fifty_years_is_cut_and_the_latest_stays_exact() -> None:
    """P15: a row from another age costs no more than fifty years."""
    folded = cron("0 9 1 1 *").folded(NOW, utc("2300-06-01T00:00"))
    assert folded.cut
    assert folded.count == 51
    assert folded.through == utc("2300-01-01T09:00")
