"""`Idempotency-Key`: a create or a trigger that is sent again is the same one (SPEC section 7)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from nightshift.domain.model.instants import format_instant
from unit.functions.desk import ALICE, BOB, BOTH, DAILY, SUNDAY, TASKS, Desk, Reply, request

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def sent(
    desk: Desk, path: str, body: Any, key: str, *, user: str = ALICE, text: str | None = None
) -> Reply:
    """The answer to a POST under a key."""
    event = request("POST", path, claims={"sub": user, "scope": BOTH})
    event["headers"] |= {"idempotency-key": key, "content-type": "application/json"}
    event["body"] = text if text is not None else json.dumps(body)
    return desk.send(event)


def test_a_create_sent_again_is_the_same_task_with_the_same_status(desk: Desk) -> None:
    """Same key and body, same answer: 201, the id, the Location."""
    first = sent(desk, TASKS, DAILY, "morning")
    again = sent(desk, TASKS, DAILY, "morning")
    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert again.headers["Location"] == first.headers["Location"]
    assert len(desk.stored()) == 1


def test_a_create_sent_again_shows_the_task_as_it_is_now(desk: Desk) -> None:
    """The representation is the current one."""
    task_id = sent(desk, TASKS, DAILY, "morning").json["id"]
    desk.patch(task_id, title="Evening summary")
    again = sent(desk, TASKS, DAILY, "morning")
    assert (again.status, again.json["title"]) == (201, "Evening summary")
    assert again.headers["ETag"] == '"2"'


def test_a_create_sent_again_after_its_time_is_not_judged_anew(desk: Desk) -> None:
    """P10 binds at submission, and this one was submitted."""
    soon = DAILY | {"schedule_spec": {"once": format_instant(SUNDAY + timedelta(minutes=2))}}
    first = sent(desk, TASKS, soon, "morning")
    desk.now += timedelta(minutes=5)
    assert sent(desk, TASKS, soon, "morning").json["id"] == first.json["id"]


def test_a_create_sent_again_though_the_quota_is_full_is_the_same_task(desk: Desk) -> None:
    """The first one is what filled it."""
    desk.limit(max_tasks_per_user=1)
    first = sent(desk, TASKS, DAILY, "morning")
    assert sent(desk, TASKS, DAILY, "morning").json == first.json
    assert sent(desk, TASKS, DAILY, "evening").code == "quota_exceeded"


def test_a_create_sent_again_after_the_task_was_deleted_makes_no_second_one(desk: Desk) -> None:
    """What it made is gone: 404, as for any task that is."""
    task_id = sent(desk, TASKS, DAILY, "morning").json["id"]
    desk.call("DELETE", f"{TASKS}/{task_id}")
    assert sent(desk, TASKS, DAILY, "morning").code == "task_not_found"
    assert desk.stored() == []


def test_another_body_under_a_used_key_is_a_mismatch(desk: Desk) -> None:
    """SPEC section 7: idempotency_mismatch, 409."""
    sent(desk, TASKS, DAILY, "morning")
    other = sent(desk, TASKS, DAILY | {"title": "Another"}, "morning")
    assert (other.status, other.code) == (409, "idempotency_mismatch")
    assert len(desk.stored()) == 1


def test_the_same_body_spelled_otherwise_is_the_same(desk: Desk) -> None:
    """Bodies are compared by their values."""
    plain = '{"title":"A","prompt":"B","schedule_spec":{"cron":"0 9 * * *"}}'
    first = sent(desk, TASKS, None, "morning", text=plain)
    spaced = '{ "schedule_spec": {"cron": "0 9 * * *"}, "prompt": "\\u0042", "title": "A" }'
    assert sent(desk, TASKS, None, "morning", text=spaced).json == first.json


def test_a_refused_create_may_be_corrected_under_its_key(desk: Desk) -> None:
    """Only what was done is remembered."""
    assert sent(desk, TASKS, DAILY | {"timezone": "Mars"}, "morning").status == 422
    assert sent(desk, TASKS, DAILY, "morning").status == 201


def test_a_key_is_free_again_after_a_day(desk: Desk) -> None:
    """24 hours, to the second."""
    first = sent(desk, TASKS, DAILY, "morning").json["id"]
    desk.now = SUNDAY + DAY - SECOND
    assert sent(desk, TASKS, DAILY, "morning").json["id"] == first
    desk.now = SUNDAY + DAY
    assert sent(desk, TASKS, DAILY, "morning").json["id"] != first


def test_keys_of_two_users_have_nothing_to_do_with_each_other(desk: Desk) -> None:
    """P8."""
    mine = sent(desk, TASKS, DAILY, "morning").json["id"]
    theirs = sent(desk, TASKS, DAILY, "morning", user=BOB)
    assert (theirs.status, theirs.json["id"] == mine) == (201, False)


def test_a_trigger_sent_again_is_the_same_run_though_it_is_active(desk: Desk) -> None:
    """Same key, same answer; without one, or under another, the active run stands in the way."""
    task_id = desk.create()["id"]
    path = f"{TASKS}/{task_id}/trigger"
    first = sent(desk, path, {}, "now")
    again = sent(desk, path, None, "now", text="")
    assert (first.status, again.status) == (200, 200)
    assert again.json == first.json
    assert sent(desk, path, {}, "later").code == "active_run"
    assert desk.executions.launched == [first.json["run_id"]]


def test_a_trigger_sent_again_when_its_run_has_ended_starts_nothing(desk: Desk) -> None:
    """The run is shown as it is now."""
    task_id = desk.create()["id"]
    path = f"{TASKS}/{task_id}/trigger"
    run_id = sent(desk, path, {}, "now").json["run_id"]
    desk.call("POST", f"{TASKS}/{task_id}/runs/{run_id}/cancel")
    desk.look(desk.now + timedelta(minutes=10))
    again = sent(desk, path, {}, "now")
    assert (again.json["run_id"], again.json["run"]["status"]) == (run_id, "interrupted")
    assert desk.executions.launched == [run_id]


def test_a_trigger_whose_launch_was_refused_is_refused_again_the_same_way(desk: Desk) -> None:
    """Same key, same answer: 502, and no second try behind the caller's back."""
    task_id = desk.create()["id"]
    desk.executions.refuse_next("InvalidExecutionInput")
    path = f"{TASKS}/{task_id}/trigger"
    assert sent(desk, path, {}, "now").code == "launch_failed"
    assert sent(desk, path, {}, "now").code == "launch_failed"
    assert desk.executions.launched == []
    assert sent(desk, path, {}, "again").status == 200


