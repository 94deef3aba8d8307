"""Schedules in words, and the notes on fires that a clock change touched."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.model.cron import CronExpression, parse_cron
from nightshift.domain.model.shape import days_of, timing_of
from nightshift.domain.model.words import Language, describe, fire_note
from unit.schedule.expressions import EXPRESSIONS, STEADY
from unit.schedule.making import NEW_YORK, cron, schedule
from unit.schedule.oracle import utc


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("* * * * *", "Every minute", "每分钟"),
        ("*/15 * * * *", "Every 15 minutes", "每 15 分钟一次"),
        ("0 * * * *", "Every hour on the hour", "每小时整点"),
        ("5 * * * *", "Every hour at minute 5", "每小时的第 5 分"),
        ("5,35 * * * *", "Every hour at minutes 5 and 35", "每小时的第 5、35 分"),
        ("1/2 * * * *", "Every 2 minutes beginning at 00:01", "从 00:01 起每 2 分钟一次"),
        ("0 9 * * *", "Every day at 09:00", "每天 09:00"),
        ("0 9,17 * * *", "Every day at 09:00 and 17:00", "每天 09:00、17:00"),
        ("0 9 * * MON-FRI", "On weekdays (Monday to Friday) at 09:00", "每周一至周五 09:00"),
        ("0 9 * * 1-6", "On every day from Monday to Saturday at 09:00", "每周一至周六 09:00"),
        ("0 9 * * 6,0", "On Saturdays and Sundays at 09:00", "每周六、周日 09:00"),
        ("0 0 1 * *", "On the 1st of the month at 00:00", "每月 1 日 00:00"),
        ("0 0 1 1 *", "On the 1st of January at 00:00", "每年 1 月 1 日 00:00"),
        ("59 23 L * *", "On the last day of the month at 23:59", "每月最后一天 23:59"),
        (
            "0 0 1,22,L * *",
            "On the 1st, 22nd and last day of the month at 00:00",
            "每月 1、22 日和最后一天 00:00",
        ),
        ("0 9 * * 5#2", "On the second Friday of the month at 09:00", "每月的第二个周五 09:00"),
        (
            "0 9 13 * 5",
            "On the 13th of the month and also on Fridays at 09:00",
            "每月 13 日，以及每周五 09:00",
        ),
        (
            "0 9 */15 * 1",
            "On Mondays when that is the 1st, 16th and 31st of the month at 09:00",
            "每月 1、16、31 日中逢周一的日子 09:00",
        ),
        ("0 9 31 2 1", "On Mondays in February at 09:00", "每年 2 月的每周一 09:00"),
        ("0 9 * 6-8 *", "Every day in June to August at 09:00", "每年 6 至 8 月的每一天 09:00"),
        (
            "*/15 9-17 * * 1-5",
            "Every 15 minutes from 09:00 to 17:45 on weekdays (Monday to Friday)",
            "每周一至周五，09:00 至 17:45 每 15 分钟一次",
        ),
        ("5 */2 * * *", "Every 2 hours from 00:05 to 22:05", "00:05 至 22:05 每 2 小时一次"),
        (
            "1,7,30 1,3,5 * * *",
            "At minutes 1, 7 and 30 of hours 1, 3 and 5",
            "1、3、5 点的第 1、7、30 分",
        ),
        ("* 1,3 * * *", "Every minute of hours 1 and 3", "1、3 点的每分钟"),
    ],
)
def test_a_cron_schedule_reads_as_people_say_it(text: str, english: str, chinese: str) -> None:
    """English and Chinese, from the sets and not from the spelling."""
    assert describe(cron(text)) == f"{english} (UTC)"
    assert describe(cron(text), "zh") == f"{chinese}（UTC）"


def test_the_words_tell_everything_that_limits_the_schedule() -> None:
    """Several expressions, exclusions and bounds, in the task's zone."""
    made = schedule(
        {
            "cron": ["0 9 * * MON-FRI", "0 12 * * 6"],
            "exclude": {"dates": ["2026-12-25", "2026-12-28/2027-01-02"], "times": ["22:00-06:00"]},
        },
        "Asia/Shanghai",
        starts_at="2026-12-01T09:00:00+08:00",
        ends_at="2027-01-01T00:00:00Z",
        max_runs=1,
    )
    assert describe(made) == (
        "On weekdays (Monday to Friday) at 09:00; and on Saturdays at 12:00, but not on 2026-12-25 "
        "and 2026-12-28 to 2027-01-02 and not from 22:00 to 06:00, from 2026-12-01 09:00 on, "
        "until 2027-01-01 08:00, at most 1 time (Asia/Shanghai)"
    )
    assert describe(made, "zh") == (
        "每周一至周五 09:00；以及每周六 12:00，但不包括 2026-12-25、2026-12-28 至 2027-01-02、"
        "每天 22:00 至 06:00，自 2026-12-01 09:00 起，至 2027-01-01 08:00 止，最多 1 次"
        "（Asia/Shanghai）"
    )


