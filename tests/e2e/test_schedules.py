"""Schedules on the local cloud: previews, what newer zone rules move, and the days ahead."""

import json
import subprocess
import sys
from typing import Any

import httpx

from e2e.place import Place

NEW_YORK = {"schedule_spec": {"cron": "0 9 * * *"}, "timezone": "America/New_York"}
PROMPT = "Summarise."


def aged(place: Place, task: dict[str, Any], next_run_at: str) -> None:
    """Let a task be as if older zone rules had planned it for another time."""
    table = place.cloud.client("dynamodb")
    (row,) = [row for row in place.rows() if row["sk"]["S"] == f"TASK#{task['id']}"]
    table.update_item(
        TableName=place.cloud.outputs["TableName"],
        Key={"pk": row["pk"], "sk": row["sk"]},
        UpdateExpression="SET next_run_at = :at, due_at = :at, due_key = :key, tzdata_version = :v",
        ExpressionAttributeValues={
            ":at": {"S": next_run_at},
            ":key": {"S": f"{next_run_at}#{task['id']}"},
            ":v": {"S": "2000a"},
        },
    )
    table.delete_item(
        TableName=place.cloud.outputs["TableName"],
        Key={"pk": {"S": "CONTROL"}, "sk": {"S": "REPLAN"}},
    )


def nightshift(place: Place, *arguments: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "nightshift_toolkit.cli", *arguments, "--json"],
        cwd=place.cloud.state_dir.parent,
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def next_run(caller: httpx.Client, task: dict[str, Any]) -> str:
    """When the API says that a task is next."""
    return str(caller.get(f"/api/scheduled-tasks/{task['id']}").json()["next_run_at"])


def test_a_preview_needs_the_scope_to_read_and_no_other(place: Place) -> None:
    """SPEC section 7: it writes nothing."""
    body = {**NEW_YORK, "after": "2026-03-07T00:00:00Z", "count": 2}
    reader = place.caller("reader", scope="nightshift/read")
    answer = reader.post("/api/schedule-previews", json=body)
    assert answer.status_code == 200, answer.text
    assert [fire["utc"] for fire in answer.json()["next"]] == [
        "2026-03-07T14:00:00.000Z",
        "2026-03-08T13:00:00.000Z",
    ]
    writer = place.caller("writer", scope="nightshift/write")
    assert writer.post("/api/schedule-previews", json=body).status_code == 403


def test_ticks_move_what_newer_zone_rules_move(place: Place) -> None:
    """SPEC section 5, tzdata: a task that no look would meet, by the sweep of the tick."""
    caller = place.caller("zones")
    task = place.create(caller, prompt=PROMPT, **NEW_YORK)
    aged(place, task, "2099-01-01T14:00:00.000Z")
    for _ in range(3):
        place.cloud.tick_now()
    assert next_run(caller, task) == task["next_run_at"]


def test_an_operator_sees_what_would_move_and_moves_it_at_once(place: Place) -> None:
    """SPEC section 5, tzdata: `nightshift replan`, first without writing."""
    caller = place.caller("operator")
    task = place.create(caller, prompt=PROMPT, **NEW_YORK)
    aged(place, task, "2099-01-01T14:00:00.000Z")
    (dry,) = nightshift(place, "replan", "--dry-run")["moves"]
    assert (dry["task_id"], dry["after"]) == (task["id"], task["next_run_at"])
    assert not dry["written"]
    assert next_run(caller, task) == "2099-01-01T14:00:00.000Z"
    (done,) = nightshift(place, "replan")["moves"]
    assert done["written"]
    assert next_run(caller, task) == task["next_run_at"]


def test_the_days_ahead_of_my_tasks_can_be_simulated(place: Place) -> None:
    """The tasks come from the API; the virtual clock runs here."""
    caller = place.caller("planner")
    task = place.create(caller, prompt=PROMPT, schedule_spec={"cron": "0 * * * *"})
    arguments = ("--user", "planner", "--from", "2027-01-01T00:00:00Z", "--days", "1")
    told = nightshift(place, "simulate", *arguments)
    assert told["tasks"][task["id"]]["runs"] == 24
