"""`ETag` and `If-Match`: a change is bound to what its author has seen (SPEC section 7)."""

from typing import Any

import pytest

from unit.functions.desk import ALICE, BOTH, DAILY, TASKS, Desk, Reply, request


def sent(desk: Desk, method: str, path: str, match: str, body: str | None = None) -> Reply:
    """The answer to a request with `If-Match`."""
    event = request(method, path, claims={"sub": ALICE, "scope": BOTH})
    event["headers"] |= {"if-match": match, "content-type": "application/json"}
    event["body"] = body
    return desk.send(event)


WRITES: dict[str, tuple[str, str, str | None]] = {
    "edit": ("PATCH", "", '{"title": "Another"}'),
    "pause": ("POST", "/pause", None),
    "resume": ("POST", "/resume", None),
    "delete": ("DELETE", "", None),
}


def test_every_answer_with_a_task_names_its_revision(desk: Desk) -> None:
    """A strong tag in quotes."""
    created = desk.call("POST", TASKS, DAILY)
    path = f"{TASKS}/{created.json['id']}"
    answers = [
        created,
        desk.call("GET", path),
        desk.call("PATCH", path, {"title": "Another"}),
        desk.call("POST", f"{path}/pause"),
        desk.call("POST", f"{path}/resume"),
    ]
    tags = [answer.headers["ETag"] for answer in answers]
    assert tags == ['"1"', '"1"', '"2"', '"3"', '"4"']
    assert tags == [f'"{answer.json["revision"]}"' for answer in answers]


@pytest.mark.parametrize("verb", WRITES)
@pytest.mark.parametrize("match", ['"7"', 'W/"2"', '"x"', '"02"', '"7", "8"', '""'])
def test_a_write_bound_to_another_revision_fails_and_changes_nothing(
    desk: Desk, verb: str, match: str
) -> None:
    """412; a weak tag matches nothing."""
    task_id = desk.create()["id"]
    before = desk.patch(task_id, priority=7).json
    method, rest, body = WRITES[verb]
    reply = sent(desk, method, f"{TASKS}/{task_id}{rest}", match, body)
    assert (reply.status, reply.code) == (412, "precondition_failed")
    assert desk.task(task_id) == before


@pytest.mark.parametrize("verb", WRITES)
@pytest.mark.parametrize("match", ['"2"', "*", '"9", "2"', '"9" ,W/"1","2"', ' "2" '])
def test_a_write_bound_to_the_revision_at_hand_is_done(desk: Desk, verb: str, match: str) -> None:
    """One tag of several is enough, and `*` is any."""
    task_id = desk.create()["id"]
    desk.patch(task_id, priority=7)
    method, rest, body = WRITES[verb]
    assert sent(desk, method, f"{TASKS}/{task_id}{rest}", match, body).status in (200, 204)


@pytest.mark.parametrize("match", ["2", "", '"2', '"2";"3"', "**", '"' + "1" * 600 + '"'])
def test_a_header_that_is_no_list_of_tags_is_refused(desk: Desk, match: str) -> None:
    """422, and not as if it had not been there."""
    task_id = desk.create()["id"]
    reply = sent(desk, "DELETE", f"{TASKS}/{task_id}", match)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert "If-Match" in reply.wrong()
    assert desk.stored() == [task_id]


@pytest.mark.parametrize("verb", WRITES)
def test_a_task_that_does_not_exist_is_not_found_whatever_is_expected(
    desk: Desk, verb: str
) -> None:
    """P8: a precondition tells nobody that a task exists."""
    method, rest, body = WRITES[verb]
    missing = f"{TASKS}/tsk_00000000000000000000000000{rest}"
    for match in ("*", '"1"'):
        assert sent(desk, method, missing, match, body).code == "task_not_found"


def test_a_change_that_comes_in_between_is_noticed(desk: Desk) -> None:
    """The revision is compared again in the write itself."""
    task_id = desk.create()["id"]
    taken: list[Any] = []
    desk.store.before("tasks.replace", lambda: taken.append(desk.patch(task_id, priority=7)))
    body = WRITES["edit"][2]
    assert sent(desk, "PATCH", f"{TASKS}/{task_id}", '"1"', body).code == "precondition_failed"
    assert desk.task(task_id)["title"] == DAILY["title"]
