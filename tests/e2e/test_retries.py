"""Further attempts of a run, through HTTP, the real state machine and a real worker."""

import os
import signal

from e2e.place import Place, eventually

QUICKLY = {"max_attempts": 3, "backoff_seconds": 1, "on": ["rate_limited", "worker_lost"]}
FAILS_TWICE = "echo attempt $NIGHTSHIFT_ATTEMPT; [ $NIGHTSHIFT_ATTEMPT = 3 ] || exit 75"


def shell(command: str) -> dict[str, str]:
    """A command as an action."""
    return {"kind": "shell", "command": command}


def test_a_run_that_was_rate_limited_twice_succeeds_in_its_third_attempt(place: Place) -> None:
    """SPEC section 8: the attempts are in the record, and the keys are held throughout."""
    ada = place.caller()
    place.worker("--allow-shell", "--retry-exit-code", "75=rate_limited")
    task = place.create(ada, action=shell(FAILS_TWICE), retry=QUICKLY)
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    run = place.ended(ada, task)
    assert (run["status"], run["attempt"], run["result"]["output"]) == ("success", 3, "attempt 3\n")
    assert [(one["attempt"], one["reason"], one["exit_code"]) for one in run["attempts"]] == [
        (1, "rate_limited", 75),
        (2, "rate_limited", 75),
    ]
    assert place.held_keys() == []


def test_a_failure_that_the_task_does_not_name_is_the_end_and_the_last_attempt_too(
    place: Place,
) -> None:
    """The reason of the run is that of its last attempt."""
    ada = place.caller()
    place.worker("--allow-shell", "--retry-output", "slow down=rate_limited")
    named = place.create(ada, action=shell("echo please slow down; exit 1"), retry=QUICKLY)
    other = place.create(ada, action=shell("exit 1"), retry=QUICKLY)
    for task in (named, other):
        ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    run = place.ended(ada, other)
    assert (run["reason"], run["attempt"], run["attempts"]) == ("nonzero_exit", 1, [])
    run = place.ended(ada, named)
    assert (run["status"], run["reason"], run["attempt"]) == ("failed", "rate_limited", 3)
    assert len(run["attempts"]) == 2


def test_a_run_whose_worker_is_lost_is_attempted_by_another(place: Place) -> None:
    """The silence is noticed, the loss recorded, and the next attempt finds the other worker."""
    ada = place.caller()
    doomed = place.worker("--allow-shell")
    command = "[ $NIGHTSHIFT_ATTEMPT = 2 ] || sleep 120; echo second"
    task = place.create(ada, action=shell(command), retry=QUICKLY)
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")

    def picked_up() -> bool:
        rows = [row for row in place.rows() if row["pk"]["S"] == f"TASK#{task['id']}"]
        return any("picked_up_attempt" in row for row in rows)

    eventually(picked_up, within=20, what="a worker has the run")
    os.killpg(doomed.pid, signal.SIGKILL)
    place.worker("--allow-shell")
    run = place.ended(ada, task, within=90)
    assert (run["status"], run["attempt"], run["result"]["output"]) == ("success", 2, "second\n")
    assert [(one["reason"], one["exit_code"]) for one in run["attempts"]] == [("worker_lost", None)]


def test_a_run_that_waits_for_its_next_attempt_can_be_cancelled(place: Place) -> None:
    """P7: its keys are free when that is confirmed, and no attempt follows."""
    ada = place.caller()
    place.worker("--allow-shell", "--retry-exit-code", "75=rate_limited")
    slowly = QUICKLY | {"backoff_seconds": 600}
    task = place.create(ada, action=shell("exit 75"), retry=slowly)
    started = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger").json()
    path = f"/api/scheduled-tasks/{task['id']}/runs/{started['run_id']}"
    eventually(lambda: bool(ada.get(path).json()["attempts"]), within=30, what="one has failed")
    assert ada.get(path).json()["status"] == "running"
    assert len(place.held_keys()) == 2
    assert ada.post(f"{path}/cancel").status_code == 202
    run = place.ended(ada, task)
    assert (run["status"], len(run["attempts"])) == ("interrupted", 1)
    assert place.held_keys() == []
