"""How the command line says no: a sentence, a hint, an exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from integration.cli.desk import TASK_PATH, TASKS, Run
from integration.cli.recorded_api import (
    TASK_ID,
    RecordedApi,
    problem,
)
from nightshift_toolkit.cli.failures import ExitCode


@pytest.mark.parametrize(
    ("status", "code", "exit_code", "hint"),
    [
        (404, "task_not_found", ExitCode.NOT_FOUND, "nightshift tasks list"),
        (409, "active_run", ExitCode.CONFLICT, f"nightshift runs list {TASK_ID}"),
        (412, "precondition_failed", ExitCode.CONFLICT, None),
        (422, "invalid_time_zone", ExitCode.REFUSED, "--zone Europe/Berlin"),
        (400, "invalid_cursor", ExitCode.REFUSED, None),
        (401, "unauthenticated", ExitCode.NOT_SIGNED_IN, "nightshift token"),
        (403, None, ExitCode.NOT_SIGNED_IN, "nightshift token"),
        (500, "corrupt_task", ExitCode.FAULT, "nightshift tasks edit"),
        (502, "launch_failed", ExitCode.FAULT, "nightshift runs list"),
    ],
)
def test_a_refusal_is_a_sentence_a_hint_and_an_exit_code(
    api: RecordedApi, run: Run, status: int, code: str | None, exit_code: int, hint: str | None
) -> None:
    api.answer("GET", TASK_PATH, status, problem(status, code or "", "It cannot be done."))
    result = run("tasks", "show", TASK_ID)
    assert result.exit_code == exit_code
    assert result.stderr.startswith("Error: ")
    assert ("Try:   " in result.stderr) == (hint is not None)
    assert hint is None or hint in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_every_refused_field_is_named(api: RecordedApi, run: Run) -> None:
    errors = [
        {"field": "timezone", "message": "Not a zone."},
        {"field": "title", "message": "Empty."},
    ]
    api.answer("POST", TASKS, 422, problem(422, "invalid_request", "Not valid.", errors=errors))
    result = run("tasks", "create", "--prompt", "x", "--in", "70s")
    assert result.exit_code == ExitCode.REFUSED
    assert (
        "Error: Not valid.\n       timezone: Not a zone.\n       title: Empty.\n" in result.stderr
    )


def test_a_refused_field_that_the_sentence_names_is_not_named_twice(
    api: RecordedApi, run: Run
) -> None:
    errors = [{"field": "schedule_spec.cron", "message": "minute: 61 is not between 0 and 59"}]
    sentence = "Minute: 61 is not between 0 and 59."
    api.answer("POST", TASKS, 422, problem(422, "invalid_schedule", sentence, errors=errors))
    result = run("tasks", "create", "--prompt", "x", "--cron", "61 * * * *")
    assert result.stderr.splitlines()[0] == f"Error: {sentence}"
    assert "schedule_spec" not in result.stderr


def test_in_json_a_refusal_is_the_apis_own_document(api: RecordedApi, run: Run) -> None:
    document = problem(409, "budget_full", "As many runs as allowed are active.")
    api.answer("POST", f"{TASK_PATH}/trigger", 409, document)
    result = run("tasks", "trigger", TASK_ID, "--json")
    assert result.exit_code == ExitCode.CONFLICT
    assert json.loads(result.stderr) == document
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("field", "said", "shown"),
    [
        ("schedule_spec.every_seconds", "Every_seconds must", "every_seconds must"),
        ("thread_id", "Thread_id must", "thread_id must"),
        ("schedule_spec.exclude.dates", "Exclude: must", "exclude: must"),
        ("schedule_spec.cron", "Minute: must", "Minute: must"),
    ],
)
def test_a_field_keeps_its_name_at_the_beginning_of_a_sentence(
    api: RecordedApi, run: Run, field: str, said: str, shown: str
) -> None:
    errors = [{"field": field, "message": f"{shown} be right"}]
    refusal = problem(422, "invalid_schedule", f"{said} be right.", errors=errors)
    api.answer("POST", TASKS, 422, refusal)
    result = run("tasks", "create", "--prompt", "x", "--every", "1s")
    assert result.stderr.splitlines()[0] == f"Error: {shown} be right."


@pytest.mark.parametrize(
    ("options", "field", "hint"),
    [
        (("--in", "0s"), "schedule_spec.after_seconds", "--in 2m"),
        (("--every", "0s"), "schedule_spec.every_seconds", "--every 10m"),
        (("--every", "0s"), "schedule_spec", "--every 10m"),
        (("--cron", "@daily"), None, "nightshift next '"),
        (("--once", "now"), "schedule_spec.once", "--once 2099-"),
        (("--cron", "x"), "schedule_spec.cron", "nightshift next '"),
        (("--cron", "@daily", "--ends-at", "x"), "ends_at", "--ends-at 2099-"),
        (("--cron", "@daily"), "schedule_spec.exclude.dates", "--exclude 2099-"),
    ],
)
def test_the_hint_fits_the_option_that_is_wrong(
    api: RecordedApi, run: Run, options: tuple[str, ...], field: str | None, hint: str
) -> None:
    errors = [{"field": field, "message": "must be right."}]
    refusal = problem(422, "invalid_schedule", "It is wrong.", errors=errors)
    api.answer("POST", TASKS, 422, refusal)
    result = run("tasks", "create", "--prompt", "x", *options)
    assert f"Try:   {hint}" in result.stderr


def test_no_hint_is_given_that_does_not_fit(api: RecordedApi, run: Run) -> None:
    """A single time has no number of runs; another time would not help."""
    api.answer("POST", TASKS, 422, problem(422, "invalid_schedule", "It has no max_runs."))
    result = run("tasks", "create", "--prompt", "x", "--in", "70s", "--max-runs", "3")
    assert result.stderr == "Error: It has no max_runs.\n"


def test_the_longest_timeout_is_the_one_in_force(api: RecordedApi, run: Run) -> None:
    """Not that of any deployment, which the API may name first."""
    errors = [{"field": "timeout_seconds", "message": "must be at most 604800."}]
    sentence = "timeout_seconds must be at most 604800."
    api.answer("POST", TASKS, 422, problem(422, "invalid_request", sentence, errors=errors))
    api.answer("GET", "/api/policy", 403, {"message": "Forbidden"})
    api.answer("GET", "/api/policy", 200, {"max_timeout_seconds": 3600})
    unknown = run("tasks", "create", "--prompt", "x", "--in", "70s", "--timeout", "99d")
    assert unknown.stderr == f"Error: {sentence}\n"
    result = run("tasks", "create", "--prompt", "x", "--in", "70s", "--timeout", "99d")
    assert result.exit_code == ExitCode.REFUSED
    assert result.stderr == "Error: timeout_seconds must be at most 3600.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--token", "\u00e9"),
        ("--token", "two words"),
        ("--url", "http://["),
        ("--url", "http://127.0.0.1:99999"),
        ("--url", "https://\udcff.example"),
        ("--label", "\udcff=1"),
    ],
)
def test_what_cannot_be_sent_is_a_usage_error_with_a_sentence(
    run: Run, arguments: tuple[str, ...]
) -> None:
    result = run("tasks", "list", *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert "Error: " in result.stderr


def test_a_text_that_is_not_utf8_is_a_usage_error(run: Run) -> None:
    result = run("tasks", "create", "--title", "\udcff", "--prompt", "x", "--in", "70s")
    assert result.exit_code == ExitCode.USAGE
    assert "not UTF-8" in result.stderr


def test_nobody_at_the_address_is_one_sentence(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL="http://127.0.0.1:9")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert result.stderr.startswith("Error: The API at http://127.0.0.1:9 cannot be reached.\n")


def test_the_program_itself_ends_with_the_exit_code(api: RecordedApi, tmp_path: Path) -> None:
    api.answer(
        "GET", TASK_PATH, 404, problem(404, "task_not_found", "There is no task with this id.")
    )
    arguments = ["tasks", "show", TASK_ID, "--url", api.url, "--token", "secret"]
    done = subprocess.run(
        [sys.executable, "-m", "nightshift_toolkit.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == ExitCode.NOT_FOUND
    assert done.stderr == ("Error: There is no task with this id.\nTry:   nightshift tasks list\n")
