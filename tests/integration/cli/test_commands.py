"""The command line against an API that answers recorded shapes."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from integration.cli.recorded_api import (
    RUN,
    RUN_ID,
    TASK,
    TASK_ID,
    RecordedApi,
    problem,
    recorded_api,
)
from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.local_cloud.issuer import mint_token

TASKS = "/api/scheduled-tasks"
TASK_PATH = f"{TASKS}/{TASK_ID}"

Run = Callable[..., Result]


@pytest.fixture
def api() -> Iterator[RecordedApi]:
    with recorded_api() as api:
        yield api


@pytest.fixture
def run(api: RecordedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line of somebody signed in to the recorded API."""
    monkeypatch.chdir(tmp_path)
    environment = {"NIGHTSHIFT_URL": api.url, "NIGHTSHIFT_TOKEN": "secret", "NO_COLOR": "1"}

    def run(*arguments: str, **environment_changes: str | None) -> Result:
        return CliRunner().invoke(
            nightshift, arguments, env=environment | environment_changes, input=""
        )

    return run


def _ok(result: Result) -> str:
    assert result.exit_code == ExitCode.OK, result.output
    return result.stdout


def test_creating_a_task_sends_what_was_said_and_tells_the_next_time(
    api: RecordedApi, run: Run
) -> None:
    api.answer("POST", TASKS, 201, TASK)
    output = _ok(
        run(
            *("tasks", "create", "--prompt", "Summarise the tickets."),
            *("--cron", "0 9 * * MON-FRI", "--zone", "America/New_York"),
        )
    )
    (asked,) = api.asked
    assert asked.body == {
        "title": "Summarise the tickets.",
        "action": {"kind": "agent", "prompt": "Summarise the tickets."},
        "schedule_spec": {"cron": "0 9 * * MON-FRI"},
        "timezone": "America/New_York",
    }
    assert asked.headers["authorization"] == "Bearer secret"
    assert output.startswith(f"Created {TASK_ID}  Tickets\n")
    assert "Next run: Mon 2099-01-05 09:00 America/New_York  (" in output
    assert f"nightshift runs list {TASK_ID}" in output


def test_json_is_what_the_api_answered(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASK_PATH, 200, TASK | {"a_later_field": [1]})
    assert json.loads(_ok(run("tasks", "show", TASK_ID, "--json"))) == TASK | {"a_later_field": [1]}


def test_a_list_in_json_holds_every_page(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [TASK], "next_cursor": "more"})
    api.answer("GET", TASKS, 200, {"items": [TASK], "next_cursor": None})
    listed = json.loads(_ok(run("tasks", "list", "--json")))
    assert listed == {"items": [TASK, TASK], "next_cursor": None}


def test_a_list_in_a_pipe_is_a_line_a_task_and_cuts_nothing(api: RecordedApi, run: Run) -> None:
    title = "A title " * 30
    hostile = "\x1b]0;pwned\x07[bold]x[/bold]"
    tasks = [TASK | {"title": title}, TASK | {"title": hostile, "blocked_reason": "no_shell"}]
    api.answer("GET", TASKS, 200, {"items": tasks, "next_cursor": None})
    heading, first, second = _ok(run("tasks", "list")).splitlines()
    assert heading.split() == ["ID", "TITLE", "STATUS", "NEXT", "LAST", "SCHEDULE"]
    assert title.strip() in first
    assert "0 9 * * MON-FRI" in first
    assert "\x1b" not in second
    assert "[bold]x[/bold]" in second
    assert " blocked " in second


def test_a_list_on_a_terminal_cuts_titles_to_its_width_and_no_id(
    api: RecordedApi, run: Run
) -> None:
    title = "夜 " * 60
    api.answer("GET", TASKS, 200, {"items": [TASK | {"title": title}], "next_cursor": None})
    _, line = _on_terminal(130, "tasks", "list", "--url", api.url, "--token", "secret")
    assert line.startswith(f"{TASK_ID}  夜 夜 ")
    assert "…" in line
    assert line.endswith("0 9 * * MON-FRI America/New_York")
    assert cell_len(line) <= 130


