"""`nightshift simulate` as people call it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift

HOURLY = json.dumps([{"title": "Tickets", "schedule_spec": {"cron": "0 * * * *"}}])
FROM = ("--from", "2026-03-07T00:00:00Z", "--days", "1")


def call(*arguments: str, stdin: str = HOURLY) -> Result:
    """Call it with tasks on standard input."""
    return CliRunner().invoke(nightshift, ["simulate", *arguments], input=stdin)


def test_it_says_what_would_run_be_skipped_and_wait() -> None:
    """Issue: also the busiest minute."""
    down = "2026-03-07T03:30:00Z/2026-03-07T06:30:00Z"
    result = call("-", *FROM, "--outage", down)
    assert result.exit_code == ExitCode.OK, result.output
    assert "Tickets  22    0       0        2" in result.stdout
    assert "Runs            22, 0 failed" in result.stdout
    assert "Busiest minute  1 runs started, Sat 2026-03-07 01:00 UTC" in result.stdout
    assert "Still waiting   0 tasks" in result.stdout


def test_json_holds_the_same_for_programs() -> None:
    """With the single runs only where they are asked for."""
    told = json.loads(call("-", *FROM, "--json").stdout)
    assert told["runs"] == 24
    assert "list" not in told
    listed = json.loads(call("-", *FROM, "--json", "--runs").stdout)
    assert len(listed["list"]) == 24
    assert listed["list"][0]["scheduled_for"] == "2026-03-07T01:00:00.000Z"


def test_single_runs_and_skips_can_be_listed() -> None:
    """Each with why it did not run."""
    poll = {"title": "Poll", "schedule_spec": {"cron": "*/30 * * * *"}, "timeout_seconds": 2000}
    arguments = ("--runs", "--run-seconds", "2000")
    result = call("-", *FROM, *arguments, stdin=json.dumps([poll]))
    assert "Sat 2026-03-07 00:30  Poll  Sat 2026-03-07 00:30  run" in result.stdout
    assert "Sat 2026-03-07 01:00  Poll  Sat 2026-03-07 01:00  skipped: overlap" in result.stdout


def test_a_task_that_cannot_be_simulated_is_named() -> None:
    """With the reason, and the others go on."""
    tasks = [*json.loads(HOURLY), {"title": "Odd", "schedule_spec": {"cron": "61 * * * *"}}]
    result = call("-", *FROM, stdin=json.dumps(tasks))
    assert result.exit_code == ExitCode.OK
    assert "Not simulated: Odd: " in result.stdout


def test_tasks_come_from_a_file(tmp_path: Path) -> None:
    """YAML as well as JSON."""
    file = tmp_path / "tasks.yaml"
    file.write_text("- title: Tickets\n  schedule_spec: {cron: '0 9 * * *'}\n")
    assert json.loads(call(str(file), *FROM, "--json").stdout)["runs"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("/no/such/file",), ExitCode.USAGE),
        (("-", "--days", "367"), ExitCode.USAGE),
        (("-", "--outage", "2026-03-07T03:30:00Z"), ExitCode.USAGE),
        (("-", "--outage", "2026-03-07T03:30:00Z/2026-03-07T03:30:00Z"), ExitCode.USAGE),
        (("-", "--from", "tomorrow"), ExitCode.REFUSED),
        (("-", "--from", "0001-01-01T00:00:00Z"), ExitCode.REFUSED),
        (("-", "--from", "9999-12-31T00:00:00Z"), ExitCode.REFUSED),
        (("-", "--outage", "9999-12-31T23:00:00-23:00/9999-12-31T23:30:00-23:00"), ExitCode.USAGE),
        *(
            (("-", option, value), ExitCode.USAGE)
            for option in ("--days", "--run-seconds")
            for value in ("nan", "inf", "-inf", "1e400")
        ),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], code: ExitCode) -> None:
    """One sentence and an exit code."""
    result = call(*arguments)
    assert result.exit_code == code
    assert "Error" in result.stderr


def test_what_is_no_list_of_tasks_is_refused() -> None:
    """One sentence."""
    assert call("-", stdin="text").exit_code == ExitCode.REFUSED


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_when_no_task_could_be_simulated_that_is_a_refusal_with_the_reasons(
    form: tuple[str, ...],
) -> None:
    """A script that only looks at the exit code must not take it for a quiet week."""
    odd = [{"title": "Odd", "schedule_spec": {"cron": "61 * * * *"}}]
    result = call("-", *FROM, *form, stdin=json.dumps(odd))
    assert result.exit_code == ExitCode.REFUSED
    assert "Odd: minute: 61" in result.stderr


def test_without_any_task_nothing_is_refused() -> None:
    """An empty list is a list."""
    assert call("-", *FROM, stdin="[]").exit_code == ExitCode.OK


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '- !!int "x"',
        "[{? [a] : b}]",
        "[{1: 2, a: 3}]",
        '[{"id": "tsk_1", "max_runs": "many", "schedule_spec": {"cron": "@daily"}}]',
        '[{"max_runs": NaN, "schedule_spec": {"every_seconds": Infinity}}]',
    ],
    ids=lambda text: text[:20],
)
def test_whatever_a_file_holds_is_answered_with_a_sentence(text: str) -> None:
    """Never a traceback."""
    result = call("-", *FROM, stdin=text)
    assert result.exit_code == ExitCode.REFUSED
    assert "Error: " in result.stderr
