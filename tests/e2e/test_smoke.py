"""`nightshift smoke` on a stack that works, and on ones that do not."""

import json
import subprocess
import sys
from typing import Any

import pytest

from e2e.place import Place, eventually

ECHO = [sys.executable, "-c", "import sys; print('read:', sys.stdin.read())"]
FAIL = [sys.executable, "-c", "raise SystemExit(3)"]


def smoke(place: Place, *options: str) -> subprocess.CompletedProcess[str]:
    """The command as an operator calls it, after a deployment."""
    return subprocess.run(
        [sys.executable, "-m", "nightshift_toolkit.cli", "smoke", "--user", "smoker", *options],
        cwd=place.cloud.state_dir.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def left_behind(place: Place) -> list[Any]:
    """The tasks of whoever smokes."""
    answer = place.caller("smoker").get("/api/scheduled-tasks")
    items: list[Any] = answer.json()["items"]
    return items


def test_a_stack_that_works_says_so_step_by_step_and_keeps_nothing(place: Place) -> None:
    """The first thing after a deployment, and the whole chain: API, workflow, worker, record."""
    place.worker("--", *ECHO)
    told = smoke(place)
    assert told.returncode == 0, told.stdout + told.stderr
    lines = told.stdout.splitlines()
    assert [line.split("  (")[0] for line in lines] == [
        "ok      The API answers",
        "ok      The token is accepted, and starts are allowed",
        "ok      A task is created",
        "ok      It is started by hand",
        "ok      A worker runs it, and its end is recorded",
        "ok      The task is deleted, with its history",
        "The stack works.",
    ]
    assert left_behind(place) == []


def test_the_clock_is_tried_where_that_is_asked_for(place: Place) -> None:
    """P10: the task is due as early as the policy lets it be."""
    place.worker("--", *ECHO)
    with subprocess.Popen(
        [sys.executable, "-m", "nightshift_toolkit.cli", "smoke", "--by-clock", "--json"],
        cwd=place.cloud.state_dir.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as smoker:

        def ended() -> bool:
            place.cloud.tick_now()
            return smoker.poll() is not None

        eventually(ended, within=60, what="the smoke test ended")
        assert smoker.stdout is not None
        told = json.loads(smoker.stdout.read())
    assert smoker.returncode == 0
    assert (told["run"]["status"], told["run"]["trigger"]) == ("success", "schedule")
    assert "The clock starts it" in [step["step"] for step in told["steps"]]


@pytest.mark.parametrize(
    ("worker", "options", "sentence"),
    [
        (None, ["--within", "2"], "The run has not ended within 2 s; it is running."),
        (FAIL, [], "The run ended as failed: nonzero_exit."),
        (ECHO, ["--by-clock", "--within", "1"], "The clock has not started the task."),
    ],
)
def test_a_stack_that_does_not_work_says_where_to_look_and_keeps_nothing(
    place: Place, worker: list[str] | None, options: list[str], sentence: str
) -> None:
    """A smoke test that only says no is of no use at three in the morning."""
    if worker:
        place.worker("--", *worker)
    told = smoke(place, *options)
    assert told.returncode == 1, told.stdout
    assert "failed  " in told.stdout
    error, advice = told.stderr.splitlines()
    assert error.startswith(f"Error: {sentence}")
    assert advice.startswith("Try:   ")
    assert left_behind(place) == []


def test_a_stack_whose_starts_are_stopped_says_so_and_makes_no_task(place: Place) -> None:
    """P14: the kill switch is no fault of the deployment."""
    admin = place.caller("operator")
    admin.patch("/api/policy", json={"max_concurrent_runs": 0})
    told = smoke(place)
    admin.patch("/api/policy", json={"max_concurrent_runs": None})
    assert told.returncode == 4
    assert "All starts are stopped" in told.stderr
    assert left_behind(place) == []


def test_an_address_where_nothing_answers_fails_at_the_first_step(place: Place) -> None:
    """The step that failed is the last line."""
    told = subprocess.run(
        [sys.executable, "-m", "nightshift_toolkit.cli", "smoke", "--url", "http://127.0.0.1:9"],
        env=place.environment() | {"NIGHTSHIFT_TOKEN": "token"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 7
    assert told.stdout == "failed  The API answers\n"
    assert "cannot be reached" in told.stderr
