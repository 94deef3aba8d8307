"""Tasks over HTTP: created, shown, changed in part, paused, resumed, deleted."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from unit.functions.desk import DAILY, SUNDAY, TASKS, Desk, without

FIELDS = frozenset(
    """id title action context_mode thread_id assistant_id schedule_type schedule_spec timezone
    overlap_policy priority timeout_seconds max_lateness_seconds jitter_seconds starts_at ends_at
    max_runs labels status blocked_reason overdue active_run_id dispatching pause_reason
    next_run_at last_run_at last_run_id last_thread_id last_status last_error run_count revision
    created_at updated_at""".split()  # noqa: SIM905 - the specification's own words
)


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def test_a_task_is_created_with_its_first_time_and_an_address(desk: Desk) -> None:
    """P1, P9: nine in New York is 14:00Z in winter."""
    reply = desk.call("POST", TASKS, {**DAILY, "timezone": "America/New_York"})
    task = reply.json
    assert reply.status == 201
    assert reply.headers["Location"] == f"{TASKS}/{task['id']}"
    assert task["next_run_at"] == task["due_at"] == "2026-03-01T14:00:00.000Z"
    assert (task["status"], task["dispatching"], task["overdue"]) == ("enabled", False, False)
    assert desk.task(task["id"]) == task


def test_a_task_shows_every_field_of_the_specification(desk: Desk) -> None:
    """SPEC 7: the task fields, and the effective time beside the nominal one."""
    added = {"due_at", "pause_until", "retry", "notify", "pause_after_failures"}
    added |= {"failures_in_a_row", "jitter", "jitter_place_seconds"}
    added |= {"include_previous_result", "last_success_run_id"}
    assert set(desk.create()) == FIELDS | added


def test_a_prompt_at_top_level_is_an_agent_action(desk: Desk) -> None:
    """SPEC 7."""
    body = without(["prompt"], DAILY) | {"action": {"kind": "agent", "prompt": "Hello"}}
    assert desk.create(prompt="Hello")["action"] == body["action"]
    assert desk.call("POST", TASKS, body).json["action"] == body["action"]


def test_a_command_is_refused_until_the_operator_allows_it(desk: Desk) -> None:
    """SPEC 9: allow_shell_actions is false."""
    body = without(["prompt"], DAILY) | {"action": {"kind": "shell", "command": "make report"}}
    assert desk.call("POST", TASKS, body).code == "invalid_request"
    desk.limit(allow_shell_actions=True)
    assert desk.call("POST", TASKS, body).json["action"] == body["action"]


@pytest.mark.parametrize(
    ("spec", "kind", "shown"),
    [
        ({"cron": ["0 9 * * *", "0  18 * * *"]}, "cron", {"cron": ["0 9 * * *", "0 18 * * *"]}),
        (
            {"every_seconds": 600, "anchor": "2026-03-01T00:05:00Z"},
            "every",
            {"every_seconds": 600, "anchor": "2026-03-01T00:05:00.000Z"},
        ),
        ({"once": "2026-03-02T09:00:00+01:00"}, "once", {"once": "2026-03-02T08:00:00.000Z"}),
        ({"after_seconds": 90}, "once", {"once": "2026-03-01T12:01:30.000Z"}),
    ],
)
def test_every_kind_of_schedule_is_shown_in_its_normal_form(
    desk: Desk, spec: dict[str, Any], kind: str, shown: dict[str, Any]
) -> None:
    """P1; schedule_type may be sent as long as it agrees."""
    task = desk.create(schedule_spec=spec, schedule_type=kind)
    assert (task["schedule_type"], task["schedule_spec"]) == (kind, shown)


def test_a_schedule_type_of_another_kind_is_refused(desk: Desk) -> None:
    """SPEC 7: selector fields of another kind are refused."""
    for wrong in ("every", "once"):
        reply = desk.call("POST", TASKS, {**DAILY, "schedule_type": wrong})
        assert (reply.code, list(reply.wrong())) == ("invalid_schedule", ["schedule_type"])


@pytest.mark.parametrize(
    "title", ["a\u202eb", "a\u200bb", "\ufeffa", "a\ufffe", "\U0010ffff", "a\ue000", "\U0001fffeb"]
)
def test_a_title_that_is_not_what_it_looks_like_is_refused(desk: Desk, title: str) -> None:
    """SPEC 7: one line for people; what turns it around or cannot be seen is no part of it."""
    refused = desk.call("POST", TASKS, {**DAILY, "title": title})
    assert (refused.status, list(refused.wrong())) == (422, ["title"])


def test_emoji_and_joiners_belong_to_titles(desk: Desk) -> None:
    """B128: families of emoji and Persian words need their joiners."""
    title = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e\u0648\u0627"
    assert desk.create(title=title)["title"] == title


def test_bounds_are_shown_as_instants(desk: Desk) -> None:
    """SPEC 5: whatever offset they came with, UTC."""
    task = desk.create(
        timezone="Europe/Berlin",
        starts_at="2026-03-05T00:00:00+01:00",
        ends_at="2026-04-01T00:00:00Z",
        max_runs=3,
    )
    assert task["starts_at"] == "2026-03-04T23:00:00.000Z"
    assert (task["ends_at"], task["max_runs"]) == ("2026-04-01T00:00:00.000Z", 3)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"timezone": "Mars/Olympus"}, "invalid_time_zone"),
        ({"schedule_spec": {"cron": "61 * * * *"}}, "invalid_schedule"),
        ({"schedule_spec": {"cron": "0 0 31 2 *"}}, "never_fires"),
        ({"schedule_spec": {"once": "2026-03-01T12:00:30Z"}}, "not_in_future"),
        ({"schedule_spec": {"every_seconds": 60}}, "too_frequent"),
        ({"schedule_spec": {"cron": "0 9 * * *", "every_seconds": 600}}, "invalid_schedule"),
        ({"schedule_spec": {"cron": "0 9 * * *", "anchor": "2026-03-01T00:00:00Z"}}, None),
        ({"schedule_spec": {}}, "invalid_schedule"),
        ({"schedule_spec": {"every_seconds": True}}, "invalid_schedule"),
        ({"schedule_spec": {"every_seconds": "600"}}, "invalid_schedule"),
        ({"schedule_spec": {"once": 1772938800}}, "invalid_schedule"),
        ({"schedule_spec": {"once": "2026-03-08"}}, "invalid_schedule"),
        ({"context_mode": "reuse_thread"}, "invalid_request"),
        ({"thread_id": "mine"}, "invalid_request"),
        ({"timeout_seconds": 3601}, "invalid_request"),
        ({"prompt": "x" * (65 * 1024)}, "payload_too_large"),
    ],
)
def test_a_bad_task_is_refused_at_once_and_nothing_is_written(
    desk: Desk, fields: dict[str, Any], code: str | None
) -> None:
    """SPEC 2: bad input is refused at once, nothing written."""
    reply = desk.call("POST", TASKS, {**DAILY, **fields})
    assert (reply.status, reply.code) == (422, code or "invalid_schedule")
    assert desk.stored() == []


def test_a_task_can_run_in_a_thread_of_its_users_and_in_no_other(desk: Desk) -> None:
    """P1, P8."""
    fields = {"context_mode": "reuse_thread", "thread_id": "tickets"}
    assert desk.call("POST", TASKS, DAILY | fields).code == "thread_not_found"
    desk.call("PUT", "/api/threads/tickets", user="bob")
    assert desk.call("POST", TASKS, DAILY | fields).code == "thread_not_found"
    desk.call("PUT", "/api/threads/tickets")
    assert desk.create(**fields)["thread_id"] == "tickets"


def test_a_user_may_have_so_many_tasks_and_no_more(desk: Desk) -> None:
    """SPEC 9: max_tasks_per_user."""
    desk.limit(max_tasks_per_user=1)
    desk.create()
    assert desk.call("POST", TASKS, DAILY).code == "quota_exceeded"


# -- paused, resumed, deleted --


def test_a_paused_task_says_why_and_has_no_next_time_until_it_is_resumed(desk: Desk) -> None:
    """P3."""
    task = desk.create()
    paused = desk.call("POST", f"{TASKS}/{task['id']}/pause", {"reason": "Holidays"}).json
    assert (paused["status"], paused["pause_reason"]) == ("paused", "Holidays")
    assert paused["next_run_at"] is None
    desk.now += timedelta(days=3)
    resumed = desk.do("resume", task["id"]).json
    assert (resumed["status"], resumed["pause_reason"]) == ("enabled", None)
    assert resumed["next_run_at"] == "2026-03-05T09:00:00.000Z"


def test_a_pause_with_an_end_shows_it_and_ends_by_itself(desk: Desk) -> None:
    """P3: it is not shown as a time of the task's, and is gone when it is over."""
    task = desk.create()
    path, end = f"{TASKS}/{task['id']}/pause", "2026-03-05T10:00:00+01:00"
    paused = desk.call("POST", path, {"reason": "Holidays", "until": end}).json
    assert (paused["status"], paused["pause_until"]) == ("paused", "2026-03-05T09:00:00.000Z")
    assert (paused["next_run_at"], paused["due_at"], paused["overdue"]) == (None, None, False)
    desk.look(datetime(2026, 3, 5, 9, tzinfo=UTC))
    woken = desk.task(task["id"])
    assert (woken["status"], woken["pause_reason"], woken["pause_until"]) == ("enabled", None, None)
    assert (woken["run_count"], woken["revision"]) == (1, paused["revision"])


