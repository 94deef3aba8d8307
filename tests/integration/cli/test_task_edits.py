"""What an edit sends of a schedule with exclusions, and what it refuses."""

from typing import Any

import pytest

from integration.cli.desk import TASK_PATH, Run, ok
from integration.cli.recorded_api import TASK, TASK_ID, RecordedApi, problem
from nightshift_toolkit.cli.failures import ExitCode

_QUIET = {"dates": ["2026-12-25"]}
_SPEC = {"cron": "0 9 * * *", "exclude": _QUIET}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        (
            ("--exclude", "22:00-06:00"),
            {"cron": "0 9 * * *", "exclude": {"times": ["22:00-06:00"]}},
        ),
        (("--cron", "@daily"), {"cron": "@daily", "exclude": _QUIET}),
        (("--clear", "exclude"), {"cron": "0 9 * * *"}),
    ],
)
def test_the_part_of_a_schedule_that_is_not_given_stays(
    api: RecordedApi, run: Run, options: tuple[str, ...], sent: dict[str, Any]
) -> None:
    """P2: and only on the revision that it was read from."""
    api.answer("GET", TASK_PATH, 200, TASK | {"schedule_spec": _SPEC, "revision": 7})
    api.answer("PATCH", TASK_PATH, 200, TASK)
    ok(run("tasks", "edit", TASK_ID, *options))
    assert api.asked[-1].body == {"schedule_spec": sent}
    assert api.asked[-1].headers["if-match"] == '"7"'


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        (
            ("--cron", "@daily", "--exclude", "2026-12-25"),
            {"cron": "@daily", "exclude": _QUIET},
        ),
        (("--cron", "@daily", "--clear", "exclude"), {"cron": "@daily"}),
        (("--every", "10m"), {"every_seconds": 600}),
    ],
)
def test_a_whole_schedule_is_sent_without_reading_the_old_one(
    api: RecordedApi, run: Run, options: tuple[str, ...], sent: dict[str, Any]
) -> None:
    api.answer("PATCH", TASK_PATH, 200, TASK)
    ok(run("tasks", "edit", TASK_ID, *options))
    assert [asked.body for asked in api.asked] == [{"schedule_spec": sent}]


def test_a_task_that_cannot_be_read_is_given_a_new_cron_schedule_all_the_same(
    api: RecordedApi, run: Run
) -> None:
    api.answer("GET", TASK_PATH, 500, problem(500, "corrupt_task", "It cannot be read."))
    api.answer("PATCH", TASK_PATH, 200, TASK)
    ok(run("tasks", "edit", TASK_ID, "--cron", "@daily"))
    assert api.asked[-1].body == {"schedule_spec": {"cron": "@daily"}}
    assert run("tasks", "edit", TASK_ID, "--exclude", "2026-12-25").exit_code == ExitCode.FAULT


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--label", "a=1", "--clear", "labels"), "--clear labels"),
        (("--timeout", "10m", "--clear", "timeout"), "--clear timeout"),
        (("--exclude", "2026-12-25", "--clear", "exclude"), "--clear exclude"),
        (("--every", "10m", "--clear", "exclude"), "--clear exclude"),
        (("--thread", "t", "--fresh-thread"), "not both"),
        (("--exclude", "2026-12-25"), "Only a task with a cron schedule"),
    ],
)
def test_an_edit_that_contradicts_itself_is_a_usage_error(
    api: RecordedApi, run: Run, options: tuple[str, ...], sentence: str
) -> None:
    api.answer("GET", TASK_PATH, 200, TASK | {"schedule_spec": {"every_seconds": 600}})
    result = run("tasks", "edit", TASK_ID, *options)
    assert result.exit_code == ExitCode.USAGE
    assert sentence in result.stderr
    assert [asked.method for asked in api.asked] in ([], ["GET"])
