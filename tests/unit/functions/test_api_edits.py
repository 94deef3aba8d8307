"""Changes in part: absent, null and present are three things (P2, B127)."""

from datetime import timedelta
from typing import Any

import pytest

from nightshift.domain.model.enums import Outcome
from unit.functions.desk import SUNDAY, Desk, without


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def test_only_the_fields_sent_change(desk: Desk) -> None:
    """P2."""
    before = desk.create(labels={"team": "support"}, priority=7, assistant_id="analyst")
    desk.now += timedelta(hours=1)
    after = desk.patch(before["id"], title="Evening summary").json
    moved = ["title", "revision", "updated_at"]
    assert after["title"] == "Evening summary"
    assert after["revision"] == before["revision"] + 1
    assert without(moved, after) == without(moved, before)


@pytest.mark.parametrize(
    ("field", "value", "emptied"),
    [
        ("assistant_id", "analyst", None),
        ("max_lateness_seconds", 600, None),
        ("jitter_seconds", 120, 0),
        ("timeout_seconds", 60, 900),
        ("labels", {"team": "support"}, {}),
        ("starts_at", "2026-03-03T00:00:00.000Z", None),
        ("ends_at", "2026-04-03T00:00:00.000Z", None),
        ("max_runs", 5, None),
        ("pause_after_failures", 3, None),
    ],
)
def test_null_puts_back_what_can_be_empty_and_absence_leaves_it(
    desk: Desk, field: str, value: Any, emptied: Any
) -> None:
    """SPEC 7, B127: absent, null and present are three things."""
    task = desk.create(**{field: value})
    assert desk.patch(task["id"], title="Other").json[field] == value
    reply = desk.patch(task["id"], **{field: None})
    assert (reply.status, reply.json[field]) == (200, emptied)
    assert desk.patch(task["id"], **{field: value}).json[field] == value


@pytest.mark.parametrize(
    "field",
    [
        "title",
        "action",
        "prompt",
        "schedule_type",
        "schedule_spec",
        "timezone",
        "context_mode",
        "overlap_policy",
        "priority",
    ],
)
def test_null_is_refused_where_nothing_can_be_empty(desk: Desk, field: str) -> None:
    """SPEC 7, B127."""
    task = desk.create()
    reply = desk.patch(task["id"], **{field: None})
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert field in reply.wrong()
    assert desk.task(task["id"]) == task


def test_a_change_that_names_nothing_is_refused(desk: Desk) -> None:
    """B127: an empty change is more likely a mistake than a wish."""
    assert desk.patch(desk.create()["id"]).code == "invalid_request"


def test_a_misspelt_field_is_refused_and_named(desk: Desk) -> None:
    """B127: unknown fields are not ignored."""
    reply = desk.patch(desk.create()["id"], titel="Other")
    assert reply.wrong() == {"titel": "is not a field of this request."}


def test_an_unchanged_schedule_sent_back_moves_nothing(desk: Desk) -> None:
    """P2: a form that is saved as it was leaves the next time alone."""
    task = desk.create(schedule_spec={"every_seconds": 600})
    desk.now += timedelta(seconds=250)
    same = {name: task[name] for name in ("schedule_type", "schedule_spec", "timezone")}
    assert desk.patch(task["id"], **same).json["next_run_at"] == task["next_run_at"]


def test_a_new_zone_alone_reads_the_rule_in_it(desk: Desk) -> None:
    """P9."""
    task = desk.create()
    assert task["next_run_at"] == "2026-03-02T09:00:00.000Z"
    moved = desk.patch(task["id"], timezone="America/New_York").json
    assert moved["next_run_at"] == "2026-03-01T14:00:00.000Z"


def test_a_schedule_type_alone_is_refused(desk: Desk) -> None:
    """It says nothing without a schedule of its kind."""
    assert desk.patch(desk.create()["id"], schedule_type="cron").code == "invalid_schedule"


def test_a_new_prompt_replaces_the_old_one(desk: Desk) -> None:
    """P2."""
    task = desk.create()
    assert desk.patch(task["id"], prompt="New words.").json["action"]["prompt"] == "New words."
    assert desk.task(task["id"])["action"] == {"kind": "agent", "prompt": "New words."}


def test_a_task_that_is_being_dispatched_is_not_changed(desk: Desk) -> None:
    """P2, K7; B129: the answer says what helps."""
    task = desk.create()
    desk.do("trigger", task["id"])
    reply = desk.patch(task["id"], title="Other")
    assert (reply.status, reply.code) == (409, "task_not_mutable")
    assert desk.task(task["id"])["dispatching"] is True


def test_a_finished_task_moved_into_the_future_is_armed_again(desk: Desk) -> None:
    """P2."""
    task = desk.create(schedule_spec={"after_seconds": 60})
    desk.look(SUNDAY + timedelta(seconds=61))
    run_id = desk.task(task["id"])["active_run_id"]
    assert desk.task(task["id"])["status"] == "running"
    news = desk.executions.end(run_id, Outcome.FAILED, desk.now, reason="error")
    desk.completion.lifecycle.record_outcome(news)
    assert desk.task(task["id"])["status"] == "failed"
    armed = desk.patch(task["id"], schedule_spec={"after_seconds": 600}).json
    assert (armed["status"], armed["next_run_at"]) == ("enabled", "2026-03-01T12:11:01.000Z")