@pytest.mark.parametrize(
    ("until", "code"),
    [
        ("2026-03-01T12:00:00Z", "not_in_future"),
        ("2026-03-05T10:00:00", "invalid_schedule"),
        (5, "invalid_request"),
        ("9999-12-31T23:59:59Z", "never_fires"),
    ],
)
def test_an_end_that_no_pause_can_have_is_refused(desk: Desk, until: object, code: str) -> None:
    """SPEC 7: 422 that names the field; nothing changes."""
    task = desk.create()
    reply = desk.call("POST", f"{TASKS}/{task['id']}/pause", {"until": until})
    assert (reply.status, reply.code) == (422, code)
    assert reply.json["errors"][0]["field"] == "until"
    assert desk.task(task["id"]) == task


def test_a_once_whose_time_passed_while_paused_needs_a_new_one(desk: Desk) -> None:
    """P3."""
    task = desk.create(schedule_spec={"after_seconds": 60})
    desk.do("pause", task["id"])
    desk.now += timedelta(minutes=5)
    assert desk.do("resume", task["id"]).code == "time_passed"


def test_a_deleted_task_is_gone(desk: Desk) -> None:
    """P5."""
    task = desk.create()
    reply = desk.call("DELETE", f"{TASKS}/{task['id']}")
    assert (reply.status, reply.text) == (204, "")
    assert "Content-Type" not in reply.headers
    assert desk.call("GET", f"{TASKS}/{task['id']}").code == "task_not_found"
    assert desk.call("DELETE", f"{TASKS}/{task['id']}").code == "task_not_found"


def test_a_task_that_waits_for_a_seat_is_overdue(desk: Desk) -> None:
    """P14: it waits as long as it takes, and shows that it does."""
    desk.limit(max_concurrent_runs=0)
    task = desk.create(schedule_spec={"after_seconds": 60})
    desk.look(SUNDAY + timedelta(seconds=61))
    shown = desk.task(task["id"])
    assert (shown["overdue"], shown["status"]) == (True, "enabled")
