"""Runs over HTTP: triggered, shown, cancelled."""

from datetime import timedelta
from typing import Any

import pytest

from nightshift.domain.model.enums import Outcome
from unit.functions.desk import SUNDAY, TASKS, Desk, ids

FIELDS = frozenset(
    """id task_id thread_id execution_arn scheduled_for trigger status reason error result attempt
    folded started_at finished_at created_at""".split()  # noqa: SIM905 - the specification's own
)


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def test_a_trigger_starts_a_run_and_names_it(desk: Desk) -> None:
    """P4."""
    task = desk.create()
    reply = desk.do("trigger", task["id"])
    assert (reply.status, reply.json["run_id"]) == (200, reply.json["run"]["id"])
    assert desk.executions.launched == [reply.json["run_id"]]
    assert reply.json["run"]["trigger"] == "manual"
    assert desk.task(task["id"])["next_run_at"] == task["next_run_at"]
    assert "run_triggered" in desk.actions()


def test_a_run_shows_every_field_of_the_specification(desk: Desk) -> None:
    """SPEC 7: and the schedule as it was."""
    task = desk.create()
    run = desk.begin(task["id"])
    desk.patch(task["id"], schedule_spec={"cron": "0 10 * * *"})
    shown = desk.call("GET", f"{TASKS}/{task['id']}/runs/{run.id}").json
    extras = {"can_pause", "pause_requested", "paused_at", "paused_seconds"}
    extras |= {"attempts", "at_work", "folded_through", "folded_cut", "previous_run_id", "schedule"}
    assert set(shown) == FIELDS | extras
    assert shown["status"] == "running"
    assert shown["execution_arn"].endswith(run.id)
    assert shown["schedule"]["schedule_spec"] == {"cron": "0 9 * * *"}


def test_a_second_trigger_meets_the_active_run(desk: Desk) -> None:
    """P4: never queued."""
    task_id = desk.create()["id"]
    desk.do("trigger", task_id)
    reply = desk.do("trigger", task_id)
    assert (reply.status, reply.code) == (409, "active_run")


def test_a_trigger_meets_a_full_budget_and_a_busy_thread(desk: Desk) -> None:
    """P4, P14."""
    desk.call("PUT", "/api/threads/tickets")
    bound = {"context_mode": "reuse_thread", "thread_id": "tickets"}
    first, second = desk.create(**bound)["id"], desk.create(**bound)["id"]
    desk.do("trigger", first)
    assert desk.do("trigger", second).code == "thread_busy"
    desk.limit(max_concurrent_runs=1)
    assert desk.do("trigger", desk.create()["id"]).code == "budget_full"


def test_a_launch_that_is_refused_is_told_and_leaves_the_task_as_it_was(desk: Desk) -> None:
    """P4, SPEC 2: 502."""
    task = desk.create()
    desk.executions.refuse_next("the machine says arn:aws:states:secret")
    reply = desk.do("trigger", task["id"])
    assert (reply.status, reply.code) == (502, "launch_failed")
    assert "secret" not in reply.text
    after = desk.task(task["id"])
    assert (after["status"], after["next_run_at"]) == ("enabled", task["next_run_at"])


@pytest.mark.parametrize("starts", [True, False])
def test_a_launch_that_may_have_happened_is_a_queued_run(desk: Desk, starts: bool) -> None:
    """SPEC 6: 200 with the run `queued`."""
    task_id = desk.create()["id"]
    desk.executions.lose_next(starts=starts)
    reply = desk.do("trigger", task_id)
    assert (reply.status, reply.json["run"]["status"]) == (200, "queued")


def test_a_paused_task_is_triggered_by_hand_and_stays_paused(desk: Desk) -> None:
    """P3."""
    task_id = desk.create()["id"]
    desk.do("pause", task_id)
    assert desk.do("trigger", task_id).status == 200
    assert desk.task(task_id)["status"] == "paused"


