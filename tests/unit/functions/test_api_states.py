"""What each verb answers in each state of a task: status, code, and advice that can work (B129)."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.instants import format_instant
from unit.functions.desk import ALICE, TASKS, Desk, Reply

VERBS: dict[str, Callable[[Desk, str], Reply]] = {
    "rename": lambda desk, task: desk.patch(task, title="Other"),
    "reschedule": lambda desk, task: desk.patch(task, schedule_spec={"after_seconds": 600}),
    "pause": lambda desk, task: desk.do("pause", task),
    "resume": lambda desk, task: desk.do("resume", task),
    "trigger": lambda desk, task: desk.do("trigger", task),
    "delete": lambda desk, task: desk.call("DELETE", f"{TASKS}/{task}"),
}
MUTABLE = "200 200 200 200 200 204"
FINISHED = "200 200 task_not_mutable task_not_mutable 200 204"
EXPECTED = {
    "enabled": MUTABLE,
    "paused": MUTABLE,
    "blocked": MUTABLE,
    "dispatching": "task_not_mutable task_not_mutable 200 200 active_run 204",
    "recurring_running": "200 200 200 200 active_run 204",
    "once_running": (
        "task_not_mutable task_not_mutable task_not_mutable task_not_mutable active_run 204"
    ),
    "completed": FINISHED,
    "failed": FINISHED,
    "cancelled": FINISHED,
}


def in_state(desk: Desk, state: str) -> str:
    """A task in this state."""
    once = state in ("once_running", "completed", "failed", "cancelled")
    spec = {"after_seconds": 60} if once else {"cron": "0 9 * * *"}
    task_id: str = desk.create(schedule_spec=spec)["id"]
    if state == "paused":
        desk.do("pause", task_id)
    if state == "blocked":
        desk.store.tasks.block(
            TaskRef(ALICE, task_id), "The row is odd.", due_at=_due(desk, task_id)
        )
    if state == "dispatching":
        desk.do("trigger", task_id)
    if state in ("recurring_running", "once_running"):
        desk.begin(task_id)
    if state in ("completed", "failed", "cancelled"):
        outcomes = {"completed": "success", "failed": "failed", "cancelled": "interrupted"}
        run = desk.begin(task_id)
        news = desk.executions.end(run.id, Outcome(outcomes[state]), desk.now)
        desk.completion.lifecycle.record_outcome(news)
    desk.now += timedelta(seconds=1)
    return task_id


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("state", EXPECTED)
def test_each_verb_answers_by_the_state_of_the_task(state: str, verb: str) -> None:
    """P2-P5: 409 for a conflict with the state, never 5xx, and a refusal changes nothing."""
    desk = Desk()
    task_id = in_state(desk, state)
    before = desk.task(task_id)
    expected = EXPECTED[state].split()[list(VERBS).index(verb)]
    reply = VERBS[verb](desk, task_id)
    if expected.isdigit():
        assert reply.status == int(expected), reply.text
        return
    assert (reply.status, reply.code) == (409, expected)
    assert desk.task(task_id) == before


def test_the_states_are_those_they_are_called() -> None:
    """A table about states that do not arise would prove nothing."""
    for state in EXPECTED:
        desk = Desk()
        task = desk.task(in_state(desk, state))
        if state in ("enabled", "paused", "completed", "failed", "cancelled"):
            assert task["status"] == state
        assert task["dispatching"] is (state == "dispatching")
        assert (task["blocked_reason"] is not None) is (state == "blocked")
        assert (task["active_run_id"] is not None) is (state == "dispatching" or "running" in state)
        assert (task["status"] == "running") is (state == "once_running")


def test_the_advice_of_a_refusal_works() -> None:
    """B129: a running `once` cannot be paused, but its run can be cancelled as the answer says."""
    desk = Desk()
    task_id = in_state(desk, "once_running")
    refusal = desk.do("pause", task_id)
    assert "cancel the run" in refusal.json["detail"]
    run_id = desk.task(task_id)["active_run_id"]
    assert desk.call("POST", f"{TASKS}/{task_id}/runs/{run_id}/cancel").status == 202
    desk.look(desk.now)
    assert desk.task(task_id)["status"] == "cancelled"
    finished = desk.do("resume", task_id)
    assert "new schedule" in finished.json["detail"]
    moment = format_instant(desk.now + timedelta(hours=1))
    assert desk.patch(task_id, schedule_spec={"once": moment}).json["status"] == "enabled"


def _due(desk: Desk, task_id: str) -> datetime:
    task = desk.store.tasks.get(TaskRef(ALICE, task_id))
    assert task is not None
    assert task.state.due_at is not None
    return task.state.due_at
