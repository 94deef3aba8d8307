"""The main job through HTTP, the real handlers, the real state machine and a real worker."""

import os
import signal
import sys

from e2e.place import Place, eventually

ECHO = [sys.executable, "-c", "import sys; print('read:', sys.stdin.read())"]


def test_cron_once_and_manual_runs_end_in_success_with_their_output(place: Place) -> None:
    """P1, P4, P6: three ways to run a real command, each with its record."""
    ada = place.caller()
    place.worker("--concurrency", "4", "--allow-shell", "--", *ECHO)
    minutely = place.create(ada, prompt="every minute", schedule_spec={"cron": "* * * * *"})
    once = place.create(ada, prompt="once", schedule_spec={"after_seconds": 2})
    by_hand = place.create(
        ada, action={"kind": "shell", "command": "echo from the shell; echo $NIGHTSHIFT_TRIGGER"}
    )
    triggered = ada.post(f"/api/scheduled-tasks/{by_hand['id']}/trigger")
    assert triggered.status_code == 200, triggered.text

    run = place.ended(ada, by_hand)
    assert (run["status"], run["trigger"], run["scheduled_for"]) == ("success", "manual", None)
    assert run["id"] == triggered.json()["run_id"]
    assert run["result"]["output"] == "from the shell\nmanual\n"

    run = place.ended(ada, once)
    assert (run["status"], run["trigger"]) == ("success", "schedule")
    assert run["scheduled_for"] == once["next_run_at"]
    assert run["result"]["output"] == "read: once\n"
    task = ada.get(f"/api/scheduled-tasks/{once['id']}").json()
    assert (task["status"], task["next_run_at"]) == ("completed", None)

    run = place.ended(ada, minutely, within=90)
    assert (run["status"], run["scheduled_for"]) == ("success", minutely["next_run_at"])
    assert run["result"]["output"] == "read: every minute\n"
    ada.post(f"/api/scheduled-tasks/{minutely['id']}/pause")
    assert place.held_keys() == []


def test_a_command_that_exits_three_is_a_failed_run_with_that_code(place: Place) -> None:
    """SPEC section 8: an outcome without an explicit success is a failure."""
    ada = place.caller()
    place.worker("--allow-shell")
    task = place.create(ada, action={"kind": "shell", "command": "echo oops; exit 3"})
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    run = place.ended(ada, task)
    assert (run["status"], run["reason"]) == ("failed", "nonzero_exit")
    assert run["result"]["exit_code"] == 3
    assert run["result"]["output"] == "oops\n"
    after = ada.get(f"/api/scheduled-tasks/{task['id']}").json()
    assert (after["status"], after["last_status"]) == ("enabled", "failed")
    assert after["next_run_at"] == task["next_run_at"]


def test_a_second_trigger_while_one_runs_is_a_conflict(place: Place) -> None:
    """P4, P13: at most one active run per task; a trigger is never queued."""
    ada = place.caller()
    place.worker("--allow-shell")
    task = place.create(ada, action={"kind": "shell", "command": "sleep 30"})
    first = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    place.in_status(ada, task, "running")
    second = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    assert second.status_code == 409
    assert second.json()["code"] == "active_run"
    run_id = first.json()["run_id"]
    cancelled = ada.post(f"/api/scheduled-tasks/{task['id']}/runs/{run_id}/cancel")
    assert cancelled.status_code == 202
    run = place.ended(ada, task)
    assert (run["status"], run["id"]) == ("interrupted", run_id)
    assert len(place.runs(ada, task)) == 1
    assert place.held_keys() == []


def test_a_worker_killed_in_the_middle_fails_its_run_and_the_next_occurrence_runs(
    place: Place,
) -> None:
    """SPEC section 8: the worker fell silent, so the run is `worker_lost` and its keys are free."""
    ada = place.caller()
    doomed = place.worker("--allow-shell")
    task = place.create(
        ada,
        action={"kind": "shell", "command": "sleep 120"},
        schedule_spec={"cron": "* * * * *"},
    )
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    place.in_status(ada, task, "running")
    eventually(lambda: _is_picked_up(place, task["id"]), within=20, what="a worker has the run")
    os.killpg(doomed.pid, signal.SIGKILL)
    lost = place.runs(ada, task)[-1]
    edited = ada.patch(
        f"/api/scheduled-tasks/{task['id']}",
        json={"action": {"kind": "shell", "command": "echo back again"}},
    )
    assert edited.status_code == 200, edited.text

    def is_lost() -> bool:
        place.cloud.tick_now()
        run = ada.get(f"/api/scheduled-tasks/{task['id']}/runs/{lost['id']}").json()
        return (run["status"], run["reason"]) == ("failed", "worker_lost")

    eventually(is_lost, within=60, what="the silence is noticed")
    place.worker("--allow-shell")

    def next_ran() -> bool:
        place.cloud.tick_now()
        newest = place.runs(ada, task)[0]
        return (newest["trigger"], newest["status"]) == ("schedule", "success")

    eventually(next_ran, within=90, what="the next occurrence ran")
    assert place.runs(ada, task)[0]["result"]["output"] == "back again\n"
    ada.post(f"/api/scheduled-tasks/{task['id']}/pause")


def test_the_command_line_shows_what_the_api_knows(place: Place) -> None:
    """The desk finds the local cloud by itself and prints the API's JSON."""
    place.worker("--allow-shell")
    created = place.command_line(
        "tasks", "create", "--title", "By line", "--command", "echo hi", "--cron", "0 3 * * *"
    )
    place.command_line("tasks", "trigger", created["id"])
    caller = place.caller("me")
    run = place.ended(caller, created)
    listed = place.command_line("runs", "list", created["id"])
    assert [item["id"] for item in listed["items"]] == [run["id"]]
    assert listed["items"][0]["result"]["output"] == "hi\n"


def _is_picked_up(place: Place, task_id: str) -> bool:
    rows = [row for row in place.rows() if row["pk"]["S"] == f"TASK#{task_id}"]
    return any("picked_up_attempt" in row for row in rows)
