"""`simulate`: what the services of production do on a virtual clock."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from builders import DAY, HOUR, MINUTE, at
from nightshift_toolkit.simulation import Outage, Report, Scenario, simulate, wishes_of

START = at("2026-03-07T00:00")
"""A Saturday; in New York the clocks go forward on the Sunday."""


def simulated(
    *rows: Mapping[str, Any], list_runs: bool = True, days: float = 1, **scenario: Any
) -> Report:
    """The report on tasks with these fields."""
    titled = [{"title": f"task {number}", **row} for number, row in enumerate(rows)]
    wanted = Scenario(start=START, days=days, **scenario)
    return simulate(wishes_of(titled), wanted, list_runs=list_runs)


def cron(expression: str, **fields: Any) -> dict[str, Any]:
    """A task with a cron expression."""
    return {"schedule_spec": {"cron": expression}, **fields}


def total(report: Report, name: str) -> Any:
    """One number of the whole report."""
    return report.to_dict()[name]


def times(report: Report, what: str = "run") -> list[str]:
    """The nominal times of the runs or skips, to the minute."""
    return [run["scheduled_for"][:16] for run in report.runs if run["what"] == what]


def test_every_occurrence_runs_at_its_tick() -> None:
    """P17: at the first tick after it is due."""
    report = simulated(cron("0 9,15 * * *"), days=2)
    assert times(report) == [f"2026-03-0{day}T{hour}:00" for day in (7, 8) for hour in ("09", "15")]
    assert total(report, "waiting") == {"mean_seconds": 0.0, "longest_seconds": 0.0}


def test_a_clock_change_is_as_the_schedule_has_it() -> None:
    """P9: half past two does not exist on that Sunday; it runs at three, once."""
    report = simulated(cron("30 2 * * *", timezone="America/New_York"), days=3)
    assert times(report) == ["2026-03-07T07:30", "2026-03-08T07:00", "2026-03-09T06:30"]


def test_an_outage_is_slept_through_and_followed_by_one_run() -> None:
    """P15: no catch-up; what passed is folded into the run after it."""
    down = Outage(START + 2 * HOUR - MINUTE, START + 6 * HOUR + 10 * MINUTE)
    report = simulated(cron("0 * * * *"), outages=[down], days=0.3)
    late = [run for run in report.runs if run["folded"]]
    assert [(run["scheduled_for"][11:16], run["at"][11:16], run["folded"]) for run in late] == [
        ("02:00", "06:10", 4)
    ]
    assert total(report, "folded") == 4
    assert total(report, "waiting")["longest_seconds"] == 4 * 3600 + 600


def test_what_is_too_late_after_an_outage_is_skipped_and_says_why() -> None:
    """P16: measured from the latest folded instant."""
    down = Outage(START + 30 * MINUTE, START + 3 * HOUR + 30 * MINUTE)
    tasks = [cron("0 * * * *", max_lateness_seconds=seconds) for seconds in (600, 1800)]
    report = simulated(*tasks, outages=[down], days=0.2)
    assert total(report, "skipped") == {"too_late": 1}
    assert times(report, "skipped") == ["2026-03-07T01:00"]


def test_a_run_that_goes_on_makes_the_next_occurrence_a_skip() -> None:
    """P13: overlap."""
    report = simulated(cron("*/5 * * * *"), run_seconds=400, days=0.011)
    assert [run["reason"] for run in report.runs] == [None, "overlap", None]


def test_a_run_longer_than_its_task_allows_times_out() -> None:
    """SPEC section 8: the worker ends it."""
    report = simulated(cron("0 1 * * *", timeout_seconds=300), run_seconds=301)
    assert (total(report, "runs"), total(report, "failed")) == (1, 1)
    assert total(simulated(cron("0 1 * * *"), run_seconds=301), "failed") == 0


def test_tasks_beyond_the_budget_wait_in_their_order() -> None:
    """P14: highest priority first; nobody is skipped."""
    tasks = [cron("0 1 * * *", priority=priority) for priority in (1, 9, 5)]
    report = simulated(*tasks, max_concurrent_runs=1, run_seconds=60)
    names = [report.tasks[run["task_id"]].title for run in report.runs]
    assert names == ["task 1", "task 2", "task 0"]
    assert total(report, "waiting") == {"mean_seconds": 60.0, "longest_seconds": 120.0}
    assert total(report, "skipped") == {}
    assert total(report, "longest_line") == {"at": "2026-03-07T01:00:00.000Z", "count": 3}
    assert total(report, "most_active") == {"at": "2026-03-07T01:00:00.000Z", "count": 1}


def test_a_budget_of_nothing_starts_nothing() -> None:
    """SPEC section 9: the kill switch."""
    report = simulated(cron("0 1 * * *"), cron("0 2 * * *"), max_concurrent_runs=0)
    assert total(report, "runs") == 0
    assert total(report, "waiting_at_the_end") == 2


def test_the_busiest_minute_is_the_one_in_which_most_runs_start() -> None:
    """Issue: prints the busiest minute."""
    tasks = [cron("0 9 * * *"), cron("0 9 * * *"), cron("0 * * * *")]
    report = simulated(*tasks, tick_seconds=20)
    assert total(report, "busiest_minute") == {"at": "2026-03-07T09:00:00.000Z", "count": 3}


def test_bounds_end_a_task() -> None:
    """SPEC section 3: `max_runs` and `ends_at`."""
    limited = simulated(cron("0 * * * *", max_runs=3))
    assert total(limited, "runs") == 3
    ended = simulated(cron("0 * * * *", ends_at="2026-03-07T02:00:00Z"))
    assert total(ended, "runs") == 2


def test_every_kind_of_schedule_is_simulated() -> None:
    """SPEC section 5: `every` on its grid, `once`, and `after_seconds`."""
    report = simulated(
        {"schedule_spec": {"every_seconds": 21_600, "anchor": "2026-03-07T01:00:00Z"}},
        {"schedule_spec": {"once": "2026-03-07T18:00:00"}, "timezone": "Asia/Tokyo"},
        {"schedule_spec": {"after_seconds": 90}},
    )
    assert [tally.runs for tally in report.tasks.values()] == [4, 1, 1]
    assert report.not_simulated == []


def test_a_task_that_would_be_refused_is_told_and_left_out() -> None:
    """Issue: the same rules as production."""
    report = simulated(
        cron("61 * * * *"),
        {"schedule_spec": {"once": "2020-01-01T00:00:00Z"}},
        cron("@daily", colour="red"),
    )
    assert report.tasks == {}
    assert [title for title, _ in report.not_simulated] == ["task 0", "task 1", "task 2"]
    assert "minute" in report.not_simulated[0][1]
    assert "60 seconds" in report.not_simulated[1][1]
    assert "colour" in report.not_simulated[2][1]


def test_tasks_of_a_thread_share_it() -> None:
    """SPEC section 2: a busy thread skips the occurrence with its tombstone."""
    both = {"context_mode": "reuse_thread", "thread_id": "tickets"}
    report = simulated(cron("0 1 * * *", **both), cron("0 1 * * *", **both))
    assert total(report, "skipped") == {"thread_busy": 1}


def test_the_time_that_passes_is_told() -> None:
    """Issue: say progress."""
    told: list[float] = []
    wishes = wishes_of([cron("0 * * * *")])
    simulate(wishes, Scenario(start=START, days=1), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 20


def test_a_year_of_a_quiet_task_takes_as_many_looks_as_it_has_runs() -> None:
    """Bounded: a tick that finds nothing is passed over."""
    report = simulated(cron("0 9 * * MON"), days=365)
    assert total(report, "runs") == 52
    assert total(report, "looks") == 52 + 1


def test_history_does_not_grow_with_the_days() -> None:
    """K11: no schedule depends on it, so that a long simulation needs no more memory."""
    report = simulated(cron("*/10 * * * *"), list_runs=False, days=3)
    assert total(report, "runs") == 432
    assert report.runs == []


@pytest.mark.parametrize("tick_seconds", [20, 60, 300])
def test_a_run_waits_for_the_first_tick_after_it_is_due(tick_seconds: int) -> None:
    """P17."""
    report = simulated({"schedule_spec": {"after_seconds": 65}}, tick_seconds=tick_seconds)
    waited = -65 % tick_seconds
    assert total(report, "waiting")["longest_seconds"] == waited


def test_the_first_tick_from_an_instant_is_on_the_grid() -> None:
    """Scenario: ticks begin at the start."""
    scenario = Scenario(start=START, tick_seconds=60)
    assert scenario.first_tick_from(START - DAY) == START
    assert scenario.first_tick_from(START + MINUTE) == START + MINUTE
    assert scenario.first_tick_from(START + timedelta(milliseconds=1)) == START + MINUTE
