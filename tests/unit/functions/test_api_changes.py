"""`GET /changes`: who changed what of a task (SPEC section 7)."""

import json
from typing import Any

from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.change import definition_facts
from unit.functions.desk import ALICE, BOB, DAILY, TASKS, Desk


def pages(desk: Desk, task_id: str, limit: int) -> list[dict[str, Any]]:
    """The whole log through pages of this size, newest first."""
    entries: list[dict[str, Any]] = []
    query = f"limit={limit}"
    while True:
        page = desk.call("GET", f"{TASKS}/{task_id}/changes", query=query).json
        entries += page["items"]
        if page["next_cursor"] is None:
            return entries
        query = f"limit={limit}&cursor={page['next_cursor']}"


def eventful(desk: Desk) -> str:
    """A task to which everything was done that can be."""
    desk.call("PUT", "/api/threads/tickets")
    task_id: str = desk.create(labels={"team": "support"}, max_lateness_seconds=60)["id"]
    desk.patch(task_id, title="Another", labels=None, prompt="A great secret.")
    desk.do("pause", task_id)
    desk.call("POST", f"{TASKS}/{task_id}/pause", {"reason": "holiday"})
    desk.patch(task_id, context_mode="reuse_thread", thread_id="tickets")
    desk.patch(task_id, schedule_spec={"every_seconds": 3600}, timezone="Europe/Berlin")
    desk.do("resume", task_id)
    desk.do("resume", task_id)
    desk.patch(task_id, max_lateness_seconds=None, ends_at="2027-01-01T00:00:00Z")
    return task_id


def test_the_log_says_who_when_and_what_newest_first(desk: Desk) -> None:
    """One entry for each change, and none where nothing changed."""
    entries = pages(desk, eventful(desk), 50)
    verbs = [entry["verb"] for entry in entries]
    assert verbs == [
        *("edited", "resumed", "edited", "edited", "paused", "paused", "edited", "created")
    ]
    assert [entry["revision"] for entry in entries] == list(range(8, 0, -1))
    assert {entry["by"] for entry in entries} == {ALICE}
    assert entries[-2]["fields"]["title"] == {"old": DAILY["title"], "new": "Another"}
    assert entries[-2]["fields"]["labels"] == {"old": {"team": "support"}, "new": None}
    assert entries[-2]["at"] == "2026-03-01T12:00:00.000Z"


def test_folding_the_log_gives_the_definition(desk: Desk) -> None:
    """From the wire alone, through pages."""
    task_id = eventful(desk)
    facts: dict[str, Any] = {}
    for entry in reversed(pages(desk, task_id, 3)):
        facts |= {name: field["new"] for name, field in entry["fields"].items()}
    stored = desk.store.tasks.get(TaskRef(ALICE, task_id))
    assert stored is not None
    kept = {name: value for name, value in facts.items() if value is not None}
    assert kept == json.loads(json.dumps(definition_facts(stored)))


def test_no_prompt_is_in_the_log(desk: Desk) -> None:
    """Its kind and the revision it came with, never its text."""
    log = json.dumps(pages(desk, eventful(desk), 50))
    assert "secret" not in log
    assert str(DAILY["prompt"]) not in log


def test_the_log_of_another_user_does_not_exist(desk: Desk) -> None:
    """P8: also not that of a task which is gone."""
    task_id = desk.create()["id"]
    path = f"{TASKS}/{task_id}/changes"
    assert desk.call("GET", path, user=BOB).code == "task_not_found"
    desk.call("DELETE", f"{TASKS}/{task_id}")
    assert desk.call("GET", path).code == "task_not_found"


def test_a_cursor_of_one_log_is_not_that_of_another(desk: Desk) -> None:
    """400 invalid_cursor: bound to user, route and task."""
    one, other = eventful(desk), eventful(desk)
    cursor = desk.call("GET", f"{TASKS}/{one}/changes", query="limit=1").json["next_cursor"]
    for path in (f"{TASKS}/{other}/changes", f"{TASKS}/{one}/runs", TASKS):
        reply = desk.call("GET", path, query=f"cursor={cursor}")
        assert (reply.status, reply.code) == (400, "invalid_cursor")
