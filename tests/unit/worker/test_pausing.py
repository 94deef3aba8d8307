"""Pausing a run at work: its processes stand still, its limit does too, and not for ever."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nightshift_toolkit.worker.message import RunMessage
from unit.worker.desk import Desk
from unit.worker.fakes import eventually

COUNTS = "for part in 1 2 3 4 5 6; do echo $part; sleep 0.1; done"


BEGUN: list[Desk] = []


@pytest.fixture(autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """End whatever a test left behind, so that a failed one holds nobody up."""
    yield
    while BEGUN:
        BEGUN.pop().callbacks.waiting.clear()


def begin(desk: Desk) -> threading.Thread:
    """Carry out the next delivery in the background."""
    BEGUN.append(desk)
    thread = threading.Thread(target=desk.take().carry_out)
    thread.start()
    return thread


def row_of(desk: Desk, message: dict[str, Any]) -> dict[str, Any]:
    """The run's row."""
    row: dict[str, Any] = desk.pickups.rows[message["run_id"]]
    return row


def test_a_paused_command_outlives_its_limit_and_ends_well() -> None:
    """SPEC section 8: pauses do not count."""
    desk = Desk()
    message = desk.shell(COUNTS, timeout_seconds=2, max_pause_seconds=60)
    row = row_of(desk, message)
    row["pause_requested"] = True
    thread = begin(desk)
    eventually(lambda: bool(row.get("paused_at")))
    thread.join(2.5)
    assert thread.is_alive()
    row["pause_requested"] = False
    thread.join(20)
    assert desk.report_on(message)["result"]["output"] == "1\n2\n3\n4\n5\n6\n"
    assert row["paused_at"] is None
    assert row["paused_seconds"] >= 2


def test_a_pause_ends_by_itself_when_it_was_long_enough() -> None:
    """Policy: `max_pause_seconds` in all; the wish goes with it."""
    desk = Desk()
    message = desk.shell(COUNTS, max_pause_seconds=1)
    row = row_of(desk, message)
    row["pause_requested"] = True
    begin(desk).join(20)
    assert desk.report_on(message)["outcome"] == "success"
    assert row["paused_seconds"] == 1
    assert "pause_requested" not in row


def test_a_wish_that_comes_when_no_pause_is_left_is_taken_back() -> None:
    """Policy: whoever asks is not left with a wish that nobody will fulfil."""
    desk = Desk()
    message = desk.shell("sleep 60", max_pause_seconds=1)
    row = row_of(desk, message)
    row["pause_requested"] = True
    thread = begin(desk)
    assert eventually(lambda: row.get("paused_seconds") == 1)
    row["pause_requested"] = True
    assert eventually(lambda: "pause_requested" not in row)
    assert row["paused_at"] is None
    desk.callbacks.waiting.discard(message["task_token"])
    thread.join(20)


def test_a_wish_that_comes_while_a_pause_ends_is_fulfilled() -> None:
    """A worker that lets a run go on takes back no wish but the one it has seen."""
    desk = Desk()
    message = desk.shell("sleep 60", max_pause_seconds=60)
    row = row_of(desk, message)
    row["pause_requested"] = True
    thread = begin(desk)
    assert eventually(lambda: bool(row.get("paused_at")))
    first = row["paused_at"]
    seen = desk.pickups.pause_wanted

    def changes_his_mind(message: RunMessage) -> bool:
        desk.pickups.pause_wanted = seen  # type: ignore[method-assign]
        return False

    desk.pickups.pause_wanted = changes_his_mind  # type: ignore[method-assign]
    assert eventually(lambda: row["paused_at"] not in (None, first))
    desk.callbacks.waiting.discard(message["task_token"])
    thread.join(20)


def test_a_worker_without_leave_to_pause_does_not() -> None:
    """A deployment may allow no pause at all."""
    desk = Desk()
    message = desk.shell(COUNTS)
    row_of(desk, message)["pause_requested"] = True
    begin(desk).join(20)
    assert desk.report_on(message)["outcome"] == "success"


def test_a_paused_command_is_ended_with_its_children_when_the_run_is_over() -> None:
    """P7: standing still is no way to survive a cancellation."""
    desk = Desk()
    message = desk.shell("sleep 60 & sleep 60", max_pause_seconds=60)
    row = row_of(desk, message)
    row["pause_requested"] = True
    thread = begin(desk)
    eventually(lambda: bool(row.get("paused_at")))
    desk.callbacks.waiting.discard(message["task_token"])
    thread.join(20)
    assert not thread.is_alive()
