"""The watch over the logs sees what it is to see: a secret planted in a line fails the test."""

import logging
from pathlib import Path

import pytest

import planted
from nightshift import observability
from nightshift.domain.exchanged import Event
from unit.functions.desk import TASKS, Desk


@pytest.mark.parametrize("secret", planted.SECRETS)
def test_a_secret_is_seen_wherever_it_is_in_a_line(
    secret: str, no_secret_in_any_line_of_a_log: planted.Watch
) -> None:
    """SPEC 10: in the words, in a fact beside them, in the message of an error."""
    log = logging.getLogger("anybody")
    log.warning("a line")
    assert no_secret_in_any_line_of_a_log.leaks == []
    log.warning("with %s", secret)
    log.warning("a fact", extra={"body": {"prompt": secret}})
    observability.observe(Event("request_failed", {"user_id": "ada"}, ValueError(secret)))
    assert len(no_secret_in_any_line_of_a_log.leaks) == 3
    no_secret_in_any_line_of_a_log.leaks.clear()


def test_lines_of_the_functions_are_watched(
    no_secret_in_any_line_of_a_log: planted.Watch,
) -> None:
    """A watch that reads nothing finds nothing."""
    desk = Desk(observe=observability.observe)
    desk.create()
    desk.call("POST", TASKS, "{", query="")
    assert no_secret_in_any_line_of_a_log.lines >= 2


def test_a_secret_in_a_file_of_a_log_is_found(tmp_path: Path) -> None:
    """For the processes that the tests start."""
    (tmp_path / "one.log").write_text("fine\n")
    assert planted.leaks_of(tmp_path) == []
    (tmp_path / "two.log").write_text(f"fine\nnot {planted.BEARER}\n")
    assert planted.leaks_of(tmp_path) == [f"two.log: not {planted.BEARER}"]
