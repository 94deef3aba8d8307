"""`jitter: auto` over HTTP: asked for, shown, kept, refused."""

from typing import Any

import pytest

from nightshift.domain.model.instants import parse_instant
from unit.functions.desk import TASKS, Desk

HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
def desk() -> Desk:
    """The functions, on a Sunday at noon UTC, with nothing in the table."""
    return Desk()


def spread(desk: Desk) -> dict[str, Any]:
    spec: dict[str, Any] = {"schedule_spec": HOURLY, "jitter": "auto", "jitter_seconds": 600}
    return desk.create(**spec)


def test_the_place_that_was_chosen_is_shown_and_kept(desk: Desk) -> None:
    """SPEC section 5: nominal and effective time are both shown."""
    tasks = [spread(desk) for _ in range(10)]
    minutes = {task["jitter_place_seconds"] // 60 for task in tasks}
    assert minutes == set(range(10))
    for task in tasks:
        delay = parse_instant(task["due_at"]) - parse_instant(task["next_run_at"])
        assert delay.total_seconds() == task["jitter_place_seconds"]
        sent = {"jitter": "auto", "jitter_seconds": 600, "schedule_spec": HOURLY}
        assert desk.patch(task["id"], **sent).json == task


def test_it_is_turned_on_and_off_by_an_edit_and_the_change_log_says_so(desk: Desk) -> None:
    """P2: only the fields sent change."""
    task = desk.create(schedule_spec=HOURLY, jitter_seconds=600)
    assert (task["jitter"], task["jitter_place_seconds"]) == ("hash", None)
    on = desk.patch(task["id"], jitter="auto").json
    assert (on["jitter"], on["jitter_seconds"]) == ("auto", 600)
    place = on["jitter_place_seconds"]
    off = desk.patch(task["id"], jitter="hash").json
    assert (off["jitter"], off["jitter_place_seconds"]) == ("hash", None)
    assert off["due_at"] == task["due_at"]
    entry = desk.call("GET", f"{TASKS}/{task['id']}/changes").json["items"][1]
    assert entry["fields"] == {"jitter_place_seconds": {"old": None, "new": place}}


@pytest.mark.parametrize(
    "fields",
    [
        {"jitter": "auto"},
        {"jitter": "auto", "jitter_seconds": 59},
        {"jitter": "random", "jitter_seconds": 600},
        {"jitter": None, "jitter_seconds": 600},
    ],
)
def test_what_leaves_nothing_to_choose_is_refused(desk: Desk, fields: dict[str, Any]) -> None:
    """SPEC section 7: 422, and nothing is written."""
    task = desk.create(schedule_spec=HOURLY)
    assert desk.patch(task["id"], **fields).status == 422
    assert desk.task(task["id"]) == task
