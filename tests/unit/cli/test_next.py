"""`nightshift next` answers without a cloud."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift


def _next(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(nightshift, ["next", *arguments], input=stdin)


def test_next_times_are_shown_in_the_zone_and_in_utc() -> None:
    result = _next(
        "0 9 * * MON-FRI", "--zone", "America/New_York", "--after", "2026-03-06T12:00:00Z"
    )
    assert result.exit_code == ExitCode.OK
    assert result.stdout.splitlines() == [
        "Fri 2026-03-06 09:00 America/New_York  2026-03-06T14:00:00Z",
        "Mon 2026-03-09 09:00 America/New_York  2026-03-09T13:00:00Z",
        "Tue 2026-03-10 09:00 America/New_York  2026-03-10T13:00:00Z",
    ]


def test_a_time_that_a_clock_change_moved_says_so() -> None:
    """P9: 2:30 does not exist in New York on that day."""
    arguments = ("--zone", "America/New_York", "--after", "2026-03-08T00:00:00-05:00")
    result = _next("30 2 * * *", *arguments, "--count", "2")
    moved, usual = result.stdout.splitlines()
    assert moved.startswith("Sun 2026-03-08 03:00 America/New_York  2026-03-08T07:00:00Z  (")
    assert "(" not in usual


def test_several_expressions_are_one_schedule() -> None:
    result = _next("0 9 * * *", "30 9 * * *", "--after", "2026-01-01T00:00:00Z", "--json")
    assert json.loads(result.stdout)["next"] == [
        "2026-01-01T09:00:00Z",
        "2026-01-01T09:30:00Z",
        "2026-01-02T09:00:00Z",
    ]


def test_a_schedule_is_put_in_words() -> None:
    assert "09:00" in _next("0 9 * * *", "--words", "--count", "1").stdout.splitlines()[0]


def test_words_and_notes_are_in_the_language_that_is_asked_for() -> None:
    arguments = ("30 2 * * *", "--zone", "America/New_York", "--count", "1", "--words")
    start = ("--after", "2026-03-08T00:00:00-05:00")
    english = _next(*arguments, *start).stdout
    chinese = _next(*arguments, *start, "--language", "zh").stdout
    assert "Every day" in english
    assert "每天" in chinese
    assert _next(*arguments, "--language", "fr").exit_code == ExitCode.USAGE


def test_json_holds_local_times_notes_and_words() -> None:
    arguments = ("30 2 * * *", "--zone", "America/New_York", "--count", "2", "--words", "--json")
    told = json.loads(_next(*arguments, "--after", "2026-03-08T00:00:00-05:00").stdout)
    assert told["next"] == ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]
    assert told["local"] == ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]
    assert [note is None for note in told["notes"]] == [False, True]
    assert told["words"] == "Every day at 02:30 (America/New_York)"


def test_any_schedule_can_be_given_as_json() -> None:
    start = ("--after", "2026-01-01T00:00:00Z", "--json")
    spec = '{"cron": "0 9 * * *", "exclude": {"dates": ["2026-01-01"]}}'
    assert json.loads(_next("--spec", spec, "--count", "1", *start).stdout)["next"] == [
        "2026-01-02T09:00:00Z"
    ]
    every = json.loads(_next("--spec", '{"every_seconds": 600}', "--count", "1", *start).stdout)
    assert every["next"] == ["2026-01-01T00:10:00Z"]
    for wrong in ("[]", "{", "text"):
        assert _next("--spec", wrong).exit_code == ExitCode.USAGE
    assert _next("@daily", "--spec", "{}").exit_code == ExitCode.USAGE
    assert _next("--spec", "{}").exit_code == ExitCode.REFUSED


def test_a_count_outside_1_to_100_is_a_usage_error() -> None:
    for count in ("0", "101"):
        assert _next("@daily", "--count", count).exit_code == ExitCode.USAGE
    assert len(_next("@daily", "--count", "100").stdout.splitlines()) == 100


def test_a_wrong_expression_is_refused_with_a_sentence() -> None:
    result = _next("61 * * * *")
    assert result.exit_code == ExitCode.REFUSED
    assert "minute" in result.stderr
    assert result.stdout == ""


def test_a_batch_answers_every_line_whatever_it_holds(tmp_path: Path) -> None:
    row = '{"expr": "0 9 * * *", "zone": "UTC", "after": "2026-01-01T00:00:00Z", "count": 1}'
    file = tmp_path / "rows.jsonl"
    file.write_bytes(f"{row}\nnot json\n".encode() + b"\xff\n" + row.encode())
    result = _next("--batch", str(file))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(answer) for answer in answers] == [["next"], ["error"], ["error"], ["next"]]
    assert result.exit_code == ExitCode.OK


def test_a_batch_reads_standard_input() -> None:
    row = '{"expr": "0 9 * * *", "after": "2026-01-01T00:00:00Z", "count": 1}'
    assert json.loads(_next("--batch", "-", stdin=row).stdout) == {"next": ["2026-01-01T09:00:00Z"]}


def test_a_batch_file_that_is_not_there_is_a_usage_error() -> None:
    result = _next("--batch", "/no/such/file")
    assert result.exit_code == ExitCode.USAGE
    assert "cannot be read" in result.stderr


def test_neither_or_both_ways_to_ask_are_a_usage_error() -> None:
    assert _next().exit_code == ExitCode.USAGE
    assert _next("@daily", "--batch", "-").exit_code == ExitCode.USAGE


def test_dates_ranges_and_times_of_day_can_be_left_out() -> None:
    start = ("--after", "2026-12-24T00:00:00Z", "--count", "2", "--json")
    apart = ("--exclude", "2026-12-24", "--exclude", "2026-12-26/2026-12-30")
    told = json.loads(_next("0 9 * * *", *apart, *start).stdout)
    assert told["next"] == ["2026-12-25T09:00:00Z", "2026-12-31T09:00:00Z"]
    nights = json.loads(_next("0 9,23 * * *", "--exclude", "22:00-06:00", *start).stdout)
    assert nights["next"] == ["2026-12-24T09:00:00Z", "2026-12-25T09:00:00Z"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--spec", '{"every_seconds": 60}', "--exclude", "2026-12-25"),
        ("@daily", "--exclude", "25.12.2026"),
    ],
)
def test_what_cannot_be_left_out_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    assert _next(*arguments).exit_code == ExitCode.USAGE


def test_a_time_before_the_calendar_is_refused() -> None:
    """Its next times are not known in every zone, so none are guessed."""
    result = _next("@daily", "--after", "0001-01-01T00:00:00Z")
    assert result.exit_code == ExitCode.REFUSED
    assert "outside the calendar" in result.stderr


def test_a_refusal_names_its_field_as_it_is_written() -> None:
    result = _next("--spec", '{"every_seconds": 0}')
    assert result.stderr.startswith("Error: schedule_spec.every_seconds must be ")