def test_a_key_of_one_route_or_task_is_not_that_of_another(desk: Desk) -> None:
    """Bound to the route, its task included."""
    one, other = desk.create()["id"], desk.create()["id"]
    assert sent(desk, f"{TASKS}/{one}/trigger", {}, "now").status == 200
    assert sent(desk, f"{TASKS}/{other}/trigger", {}, "now").code == "idempotency_mismatch"
    assert sent(desk, TASKS, DAILY, "now").code == "idempotency_mismatch"


def test_a_trigger_sent_again_after_its_task_was_deleted_finds_no_task(desk: Desk) -> None:
    """P5: history goes with the task."""
    task_id = desk.create()["id"]
    sent(desk, f"{TASKS}/{task_id}/trigger", {}, "now")
    desk.call("DELETE", f"{TASKS}/{task_id}")
    assert sent(desk, f"{TASKS}/{task_id}/trigger", {}, "now").code == "task_not_found"


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 129, "schl\u00fcssel", "a\tb", "a\x7f"])
def test_a_key_is_1_to_128_visible_ascii_characters(desk: Desk, key: str) -> None:
    """Anything else is refused before anything is done."""
    reply = sent(desk, TASKS, DAILY, key)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert "Idempotency-Key" in reply.wrong()
    assert desk.stored() == []


@pytest.mark.parametrize("key", ["!", "~" * 128, '"quoted"', "a#b/c"])
def test_every_visible_character_may_be_in_a_key(desk: Desk, key: str) -> None:
    """Also those that keys of the table are made with."""
    first = sent(desk, TASKS, DAILY, key)
    assert first.status == 201
    assert sent(desk, TASKS, DAILY, key).json == first.json
