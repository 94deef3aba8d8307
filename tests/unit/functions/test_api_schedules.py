"""Schedules over HTTP: what an edit moves, what is too close, too late, spread or excluded."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from nightshift.domain.model.instants import format_instant, parse_instant
from unit.functions.desk import SUNDAY, TASKS, Desk

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
LEAP_DAY = parse_instant("2028-02-29T12:00:00.000Z")


@pytest.fixture
def desk() -> Desk:
    """The functions, on a Sunday at noon UTC, with nothing in the table."""
    return Desk()


def cron(*expressions: str, **exclude: Any) -> dict[str, Any]:
    """A schedule of cron expressions, with what is excluded."""
    spec: dict[str, Any] = {"cron": expressions[0] if len(expressions) == 1 else list(expressions)}
    return {"schedule_spec": spec | ({"exclude": exclude} if exclude else {})}


def launched(desk: Desk, at: datetime) -> int:
    """How many runs have been launched once the clock has looked."""
    desk.look(at)
    return len(desk.executions.launched)


def runs(desk: Desk, task: dict[str, Any]) -> list[dict[str, Any]]:
    """The history of a task as the API shows it."""
    shown: list[dict[str, Any]] = desk.call("GET", f"{TASKS}/{task['id']}/runs").json["items"]
    return shown


# -- editing --


@pytest.mark.parametrize("late", [timedelta(0), 3 * HOUR])
def test_the_same_schedule_in_other_words_moves_nothing(desk: Desk, late: timedelta) -> None:
    """P2: what counts is the normalised schedule; an overdue occurrence stays due."""
    task = desk.create(**cron("0 13 * * MON-FRI,SUN"))
    desk.now = SUNDAY + HOUR + late
    edited = desk.patch(task["id"], **cron("  0\t13 * * 0-5")).json
    assert edited["next_run_at"] == task["next_run_at"] == "2026-03-01T13:00:00.000Z"
    assert edited["revision"] == task["revision"]


def test_another_schedule_is_next_strictly_after_now_and_fires_nothing(desk: Desk) -> None:
    """P2: not for an instant that passed, and not for the one that is now."""
    task = desk.create(**cron("0 13 * * *"))
    desk.now = SUNDAY + 3 * HOUR
    moved = desk.patch(task["id"], **cron("0 13,15 * * *")).json
    assert moved["next_run_at"] == "2026-03-02T13:00:00.000Z"
    assert launched(desk, desk.now) == 0


def test_an_interval_keeps_its_grid_through_a_rename(desk: Desk) -> None:
    """SPEC section 5: renaming never moves the grid; nor does the same interval sent again."""
    task = desk.create(schedule_spec={"every_seconds": 600})
    desk.now = SUNDAY + 4 * MINUTE
    renamed = desk.patch(task["id"], title="Another").json
    again = desk.patch(task["id"], schedule_spec={"every_seconds": 600}).json
    for seen in (renamed, again):
        assert seen["schedule_spec"]["anchor"] == "2026-03-01T12:00:00.000Z"
        assert seen["next_run_at"] == "2026-03-01T12:10:00.000Z"
    longer = desk.patch(task["id"], schedule_spec={"every_seconds": 900}).json
    assert longer["next_run_at"] == "2026-03-01T12:19:00.000Z"


def test_resuming_never_fires_by_surprise(desk: Desk) -> None:
    """P3: the next time is strictly after now, also when now is one."""
    task = desk.create(**cron("0 * * * *"))
    desk.do("pause", task["id"])
    desk.now = SUNDAY + 5 * HOUR
    assert desk.do("resume", task["id"]).json["next_run_at"] == "2026-03-01T18:00:00.000Z"
    assert launched(desk, desk.now) == 0


# -- the floor --


def test_the_floor_holds_at_create_patch_and_resume(desk: Desk) -> None:
    """SPEC section 5: anywhere in the cycle, whenever a task is submitted."""
    desk.limit(min_interval_seconds=900)
    close = cron("0 9 * * *", "10 9 1 1 *")
    assert desk.call("POST", TASKS, {"title": "a", "prompt": "b", **close}).code == "too_frequent"
    task = desk.create(**cron("*/15 * * * *"))
    assert desk.patch(task["id"], **close).code == "too_frequent"
    desk.do("pause", task["id"])
    assert desk.patch(task["id"], **close).code == "too_frequent"
    desk.limit(min_interval_seconds=1800)
    assert desk.do("resume", task["id"]).code == "too_frequent"
    assert desk.task(task["id"])["status"] == "paused"


def test_a_floor_raised_later_leaves_what_runs_alone(desk: Desk) -> None:
    """SPEC section 3: re-planning asks when it is next, not whether it may be submitted."""
    task = desk.create(**cron("*/15 * * * *"))
    desk.limit(min_interval_seconds=1800)
    assert desk.patch(task["id"], title="Another").status == 200
    assert launched(desk, SUNDAY + 15 * MINUTE) == 1
    assert desk.task(task["id"])["next_run_at"] == "2026-03-01T12:30:00.000Z"


# -- lateness --


def test_an_occurrence_that_is_too_late_is_on_record_as_skipped(desk: Desk) -> None:
    """P16: a tombstone with its reason, and what it stands for."""
    task = desk.create(**cron("0 * * * *"), max_lateness_seconds=600)
    assert launched(desk, SUNDAY + 3 * HOUR + 11 * MINUTE) == 0
    (tombstone,) = runs(desk, task)
    assert (tombstone["status"], tombstone["reason"]) == ("skipped", "too_late")
    assert tombstone["scheduled_for"] == "2026-03-01T13:00:00.000Z"
    assert (tombstone["folded"], tombstone["folded_through"]) == (2, "2026-03-01T15:00:00.000Z")
    after = desk.task(task["id"])
    assert (after["status"], after["last_run_id"]) == ("enabled", None)
    assert after["next_run_at"] == "2026-03-01T16:00:00.000Z"


def test_a_single_time_that_is_too_late_has_failed(desk: Desk) -> None:
    """P13: its only chance is gone."""
    task = desk.create(schedule_spec={"after_seconds": 60}, max_lateness_seconds=600)
    assert launched(desk, SUNDAY + 12 * MINUTE) == 0
    after = desk.task(task["id"])
    assert (after["status"], after["last_error"]) == ("failed", "skipped: too_late")


# -- jitter --


def test_both_times_of_a_task_with_jitter_are_shown(desk: Desk) -> None:
    """SPEC section 5: nominal and effective; the identity of a run is the nominal one."""
    tasks = [desk.create(**cron("0 13 * * *"), jitter_seconds=1800) for _ in range(5)]
    nominal = "2026-03-01T13:00:00.000Z"
    assert {task["next_run_at"] for task in tasks} == {nominal}
    effective = {task["due_at"] for task in tasks}
    assert len(effective) > 1
    assert all(nominal <= due_at <= "2026-03-01T13:30:00.000Z" for due_at in effective)
    last = max(tasks, key=lambda task: task["due_at"])
    due_at = parse_instant(last["due_at"])
    before = launched(desk, due_at - MINUTE / 60)
    assert launched(desk, due_at) > before
    (run,) = runs(desk, last)
    assert run["scheduled_for"] == nominal
    assert run["id"].endswith("-20260301T130000000Z")


def test_jitter_that_is_edited_moves_the_effective_time_alone(desk: Desk) -> None:
    """P2: the schedule is the same."""
    task = desk.create(**cron("0 13 * * *"))
    spread = desk.patch(task["id"], jitter_seconds=1800).json
    assert spread["next_run_at"] == task["next_run_at"]
    assert desk.patch(task["id"], jitter_seconds=None).json["due_at"] == task["due_at"]


# -- several expressions, and what never fires --


def test_several_expressions_fire_once_where_they_coincide(desk: Desk) -> None:
    """SPEC section 5: the union."""
    task = desk.create(**cron("0 13 * * *", "0 */13 * * *", "30 13 * * *"))
    assert launched(desk, SUNDAY + HOUR) == 1
    assert desk.task(task["id"])["next_run_at"] == "2026-03-01T13:30:00.000Z"
    assert desk.task(task["id"])["schedule_spec"] == {
        "cron": ["0 13 * * *", "0 */13 * * *", "30 13 * * *"]
    }


def test_excluded_dates_and_times_never_fire(desk: Desk) -> None:
    """Issue: holidays and quiet hours, in the task's zone; a change of them moves the next time."""
    quiet = {"dates": ["2026-03-02/2026-03-04"], "times": ["21:00-09:00"]}
    task = desk.create(**cron("0 */4 * * *", **quiet), timezone="Asia/Tokyo")
    assert task["schedule_spec"]["exclude"] == quiet
    assert task["next_run_at"] == "2026-03-05T03:00:00.000Z"
    fewer = desk.patch(task["id"], **cron("0 */4 * * *", times=["21:00-09:00"])).json
    assert fewer["next_run_at"] == "2026-03-02T03:00:00.000Z"
    none = desk.patch(task["id"], **cron("0 */4 * * *")).json
    assert none["next_run_at"] == "2026-03-01T15:00:00.000Z"
    assert "exclude" not in none["schedule_spec"]