def _on_terminal(columns: int, *arguments: str) -> list[str]:
    """What a command shows on a terminal so many columns wide, without its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, "-m", "nightshift_toolkit.cli", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(command, stdin=theirs, stdout=theirs, env=environment, check=True)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()


def test_an_empty_list_says_what_to_do_next(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [], "next_cursor": None})
    result = run("tasks", "list")
    assert _ok(result) == ""
    assert "nightshift tasks create" in result.stderr


def test_filters_reach_the_api(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [], "next_cursor": None})
    _ok(run("tasks", "list", "--status", "paused", "--label", "team=search", "--thread", "t"))
    assert api.asked[0].query == {"status": ["paused"], "label": ["team=search"], "thread": ["t"]}


def test_a_task_is_shown_with_its_prompt(api: RecordedApi, run: Run) -> None:
    prompt = "First line\nsecond line\n"
    api.answer("GET", TASK_PATH, 200, TASK | {"action": {"kind": "agent", "prompt": prompt}})
    output = _ok(run("tasks", "show", TASK_ID))
    assert "Prompt    First line\n          second line\n" in output
    assert "Schedule  0 9 * * MON-FRI America/New_York\n" in output
    assert "Blocked" not in output


def test_an_edit_sends_only_what_changes(api: RecordedApi, run: Run) -> None:
    """P2"""
    api.answer("PATCH", TASK_PATH, 200, TASK)
    _ok(run("tasks", "edit", TASK_ID, "--title", "New", "--clear", "ends-at", "--clear", "jitter"))
    _ok(run("tasks", "edit", TASK_ID, "--fresh-thread"))
    assert [asked.body for asked in api.asked] == [
        {"title": "New", "ends_at": None, "jitter_seconds": None},
        {"context_mode": "fresh_thread", "thread_id": None},
    ]


def test_an_edit_without_a_change_is_a_usage_error(api: RecordedApi, run: Run) -> None:
    assert run("tasks", "edit", TASK_ID).exit_code == ExitCode.USAGE
    assert api.asked == []


def test_pause_resume_and_delete_say_what_they_did(api: RecordedApi, run: Run) -> None:
    api.answer("POST", f"{TASK_PATH}/pause", 200, TASK | {"next_run_at": None})
    api.answer("POST", f"{TASK_PATH}/resume", 200, TASK)
    api.answer("DELETE", TASK_PATH, 204)
    paused = _ok(run("tasks", "pause", TASK_ID, "--reason", "holiday"))
    assert paused == f"Paused {TASK_ID}  Tickets\n"
    assert "Next run: " in _ok(run("tasks", "resume", TASK_ID))
    assert _ok(run("tasks", "delete", TASK_ID)) == f"Deleted {TASK_ID}\n"
    assert api.asked[0].body == {"reason": "holiday"}


def test_a_trigger_names_the_run_and_how_to_see_it(api: RecordedApi, run: Run) -> None:
    api.answer("POST", f"{TASK_PATH}/trigger", 200, {"run_id": RUN_ID, "run": RUN})
    assert _ok(run("tasks", "trigger", TASK_ID)) == (
        f"Started {RUN_ID}\nSee how it goes:  nightshift runs show {RUN_ID}\n"
    )


def test_the_history_shows_what_happened_and_why(api: RecordedApi, run: Run) -> None:
    skipped = RUN | {
        "status": "skipped",
        "reason": "overlap",
        "error": None,
        "result": None,
        "started_at": None,
        "finished_at": None,
    }
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [RUN, skipped], "next_cursor": None})
    heading, first, second = _ok(run("runs", "list", TASK_ID, TZ="UTC")).splitlines()
    assert " ".join(heading.split()) == "SCHEDULED TRIGGER STATUS REASON EXIT TOOK OUTPUT RUN"
    for part in ("schedule", "failed", "nonzero_exit", " 3 ", "70 s", "almost there", RUN_ID):
        assert part in first
    assert "but no" not in first
    assert second.split()[-6:] == ["skipped", "overlap", "-", "-", "-", RUN_ID]


def test_the_history_is_cut_to_the_limit(api: RecordedApi, run: Run) -> None:
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [RUN, RUN], "next_cursor": "more"})
    listed = json.loads(_ok(run("runs", "list", TASK_ID, "--limit", "1", "--json")))
    assert listed["items"] == [RUN]
    assert len(api.asked) == 1


def test_a_run_is_found_by_its_id_alone_and_shown_with_its_output(
    api: RecordedApi, run: Run
) -> None:
    api.answer("GET", f"{TASK_PATH}/runs/{RUN_ID}", 200, RUN)
    output = _ok(run("runs", "show", RUN_ID))
    assert "Exit code  3\n" in output
    assert "almost there\n           but no\n" in output
    assert "Took       70 s\n" in output


def test_a_thread_is_registered_and_shown(api: RecordedApi, run: Run) -> None:
    api.answer("PUT", "/api/threads/thr_1", 200, {"id": "thr_1"})
    api.answer("GET", "/api/threads/thr_1", 200, {"id": "thr_1"})
    assert _ok(run("threads", "register", "thr_1")) == "Registered thr_1\n"
    assert "thr_1 is yours" in _ok(run("threads", "show", "thr_1"))


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


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"every_seconds": 5400}, "every 1 h 30 min"),
        ({"once": "2026-07-06T13:00:00.000Z"}, "once Mon 2026-07-06 09:00 America/New_York"),
        ({"cron": ["@daily", "0 12 * * 0"]}, "@daily | 0 12 * * 0 America/New_York"),
    ],
)
def test_every_kind_of_schedule_is_shown_in_its_zone(
    api: RecordedApi, run: Run, spec: dict[str, Any], shown: str
) -> None:
    api.answer("GET", TASK_PATH, 200, TASK | {"schedule_spec": spec})
    assert f"Schedule  {shown}\n" in _ok(run("tasks", "show", TASK_ID))


def test_in_json_a_refusal_is_the_apis_own_document(api: RecordedApi, run: Run) -> None:
    document = problem(409, "budget_full", "As many runs as allowed are active.")
    api.answer("POST", f"{TASK_PATH}/trigger", 409, document)
    result = run("tasks", "trigger", TASK_ID, "--json")
    assert result.exit_code == ExitCode.CONFLICT
    assert json.loads(result.stderr) == document
    assert result.stdout == ""


def test_nobody_at_the_address_is_one_sentence(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL="http://127.0.0.1:9")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert result.stderr.startswith("Error: The API at http://127.0.0.1:9 cannot be reached.\n")


def test_without_any_address_the_way_to_one_is_shown(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL=None)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "make run" in result.stderr


def test_without_a_token_a_deployed_api_is_not_asked(api: RecordedApi, run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_TOKEN=None)
    assert result.exit_code == ExitCode.NOT_SIGNED_IN
    assert api.asked == []


def test_a_token_never_crosses_the_network_in_the_clear(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL="http://example.com")
    assert result.exit_code == ExitCode.USAGE
    assert "https" in result.stderr
    assert "secret" not in result.output


def test_an_option_goes_before_the_environment(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASK_PATH, 200, TASK)
    _ok(
        run(
            *("tasks", "show", TASK_ID, "--url", api.url, "--token", "mine"),
            NIGHTSHIFT_URL="http://127.0.0.1:9",
        )
    )
    assert api.asked[0].headers["authorization"] == "Bearer mine"


@pytest.fixture
def local(api: RecordedApi, tmp_path: Path) -> dict[str, Any]:
    """A local cloud that says it runs at the recorded API."""
    state = tmp_path / ".nightshift"
    state.mkdir()
    facts = {"api_url": api.url, "issuer": "http://127.0.0.1:1"}
    (state / "local.json").write_text(json.dumps(facts))
    mint_token("nobody", state_dir=state, issuer="http://127.0.0.1:1")
    return facts


_SIGNED_OUT: dict[str, str | None] = {"NIGHTSHIFT_URL": None, "NIGHTSHIFT_TOKEN": None}


def _subject(authorization: str) -> str:
    token = authorization.removeprefix("Bearer ")
    return str(jwt.decode(token, options={"verify_signature": False})["sub"])


def test_the_local_cloud_is_found_from_a_folder_below_it(
    api: RecordedApi, run: Run, local: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    api.answer("GET", TASK_PATH, 200, TASK)
    _ok(run("tasks", "show", TASK_ID, **_SIGNED_OUT))
    _ok(run("tasks", "show", TASK_ID, "--user", "ada", **_SIGNED_OUT))
    assert [_subject(asked.headers["authorization"]) for asked in api.asked] == ["me", "ada"]


def test_only_the_local_cloud_lets_one_be_anybody(
    api: RecordedApi, run: Run, local: object
) -> None:
    with recorded_api() as other:
        result = run("tasks", "list", "--user", "ada", NIGHTSHIFT_URL=other.url)
        assert result.exit_code == ExitCode.USAGE
        assert other.asked == []


def test_a_local_token_goes_to_the_local_cloud_alone(run: Run, local: object) -> None:
    with recorded_api() as other:
        result = run("tasks", "list", NIGHTSHIFT_URL=other.url, NIGHTSHIFT_TOKEN=None)
        assert result.exit_code == ExitCode.NOT_SIGNED_IN
        assert other.asked == []


def test_a_token_is_printed_alone(run: Run, local: object) -> None:
    (line,) = _ok(run("token", "--user", "ada")).splitlines()
    assert _subject(line) == "ada"


def test_a_token_without_a_local_cloud_is_one_sentence(run: Run) -> None:
    result = run("token")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "make run" in result.stderr


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
