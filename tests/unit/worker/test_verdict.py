"""How the operator's words for failures become a report's reason (SPEC section 8)."""

import re

import pytest

from unit.worker.desk import Desk

REASONS = {
    "reasons_of_exit_codes": {75: "rate_limited", 3: "error"},
    "reasons_of_output": ((re.compile("slow down"), "rate_limited"), (re.compile("x{3}"), "error")),
}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("exit 75", "rate_limited"),
        ("exit 3", "error"),
        ("echo please slow down; exit 3", "error"),
        ("echo please slow down; exit 1", "rate_limited"),
        ("echo please slow down >&2; exit 1", "rate_limited"),
        ("echo xxx; exit 1", "error"),
        ("echo xx; exit 1", "nonzero_exit"),
        ("kill -9 $$", "nonzero_exit"),
        ("echo slow down", None),
    ],
)
def test_exit_codes_and_output_of_failures_have_the_operators_meaning(
    command: str, reason: str | None
) -> None:
    """The exit code goes first; a success stays one whatever it writes."""
    desk = Desk(**REASONS)
    message = desk.shell(command)
    desk.take().carry_out()
    assert desk.report_on(message)["reason"] == reason


def test_a_meaning_does_not_hide_a_timeout() -> None:
    """A command that was stopped did not choose how to end."""
    desk = Desk(**REASONS)
    message = desk.shell("echo slow down; sleep 60", timeout_seconds=1)
    desk.take().carry_out()
    assert desk.report_on(message)["reason"] == "timeout"