def test_a_tombstone_has_a_reason_and_no_execution(desk: Desk) -> None:
    """P13: the occurrence that met an active run is in the history."""
    task_id = desk.create(schedule_spec={"every_seconds": 300})["id"]
    desk.begin(task_id)
    desk.look(SUNDAY + timedelta(seconds=301))
    newest = desk.call("GET", f"{TASKS}/{task_id}/runs", query="status=skipped").json["items"][0]
    assert (newest["status"], newest["reason"]) == ("skipped", "overlap")
    assert newest["execution_arn"] is None
    assert newest["scheduled_for"] == "2026-03-01T12:05:00.000Z"


def test_an_active_run_is_cancelled_when_step_functions_says_so(desk: Desk) -> None:
    """P7: accepted, and confirmed before its keys are free."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    reply = desk.call("POST", f"{TASKS}/{task_id}/runs/{run.id}/cancel")
    assert (reply.status, reply.json["status"]) == (202, "running")
    assert desk.executions.stops == [run.id]
    assert desk.store.held_keys() != {}
    desk.look(desk.now)
    path = f"{TASKS}/{task_id}/runs/{run.id}"
    assert desk.call("GET", path).json["status"] == "interrupted"
    assert desk.store.held_keys() == {}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pause", {"reason": "holiday"}),
        ("PATCH", "", {"title": "Another title"}),
        ("DELETE", "", None),
    ],
)
@pytest.mark.parametrize("cancel", ["true", "false", None])
def test_a_change_cancels_the_active_run_where_it_is_asked_to(
    desk: Desk, method: str, path: str, body: dict[str, Any] | None, cancel: str | None
) -> None:
    """P5, P7: without it a run in flight goes on."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    query = "" if cancel is None else f"cancel_active={cancel}"
    reply = desk.call(method, f"{TASKS}/{task_id}{path}", body, query=query)
    assert reply.status in (200, 204)
    assert desk.executions.stops == ([run.id] if cancel == "true" else [])
    desk.look(desk.now)
    assert (desk.store.held_keys() == {}) == (cancel == "true")


def test_a_second_pause_cancels_though_it_changes_nothing_else(desk: Desk) -> None:
    """P7: whoever repeats a request that was not answered gets what it was for."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    path = f"{TASKS}/{task_id}/pause"
    assert desk.call("POST", path).json["status"] == "paused"
    again = desk.call("POST", path, query="cancel_active=true")
    assert again.status == 200
    assert desk.executions.stops == [run.id]


def test_an_edit_cancels_no_run_that_is_being_launched_whether_it_changes_anything_or_not(
    desk: Desk,
) -> None:
    """K7: until the fence is passed the task is not to be edited."""
    task = desk.create()
    desk.do("trigger", task["id"])
    for title in (task["title"], "Another title"):
        path = f"{TASKS}/{task['id']}"
        refused = desk.call("PATCH", path, {"title": title}, query="cancel_active=true")
        assert (refused.status, refused.json["code"]) == (409, "task_not_mutable")
    assert desk.executions.stops == []


@pytest.mark.parametrize("word", ["1", "True", "yes", ""])
def test_whether_to_cancel_is_true_or_false(desk: Desk, word: str) -> None:
    """SPEC 7: no coercion."""
    task_id = desk.create()["id"]
    refused = desk.call("DELETE", f"{TASKS}/{task_id}", query=f"cancel_active={word}")
    assert (refused.status, list(refused.wrong())) == (422, ["cancel_active"])
    assert desk.stored() == [task_id]


def test_a_run_that_had_ended_keeps_its_outcome_when_it_is_cancelled(desk: Desk) -> None:
    """P7."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    news = desk.executions.end(run.id, Outcome.SUCCESS, desk.now)
    desk.completion.lifecycle.record_outcome(news)
    reply = desk.call("POST", f"{TASKS}/{task_id}/runs/{run.id}/cancel")
    assert (reply.status, reply.json["status"]) == (202, "success")
    assert desk.executions.stops == []


def test_the_history_goes_with_the_task(desk: Desk) -> None:
    """P5."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    assert ids(desk.call("GET", f"{TASKS}/{task_id}/runs")) == [run.id]
    desk.call("DELETE", f"{TASKS}/{task_id}")
    assert desk.call("GET", f"{TASKS}/{task_id}/runs").code == "task_not_found"
    assert desk.call("GET", f"{TASKS}/{task_id}/runs/{run.id}").code == "task_not_found"
