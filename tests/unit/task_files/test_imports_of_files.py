"""Other schedulers' rules: taken over as they were meant, or told one by one."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from nightshift.domain.model.schedule_input import parse_schedule
from nightshift_toolkit.task_files import from_crontab, from_eventbridge

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def test_a_crontab_becomes_shell_tasks_in_its_zone() -> None:
    """CRON_TZ holds for the lines after it; an escaped % is a plain one."""
    found = from_crontab(
        "# mine\n0 3 * * * early\nCRON_TZ=Asia/Tokyo\n\n@daily backup --all '50\\%'\n",
        zone="Europe/Berlin",
        now=NOW,
    )
    assert found.left_out == []
    assert list(found.tasks.values()) == [
        {"schedule_spec": {"cron": "0 3 * * *"}, "timezone": "Europe/Berlin", "command": "early"},
        {
            "schedule_spec": {"cron": "@daily"},
            "timezone": "Asia/Tokyo",
            "command": "backup --all '50%'",
        },
    ]


@pytest.mark.parametrize(
    "line",
    ["MAILTO=me", "0 9 * * 9 x", "0 9 * x", "@reboot x", "@daily", "0 9 * * * echo %x", "0 9"],
)
def test_a_line_that_cannot_be_taken_over_is_told(line: str) -> None:
    """What is dropped without a word would be missed one night."""
    found = from_crontab(line, zone="UTC", now=NOW)
    assert (found.tasks, len(found.left_out)) == ({}, 1)
    assert "line 1" in found.left_out[0]


@pytest.mark.parametrize(
    ("expression", "spec"),
    [
        ("cron(0 9 ? * 2-6 *)", {"cron": "0 9 * * 1-5"}),
        ("cron(0 9 ? * 1,7 *)", {"cron": "0 9 * * 0,6"}),
        ("cron(0/15 9 ? * MON#2 *)", {"cron": "0/15 9 * * MON#2"}),
        ("cron(0 9 ? * 6#3 *)", {"cron": "0 9 * * 5#3"}),
        ("cron(0 9 ? * 2-6/2 *)", {"cron": "0 9 * * 1-5/2"}),
        ("cron(0 9 L * ? *)", {"cron": "0 9 L * *"}),
        ("rate(10 minutes)", {"every_seconds": 600}),
        ("rate(1 day)", {"every_seconds": 86_400}),
        ("at(2027-01-01T10:00:00)", {"once": "2027-01-01T10:00:00"}),
    ],
)
def test_an_expression_of_eventbridge_means_the_same_here(
    expression: str, spec: dict[str, Any]
) -> None:
    """There Sunday is 1, and one of the two day fields is a question mark."""
    row = {"Name": "a", "ScheduleExpression": expression, "State": "ENABLED"}
    found = from_eventbridge(json.dumps(row), now=NOW)
    assert found.left_out == []
    assert found.tasks["a"]["schedule_spec"] == spec
    parse_schedule(spec, zone="UTC", now=NOW)


def test_what_surrounds_an_expression_is_taken_over() -> None:
    """The window becomes jitter, the bounds bounds, the input the prompt."""
    row = {
        "Name": "report",
        "Description": "Morning report",
        "ScheduleExpression": "cron(0 9 * * ? *)",
        "ScheduleExpressionTimezone": "America/New_York",
        "StartDate": "2027-01-01T00:00:00Z",
        "FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15},
        "Target": {"Arn": "arn:aws:lambda:x", "Input": "Write the report."},
    }
    found = from_eventbridge(json.dumps({"Schedules": [row]}), now=NOW)
    assert found.tasks == {
        "report": {
            "title": "Morning report",
            "schedule_spec": {"cron": "0 9 * * *"},
            "timezone": "America/New_York",
            "starts_at": "2027-01-01T00:00:00Z",
            "jitter_seconds": 900,
            "prompt": "Write the report.",
        }
    }


@pytest.mark.parametrize(
    "row",
    [
        {"ScheduleExpression": "cron(0 9 15W * ? *)"},
        {"ScheduleExpression": "cron(0 9 ? * 6L *)"},
        {"ScheduleExpression": "cron(0 9 * * ? 2027)"},
        {"ScheduleExpression": "cron(0 9 * * *)"},
        {"ScheduleExpression": "rate(soon)"},
        {"ScheduleExpression": "0 9 * * *"},
        {"ScheduleExpression": "rate(10 minutes)", "State": "DISABLED"},
        {},
    ],
)
def test_a_schedule_that_cannot_be_taken_over_is_told(row: dict[str, Any]) -> None:
    """By its name, with the reason."""
    found = from_eventbridge(json.dumps([row | {"Name": "mine"}]), now=NOW)
    assert (found.tasks, len(found.left_out)) == ({}, 1)
    assert found.left_out[0].startswith("mine: ")


@pytest.mark.parametrize("text", ["{", "1", "[1]", '{"Schedules": 1}'])
def test_what_is_no_export_is_refused(text: str) -> None:
    """The command line makes one sentence of it."""
    with pytest.raises(ValueError):
        from_eventbridge(text, now=NOW)
