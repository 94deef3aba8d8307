"""Looking again and again: how often, and where it is refused."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.logs import followed
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.cli.watching import looks


def told(*things: Any) -> Callable[[], Any]:
    """A look that sees one thing after the other."""
    iterator = iter(things)
    return lambda: next(iterator)


def run(status: str, **fields: Any) -> dict[str, Any]:
    plain = {"attempt": 1, "at_work": False, "paused_at": None}
    return plain | fields | {"status": status}


def test_pauses_grow_while_nothing_changes_and_have_an_end() -> None:
    """Whoever forgets a window asks the API twice a minute, not twice a second."""
    pauses: list[float] = []
    seen = list(islice(looks(told(*"aaaaaaaaaaaa"), pause=pauses.append), 12))
    assert len(seen) == 12
    assert pauses[:3] == [2.0, 3.0, 4.5]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 30.0


def test_pause_is_short_again_after_a_change() -> None:
    pauses: list[float] = []
    list(islice(looks(told(*"aaabb"), pause=pauses.append), 5))
    assert pauses == [2.0, 3.0, 4.5, 2.0]


@pytest.mark.parametrize(
    "words", [["tasks", "list", "--watch"], ["runs", "list", "tsk_1", "--watch"]]
)
def test_watching_without_a_terminal_is_refused_before_anything_is_asked(words: list[str]) -> None:
    result = CliRunner().invoke(nightshift, words)
    assert result.exit_code == ExitCode.USAGE
    assert "--watch needs a terminal" in result.stderr


def test_following_a_run_says_each_change_once_and_what_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """While a run is active its output is with its worker alone, and it says so."""
    states: Iterator[dict[str, Any]] = iter(
        [
            run("queued"),
            run("running"),
            run("running", at_work=True),
            run("running", at_work=True),
            run("running", at_work=True, paused_at="2026-01-05T09:00:00.000Z"),
            run("running", at_work=True, attempt=2),
            run("success"),
        ]
    )
    ended = followed(lambda: next(states), pause=lambda _: None)  # type: ignore[arg-type, return-value]
    assert ended["status"] == "success"
    assert capsys.readouterr().err.splitlines() == [
        "What it writes is recorded when it ends; until then nothing of it can be shown.",
        "The run is queued.",
        "The run waits for a worker.",
        "The run is at work.",
        "The run is paused.",
        "The run is at work (attempt 2).",
    ]
