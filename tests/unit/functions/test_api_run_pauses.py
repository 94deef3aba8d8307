"""Routes that have a run at work stand still and go on."""

import pytest

from nightshift.domain.model.retry import FailedAttempt
from unit.functions.desk import BOB, TASKS, Desk


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def picked_up(desk: Desk) -> str:
    """The path of a run that a worker has which can pause it."""
    task_id = desk.create()["id"]
    run = desk.begin(task_id)
    desk.store.pick_up(run.id)
    return f"{TASKS}/{task_id}/runs/{run.id}"


def test_a_run_is_asked_to_stand_still_and_to_go_on_any_number_of_times(desk: Desk) -> None:
    """202: its worker follows with its next heartbeat."""
    path = picked_up(desk)
    assert desk.call("GET", path).json["can_pause"]
    for word, wanted in (("pause", True), ("pause", True), ("resume", False), ("resume", False)):
        reply = desk.call("POST", f"{path}/{word}")
        assert (reply.status, reply.json["pause_requested"]) == (202, wanted)


@pytest.mark.parametrize("word", ["pause", "resume"])
def test_a_run_that_no_worker_has_cannot_be_paused(desk: Desk, word: str) -> None:
    """409, before and after the fence, and when it is over."""
    task_id = desk.create()["id"]
    queued = desk.do("trigger", task_id).json["run_id"]
    reply = desk.call("POST", f"{TASKS}/{task_id}/runs/{queued}/{word}")
    assert (reply.status, reply.code) == (409, "run_not_pausable")
    task_id = desk.create()["id"]
    path = f"{TASKS}/{task_id}/runs/{desk.begin(task_id).id}"
    assert desk.call("POST", f"{path}/{word}").code == "run_not_pausable"


@pytest.mark.parametrize("word", ["pause", "resume"])
def test_nobody_elses_run_is_paused(desk: Desk, word: str) -> None:
    """P8: it does not exist, as one that never was."""
    path = picked_up(desk)
    reply = desk.call("POST", f"{path}/{word}", user=BOB)
    assert (reply.status, reply.code) == (404, "task_not_found")
    missing = desk.call("POST", f"{path}x/{word}")
    assert (missing.status, missing.code) == (404, "run_not_found")
    assert not desk.call("GET", path).json["pause_requested"]


def test_a_run_that_waits_for_its_next_attempt_is_not_at_work(desk: Desk) -> None:
    """`attempt` is the latest, which may not have begun."""
    path = picked_up(desk)
    assert desk.call("GET", path).json["at_work"]
    run_id = path.rpartition("/")[2]
    (slot,) = desk.store.active_slots()
    failed = FailedAttempt(attempt=1, reason="error", exit_code=None, finished_at=desk.now)
    assert desk.store.work.record_attempt(run_id, slot.nonce, failed)
    shown = desk.call("GET", path).json
    assert (shown["status"], shown["attempt"], shown["at_work"]) == ("running", 2, False)
