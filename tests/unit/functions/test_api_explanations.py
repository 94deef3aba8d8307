"""The route that says why a task runs or does not."""

from datetime import timedelta
from typing import Any

from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import Rule
from unit.functions.desk import ALICE, BOB, SUNDAY, TASKS, Desk

READ_ONLY = {
    *("tasks.read", "tasks.due", "tasks.changes"),
    *("runs.slots", "runs.get", "runs.list", "policies.current", "policies.in_force"),
}


def explained(desk: Desk, task_id: str, query: str = "") -> dict[str, Any]:
    """The explanation of a task."""
    reply = desk.call("GET", f"{TASKS}/{task_id}/explanation", query=query)
    assert reply.status == 200, reply.text
    said: dict[str, Any] = reply.json
    return said


def decider(said: dict[str, Any]) -> tuple[str, str]:
    """The rule that decides, with its sentence."""
    ((rule, detail),) = [
        (word["rule"], word["detail"]) for word in said["rules"] if word["verdict"] == "decides"
    ]
    return rule, detail


def test_every_rule_is_named_in_the_order_in_which_it_is_asked() -> None:
    """The rules before the one that decides pass, those behind it are not reached."""
    desk = Desk()
    said = explained(desk, desk.create()["id"])
    assert [word["rule"] for word in said["rules"]] == [rule.value for rule in Rule]
    verdicts = [word["verdict"] for word in said["rules"]]
    place = verdicts.index("decides")
    assert set(verdicts[:place]) == {"passes"}
    assert set(verdicts[place + 1 :]) == {"not_reached"}
    assert (said["at"], said["decision"]) == ("2026-03-01T12:00:00.000Z", "rests")
    assert decider(said) == ("due", "It is due at 2026-03-02 09:00 UTC.")


def test_a_task_of_somebody_else_does_not_exist() -> None:
    """P8: the same body as for an id that nobody has."""
    desk = Desk()
    task_id = desk.create()["id"]
    path = "/explanation"
    foreign = desk.call("GET", f"{TASKS}/{task_id}{path}", user=BOB)
    unknown = desk.call("GET", f"{TASKS}/tsk_none{path}", user=BOB)
    assert (foreign.status, foreign.code, foreign.text) == (404, "task_not_found", unknown.text)


def test_it_needs_no_right_to_write() -> None:
    """It is read only: a token that may read is enough, and one that may only write is not."""
    desk = Desk()
    path = f"{TASKS}/{desk.create()['id']}/explanation"
    assert desk.call("GET", path, scope="nightshift/read").status == 200
    assert desk.call("GET", path, scope="nightshift/write").status == 403


def test_nothing_is_written_and_nothing_is_locked() -> None:
    """It reads, whatever it is asked about."""
    desk = Desk()
    task_id = desk.create(schedule_spec={"every_seconds": 600})["id"]
    desk.now = SUNDAY + timedelta(minutes=20)
    desk.store.forget_calls()
    for query in (
        "",
        "at=2026-03-01T12:10:00Z",
        "at=2026-03-01T11:00:00Z",
        "at=2030-01-01T00:00:00Z",
    ):
        explained(desk, task_id, query)
    assert desk.store.all_calls().keys() <= READ_ONLY
    assert desk.executions.launched == []


def test_a_task_that_cannot_be_read_is_explained_too() -> None:
    """P20: the one who asks is told so, and what the clock will do."""
    desk = Desk()
    task_id = desk.create()["id"]
    desk.store.corrupt_task(TaskRef(ALICE, task_id), "the schedule cannot be read")
    said = explained(desk, task_id)
    assert said["decision"] == "rests"
    assert decider(said) == ("row", "The task cannot be read: the schedule cannot be read")
    desk.now = SUNDAY + timedelta(days=1)
    said = explained(desk, task_id)
    assert (said["decision"], said["reason"]) == ("blocks", "the schedule cannot be read")


def test_a_time_that_cannot_be_read_is_refused() -> None:
    """SPEC section 7: 422, the field named."""
    desk = Desk()
    path = f"{TASKS}/{desk.create()['id']}/explanation"
    for text in ("yesterday", "", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00Z", "2026-03-01"):
        reply = desk.call("GET", path, query=f"at={text}")
        assert (reply.status, reply.code) == (422, "invalid_schedule"), text
        assert reply.wrong().keys() == {"at"}


def test_the_kill_switch_is_shown_with_who_and_why() -> None:
    """P14: who and why is shown, to whoever waits."""
    desk = Desk()
    task_id = desk.create()["id"]
    body = {"max_concurrent_runs": 0, "reason": "The provider is down."}
    scope = "nightshift/admin nightshift/read"
    assert desk.call("PATCH", "/api/policy", body, user=BOB, scope=scope).status == 200
    desk.now = SUNDAY + timedelta(days=1)
    said = explained(desk, task_id)
    assert (said["decision"], said["reason"]) == ("waits", "budget_full")
    stopped = "All starts were stopped by bob, 2026-03-01 12:00 UTC: The provider is down."
    assert decider(said) == ("kill_switch", stopped)
    said = explained(desk, task_id, "at=2026-03-09T09:00:00Z")
    assert said["decision"] == "comes"
    (word,) = [word for word in said["rules"] if word["rule"] == "kill_switch"]
    assert word["verdict"] == "not_reached"
    assert word["detail"] == f"Only that moment can tell. For now: {stopped}"
