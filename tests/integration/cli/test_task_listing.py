"""Lists say what they show: blocked tasks, filters that match nothing, times moved by jitter."""

import pytest

from integration.cli.desk import TASK_PATH, TASKS, Run, ok
from integration.cli.recorded_api import TASK, TASK_ID, RecordedApi
from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.task_view import STATES

_PAST = "2020-01-05T14:00:00.000Z"
_BLOCKED = TASK | {
    "blocked_reason": "Shell commands are not allowed.",
    "next_run_at": _PAST,
    "due_at": _PAST,
}


def test_a_blocked_task_shows_no_next_time(api: RecordedApi, run: Run) -> None:
    """It will not run then; the reason stands where one task is shown."""
    api.answer("GET", TASKS, 200, {"items": [_BLOCKED], "next_cursor": None})
    _, row = ok(run("tasks", "list")).splitlines()
    assert row.split()[:5] == [TASK_ID, "Tickets", "blocked", "-", "-"]
    api.answer("GET", TASK_PATH, 200, _BLOCKED)
    shown = ok(run("tasks", "show", TASK_ID))
    assert "Blocked   Shell commands are not allowed.\n" in shown
    assert "Next" not in shown
    api.answer("PATCH", TASK_PATH, 200, _BLOCKED)
    changed = ok(run("tasks", "edit", TASK_ID, "--title", "x"))
    assert changed.splitlines()[1:] == ["Blocked: Shell commands are not allowed."]


@pytest.mark.parametrize(
    ("word", "asked", "shown"),
    [
        ("blocked", {}, 1),
        ("dispatching", {}, 1),
        ("enabled", {"status": ["enabled"]}, 1),
        ("paused", {"status": ["paused"]}, 0),
    ],
)
def test_tasks_are_filtered_by_the_state_that_is_shown(
    api: RecordedApi, run: Run, word: str, asked: dict[str, list[str]], shown: int
) -> None:
    items = [_BLOCKED, TASK, TASK | {"dispatching": True}]
    api.answer("GET", TASKS, 200, {"items": items, "next_cursor": None})
    lines = ok(run("tasks", "list", "--status", word)).splitlines()
    assert [word in line for line in lines[1:]] == [True] * shown
    assert api.asked[0].query == asked


def test_a_state_that_is_never_shown_is_refused_with_those_that_are(
    api: RecordedApi, run: Run
) -> None:
    result = run("tasks", "list", "--status", "asleep")
    assert result.exit_code == ExitCode.USAGE
    assert all(word in result.stderr for word in STATES)
    assert api.asked == []


@pytest.mark.parametrize(
    "filters",
    [("--status", "paused"), ("--label", "team=search"), ("--thread", "t")],
)
def test_a_filter_that_matches_no_task_says_so(
    api: RecordedApi, run: Run, filters: tuple[str, ...]
) -> None:
    api.answer("GET", TASKS, 200, {"items": [], "next_cursor": None})
    result = run("tasks", "list", *filters)
    assert result.stderr == "None of your tasks matches.  Try:  nightshift tasks list\n"


def test_a_filter_that_matches_no_run_says_so(api: RecordedApi, run: Run) -> None:
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [], "next_cursor": None})
    result = run("runs", "list", TASK_ID, "--status", "failed")
    assert result.stderr.startswith("None of its runs is failed.")
    assert run("runs", "list", TASK_ID).stderr.startswith("No runs yet.")


def test_a_start_that_is_put_off_is_shown_beside_its_time(api: RecordedApi, run: Run) -> None:
    """Jitter moves the start and not the time."""
    spread = TASK | {"jitter_seconds": 600, "due_at": "2099-01-05T14:04:12.000Z"}
    api.answer("POST", TASKS, 201, spread)
    api.answer("GET", TASK_PATH, 200, spread)
    api.answer("GET", TASK_PATH, 200, TASK)
    made = ok(run("tasks", "create", "--prompt", "x", "--cron", "0 9 * * *", "--jitter", "10m"))
    assert "Next run: Mon 2099-01-05 09:00 America/New_York  (" in made
    assert "Starts:   Mon 2099-01-05 09:04:12 America/New_York  (" in made
    assert "Starts    Mon 2099-01-05 09:04:12 " in ok(run("tasks", "show", TASK_ID))
    assert "Starts" not in ok(run("tasks", "show", TASK_ID))


def test_the_place_that_was_chosen_is_shown_with_its_window(api: RecordedApi, run: Run) -> None:
    """`jitter: auto`: the choice is the definition's, so it is shown."""
    chosen = {"jitter": "auto", "jitter_seconds": 1800, "jitter_place_seconds": 732}
    for fields in (chosen, {"jitter_seconds": 1800}, {}):
        api.answer("GET", TASK_PATH, 200, TASK | fields)
    assert "Jitter    auto, 12 min into 30 min\n" in ok(run("tasks", "show", TASK_ID))
    assert "Jitter    30 min\n" in ok(run("tasks", "show", TASK_ID))
    assert "Jitter" not in ok(run("tasks", "show", TASK_ID))


def test_what_a_schedule_leaves_out_is_shown(api: RecordedApi, run: Run) -> None:
    exclude = {"dates": ["2026-12-25"], "times": ["22:00-06:00"]}
    api.answer(
        "GET",
        TASK_PATH,
        200,
        TASK | {"schedule_spec": {"cron": "0 * * * *"} | {"exclude": exclude}},
    )
    shown = ok(run("tasks", "show", TASK_ID))
    assert "Schedule  0 * * * * America/New_York, not 2026-12-25, 22:00-06:00\n" in shown


def test_nothing_is_deleted_unless_somebody_said_yes(api: RecordedApi, run: Run) -> None:
    """A script has no terminal to be asked at."""
    result = run("tasks", "delete", TASK_ID)
    assert result.exit_code == ExitCode.USAGE
    assert "--yes" in result.stderr
    assert api.asked == []