@pytest.mark.parametrize(
    ("spec", "english", "chinese"),
    [
        (
            {"every_seconds": 5400},
            "Every 1 hour and 30 minutes, counted from 2025-12-31 19:00",
            "每 1 小时 30 分钟一次，从 2025-12-31 19:00 起算",
        ),
        (
            {"every_seconds": 86_400},
            "Every day, counted from 2025-12-31 19:00",
            "每天，从 2025-12-31 19:00 起算",
        ),
        (
            {"every_seconds": 90, "anchor": "2026-01-01T00:00:00.5Z"},
            "Every 1 minute and 30 seconds, counted from 2025-12-31 19:00:00.500",
            "每 1 分钟 30 秒一次，从 2025-12-31 19:00:00.500 起算",
        ),
        (
            {"once": "2026-07-01T09:30:05"},
            "Once, on 2026-07-01 09:30:05",
            "仅一次：2026-07-01 09:30:05",
        ),
    ],
)
def test_the_other_kinds_read_in_the_zones_time(
    spec: dict[str, Any], english: str, chinese: str
) -> None:
    """Times are shown in the task's zone, as exactly as they are set."""
    made = schedule(spec, NEW_YORK)
    assert describe(made) == f"{english} ({NEW_YORK})"
    assert describe(made, "zh") == f"{chinese}（{NEW_YORK}）"


def meaning(expression: CronExpression) -> object:
    months = [
        (month, length)
        for month in expression.months
        for length in ((28, 29) if month == 2 else (30,) if month in (4, 6, 9, 11) else (31,))
    ]
    days = {
        (month, first, length): expression.month_days(first, length)
        for month, length in months
        for first in range(7)
    }
    return expression.times, {shape: found for shape, found in days.items() if found}


@settings(STEADY, max_examples=150)
@given(st.lists(EXPRESSIONS, min_size=2, max_size=8))
def test_what_reads_the_same_means_the_same(texts: list[str]) -> None:
    """Exact for every schedule: nothing is left out of the words."""
    said: dict[str, object] = {}
    for text in [*texts, *(f"{text[: text.rindex(' ')]} *" for text in texts)]:
        words = describe(cron(text))
        assert said.setdefault(words, meaning(parse_cron(text))) == meaning(parse_cron(text))
        chinese = describe(cron(text), "zh")
        assert said.setdefault(chinese, meaning(parse_cron(text))) == meaning(parse_cron(text))


@settings(STEADY)
@given(EXPRESSIONS)
def test_the_shape_is_that_of_the_sets(text: str) -> None:
    """Two spellings of one schedule read the same."""
    expression = parse_cron(text)
    again = parse_cron(expression.normalised)
    assert (timing_of(expression), days_of(expression)) == (timing_of(again), days_of(again))


def test_a_fire_moved_by_a_gap_says_so() -> None:
    """Section 5: the note tells the skipped time and the one it runs at."""
    made, moved = cron("30 2 * * *", NEW_YORK), utc("2026-03-08T07:00")
    assert made.next_after(utc("2026-03-08T00:00")) == moved
    assert fire_note(made, moved) == (
        "The clock skips 02:30 on this day; it runs at 03:00, right after the change."
    )
    assert fire_note(made, moved, "zh") == ("当天时钟拨快，跳过 02:30；改在拨快后的 03:00 运行。")
    assert fire_note(made, utc("2026-03-09T06:30")) is None
    assert fire_note(cron("0 3 * * *", NEW_YORK), moved) is None
    assert fire_note(cron("0 * * * *", NEW_YORK), moved) is None


def test_a_fixed_fire_in_an_overlap_says_that_it_runs_once() -> None:
    """Section 5: the first pass only."""
    made = cron("30 1 * * *", NEW_YORK)
    assert fire_note(made, utc("2026-11-01T05:30")) == (
        "01:30 comes twice on this day; it runs the first time only."
    )
    assert fire_note(made, utc("2026-11-02T06:30")) is None
    assert fire_note(cron("0 2 * * *", NEW_YORK), utc("2026-11-01T07:00")) is None


def test_an_interval_in_an_overlap_says_which_pass_it_is() -> None:
    """Section 5: both passes."""
    made = cron("*/30 * * * *", NEW_YORK)
    notes = [fire_note(made, fire) for fire in made.occurrences(utc("2026-11-01T04:30"), 5)]
    assert notes == [
        "01:00 comes twice on this day; this is the first one.",
        "01:30 comes twice on this day; this is the first one.",
        "01:00 comes twice on this day; this is the second one.",
        "01:30 comes twice on this day; this is the second one.",
        None,
    ]
    assert fire_note(made, utc("2026-11-01T06:00"), "zh") == (
        "当天时钟拨慢，01:00 出现两次；这是第二次。"
    )


def test_a_single_time_in_an_overlap_says_which_one_it_is() -> None:
    """Section 5: a local time that exists twice is the earlier."""
    made = schedule({"once": "2026-11-01T01:30:00"}, NEW_YORK)
    assert fire_note(made, utc("2026-11-01T05:30")) == (
        "01:30 comes twice on this day; this is the first one."
    )


def test_another_language_is_an_error_of_the_caller() -> None:
    """The languages are en and zh."""
    language: Language = "fr"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="en and zh"):
        describe(cron("0 9 * * *"), language)