@pytest.mark.parametrize(
    ("exclude", "code"),
    [
        ({"dates": ["2026-02-30"]}, "invalid_schedule"),
        ({"dates": ["2026-03-04/2026-03-02"]}, "invalid_schedule"),
        ({"times": ["25:00-26:00"]}, "invalid_schedule"),
        ({"days": ["SUN"]}, "invalid_schedule"),
        ({"times": ["08:00-10:00"]}, "never_fires"),
    ],
)
def test_what_cannot_be_excluded_is_refused_at_create_and_patch(
    desk: Desk, exclude: dict[str, Any], code: str
) -> None:
    """SPEC section 5: and nothing is written."""
    wrong = cron("0 9 * * *", **exclude)
    assert desk.call("POST", TASKS, {"title": "a", "prompt": "b", **wrong}).code == code
    task = desk.create()
    assert desk.patch(task["id"], **wrong).code == code
    assert desk.task(task["id"]) == task


# -- the 29th of February --


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"cron": "0 0 29 2 *"}, "2032-02-29T00:00:00.000Z"),
        ({"cron": "0 9 L * *"}, "2028-03-31T09:00:00.000Z"),
        ({"cron": "0 13 L 2 *"}, "2028-02-29T13:00:00.000Z"),
        ({"cron": "@yearly"}, "2029-01-01T00:00:00.000Z"),
        ({"cron": "@daily"}, "2028-03-01T00:00:00.000Z"),
        ({"every_seconds": 86_400}, "2028-03-01T12:00:00.000Z"),
        ({"after_seconds": 366 * 86_400}, "2029-03-01T12:00:00.000Z"),
        ({"once": "2032-02-29T12:00:00Z"}, "2032-02-29T12:00:00.000Z"),
    ],
)
def test_a_leap_day_is_a_day_like_any_other(
    desk: Desk, spec: dict[str, Any], expected: str
) -> None:
    """Issue: with the clock on 29 February."""
    desk.now = LEAP_DAY
    task = desk.create(schedule_spec=spec)
    assert task["next_run_at"] == expected
    assert task["created_at"] == format_instant(LEAP_DAY)


def test_a_task_of_the_leap_day_runs_on_it_and_then_in_four_years(desk: Desk) -> None:
    """Issue: created, run, ended and planned anew on 29 February."""
    desk.now = LEAP_DAY
    task = desk.create(**cron("0 13 29 2 *"))
    assert launched(desk, LEAP_DAY + HOUR) == 1
    (run,) = runs(desk, task)
    assert run["scheduled_for"] == "2028-02-29T13:00:00.000Z"
    assert desk.task(task["id"])["next_run_at"] == "2032-02-29T13:00:00.000Z"
