"""`nightshift runs`: runs that stand still, go on, and are attempted again."""

import json
from typing import Any

import pytest

from integration.cli.desk import TASK_PATH, Run, ok
from integration.cli.recorded_api import RUN, RUN_ID, RecordedApi, problem
from nightshift_toolkit.cli.failures import ExitCode

RUN_PATH = f"{TASK_PATH}/runs/{RUN_ID}"
RUNNING = RUN | {
    "status": "running",
    "reason": None,
    "error": None,
    "result": None,
    "finished_at": None,
    "at_work": True,
    "can_pause": True,
}
BEFORE = [
    {
        "attempt": 1,
        "reason": "rate_limited",
        "exit_code": 75,
        "finished_at": "2026-01-05T14:00:31.000Z",
    },
    {
        "attempt": 2,
        "reason": "worker_lost",
        "exit_code": None,
        "finished_at": "2026-01-05T14:10:31.000Z",
    },
]


def shown(api: RecordedApi, run: Run, **fields: Any) -> str:
    """What `runs show` prints of a run with these fields."""
    api.answer("GET", RUN_PATH, 200, RUNNING | fields)
    return ok(run("runs", "show", RUN_ID, TZ="UTC"))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("pause", f"Pausing {RUN_ID}\nLet it go on:  nightshift runs resume {RUN_ID}\n"),
        ("resume", f"Resuming {RUN_ID}\n"),
    ],
)
def test_a_wish_for_a_run_is_asked_for_and_said(
    api: RecordedApi, run: Run, word: str, said: str
) -> None:
    """The worker follows it with its next heartbeat."""
    api.answer("POST", f"{RUN_PATH}/{word}", 202, RUNNING | {"pause_requested": word == "pause"})
    assert ok(run("runs", word, RUN_ID)) == said
    assert json.loads(ok(run("runs", word, RUN_ID, "--json")))["id"] == RUN_ID
    assert {(asked.method, asked.path) for asked in api.asked} == {("POST", f"{RUN_PATH}/{word}")}


@pytest.mark.parametrize("word", ["pause", "resume"])
def test_a_run_that_cannot_be_paused_is_said_to_be_so(
    api: RecordedApi, run: Run, word: str
) -> None:
    """409 `run_not_pausable`."""
    refusal = problem(409, "run_not_pausable", "The run is not at work; it cannot be paused.")
    api.answer("POST", f"{RUN_PATH}/{word}", 409, refusal)
    result = run("runs", word, RUN_ID)
    assert result.exit_code not in (ExitCode.OK, ExitCode.USAGE)
    assert "not at work" in result.stderr


def test_a_run_is_shown_with_its_pause(api: RecordedApi, run: Run) -> None:
    """Since when it stands still, and how long it did before."""
    output = shown(api, run, paused_at="2026-01-05T14:03:00.000Z", paused_seconds=90)
    (since,) = [line for line in output.splitlines() if line.startswith("Paused ")]
    assert "2026-01-05 14:03" in since
    assert "Was paused  90 s\n" in output


def test_a_run_is_shown_with_every_attempt_before_its_last(api: RecordedApi, run: Run) -> None:
    """Number, reason, exit code where there is one, and when."""
    lines = shown(api, run, attempt=3, attempts=BEFORE).splitlines()
    attempts = [" ".join(line.split()) for line in lines if "ttempt" in line or "before" in line]
    assert attempts[0] == "Attempt 3"
    assert attempts[1].startswith("before 1: rate_limited, exit code 75, ")
    assert attempts[2].startswith("before 2: worker_lost, ")
    assert "exit code" not in attempts[2]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"at_work": True}, "1"),
        ({"at_work": False}, "1, waits for a worker"),
        ({"at_work": True, "attempt": 2, "attempts": BEFORE[:1]}, "2"),
        (
            {"at_work": False, "attempt": 2, "attempts": BEFORE[:1]},
            "2, waits for its time or a worker",
        ),
        ({"at_work": False, "status": "failed", "attempt": 2, "attempts": BEFORE[:1]}, "2"),
        ({"at_work": False, "status": "queued"}, "1"),
    ],
)
def test_an_attempt_that_has_not_begun_is_said_to_wait(
    api: RecordedApi, run: Run, fields: dict[str, Any], said: str
) -> None:
    """The number is that of the latest, which may not have begun."""
    (line,) = [one for one in shown(api, run, **fields).splitlines() if "Attempt" in one]
    assert " ".join(line.split()) == f"Attempt {said}"
