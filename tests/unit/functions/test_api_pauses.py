"""All of one's tasks paused and resumed over HTTP."""

from nightshift.domain.exchanged import TaskRef
from unit.functions.desk import ALICE, BOB, TASKS, Desk


def test_all_of_mine_are_paused_until_a_time_and_resumed(desk: Desk) -> None:
    """P3, P8."""
    mine = [desk.create()["id"] for _ in range(2)]
    theirs = desk.create(user=BOB)["id"]
    body = {"reason": "Holidays", "until": "2026-03-05T10:00:00+01:00"}
    paused = desk.call("POST", f"{TASKS}/pause", body)
    assert paused.status == 200
    assert paused.json == {"changed": mine, "unchanged": [], "refused": [], "next_cursor": None}
    assert desk.task(mine[0])["pause_until"] == "2026-03-05T09:00:00.000Z"
    assert desk.call("GET", f"{TASKS}/{theirs}", user=BOB).json["status"] == "enabled"
    assert desk.call("POST", f"{TASKS}/resume").json["changed"] == mine
    assert desk.task(mine[1])["status"] == "enabled"


def test_what_is_refused_is_named_with_its_code(desk: Desk) -> None:
    """SPEC 7: the code that pausing it alone would answer."""
    task = desk.create(schedule_spec={"after_seconds": 60})
    done = desk.call("POST", f"{TASKS}/pause", {"until": "2026-03-05T10:00:00Z"}).json
    assert done["refused"] == [{"task_id": task["id"], "code": "never_fires"}]
    assert desk.task(task["id"]) == task


def test_more_than_a_hundred_go_on_with_the_cursor_of_their_owner(desk: Desk) -> None:
    """A cursor is good for its user and its route only."""
    made = [desk.create()["id"] for _ in range(101)]
    first = desk.call("POST", f"{TASKS}/pause").json
    assert first["changed"] == made[:100]
    cursor = {"cursor": first["next_cursor"]}
    for path, user in ((f"{TASKS}/pause", BOB), (f"{TASKS}/resume", ALICE)):
        assert desk.call("POST", path, cursor, user=user).code == "invalid_cursor"
    rest = desk.call("POST", f"{TASKS}/pause", cursor).json
    assert (rest["changed"], rest["next_cursor"]) == (made[100:], None)


def test_an_end_that_is_none_is_refused(desk: Desk) -> None:
    """SPEC 7: 422 that names the field, whether there are tasks or not."""
    reply = desk.call("POST", f"{TASKS}/pause", {"until": "2026-03-01T12:00:00Z"})
    assert (reply.status, reply.code) == (422, "not_in_future")
    assert "until" in reply.wrong()
    assert desk.call("POST", f"{TASKS}/resume", {"reason": "why"}).code == "invalid_request"


def test_a_row_that_cannot_be_read_is_passed_over_and_told(desk: Desk) -> None:
    """SPEC 2: a corrupt row stops nobody else."""
    broken, whole = desk.create()["id"], desk.create()["id"]
    desk.store.corrupt_task(TaskRef(ALICE, broken))
    assert desk.call("POST", f"{TASKS}/pause").json["changed"] == [whole]
    assert "corrupt_rows" in desk.actions()
