"""Text for a terminal: harmless and readable."""

from datetime import UTC, datetime

import pytest

from nightshift_toolkit.cli.text import in_zone, one_line, printable, relative, span


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain 夜 😀 é", "plain 夜 😀 é"),
        ("two\n\tlines", "two\n\tlines"),
        ("\x1b[31mred\x1b]0;title\x07", "\ufffd[31mred\ufffd]0;title\ufffd"),
        ("\x9b31m", "\ufffd31m"),
        ("windows\r\nline", "windows\nline"),
        ("over\rwritten", "over\ufffdwritten"),
        ("safe\u202eexe.txt", "safe\ufffdexe.txt"),
        ("\ud800", "\ufffd"),
    ],
)
def test_nothing_in_other_peoples_words_steers_the_terminal(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_one_line_is_the_first_that_says_anything() -> None:
    assert one_line("\n   \n  first \nsecond") == "first"
    assert one_line("") == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (1.26, "1.3 s"),
        (9.96, "10 s"),
        (70, "70 s"),
        (99.7, "2 min"),
        (100, "2 min"),
        (3600, "1 h"),
        (3569, "59 min"),
        (3571, "1 h"),
        (7500, "2 h 5 min"),
        (86400, "1 d"),
        (90000, "1 d 1 h"),
        (86400 + 300, "1 d"),
    ],
)
def test_a_length_of_time_is_told_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_a_time_is_told_from_now() -> None:
    now = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    assert relative("2026-01-05T09:01:10.000Z", now) == "in 70 s"
    assert relative("2026-01-05T08:00:00.000Z", now) == "1 h ago"
    assert relative("2026-01-05T09:00:00.400Z", now) == "now"


def test_a_time_is_told_in_the_tasks_zone() -> None:
    assert in_zone("2026-01-05T14:00:00.000Z", "America/New_York") == (
        "Mon 2026-01-05 09:00 America/New_York"
    )
    assert in_zone("2026-07-06T13:00:30.000Z", "America/New_York") == (
        "Mon 2026-07-06 09:00:30 America/New_York"
    )


def test_a_zone_that_is_not_known_here_is_told_in_utc() -> None:
    assert in_zone("2026-01-05T14:00:00.000Z", "No/Where") == "Mon 2026-01-05 14:00 UTC"
