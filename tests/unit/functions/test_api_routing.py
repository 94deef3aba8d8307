"""Paths, methods and query strings that are not ours, and what each gets for an answer."""

from pathlib import Path

import pytest

from api.routes import ROUTES
from unit.functions.desk import ALICE, BOTH, TASKS, Desk, request


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/scheduled-tasks/",
        "/api/Scheduled-Tasks",
        "/api//scheduled-tasks",
        "/api/scheduled-tasks/tsk_1/unknown",
        "/api/scheduled-tasks/tsk_1/runs/run/",
        "/api/scheduled-tasks/a/b/c/d/e",
        "/api/scheduled-tasks\n",
        "/api/scheduled-tasks/tsk_1\n",
        "/prod/api/scheduled-tasks",
        "",
    ],
)
def test_an_unknown_path_is_told_in_our_words(desk: Desk, path: str) -> None:
    """SPEC 7: unknown paths reach our router."""
    reply = desk.call("GET", path)
    assert (reply.status, reply.code) == (404, "not_found")


def test_an_encoded_slash_makes_another_path(desk: Desk) -> None:
    """The gateway decodes; whatever it makes of it, no task is reached."""
    task_id = desk.create()["id"]
    for path in (f"{TASKS}/{task_id}%2Fpause", f"{TASKS}/{task_id}%20", f"{TASKS}%2F{task_id}"):
        assert desk.call("POST", path).status in (404, 405)
        assert desk.call("GET", path).status == 404
    assert desk.task(task_id)["status"] == "enabled"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO"])
def test_a_wrong_method_is_told_which_are_right(desk: Desk, method: str) -> None:
    """RFC 9110: 405 names what is allowed."""
    desk.create()
    reply = desk.call(method, TASKS)
    assert reply.status == 405
    assert reply.headers["Allow"] == "GET, POST"
    assert (reply.text == "") if method == "HEAD" else (reply.code == "method_not_allowed")
    assert len(desk.stored()) == 1


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_what_is_done_to_all_tasks_is_no_task(desk: Desk, method: str, verb: str) -> None:
    """No id is one of these words, and nothing is looked up by them."""
    reply = desk.call(method, f"{TASKS}/{verb}")
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
    assert desk.store.all_calls() == {}


def test_every_path_of_ours_allows_exactly_its_methods(desk: Desk) -> None:
    """The table of routes is the only one."""
    for rule in {route.rule for route in ROUTES}:
        allowed = sorted(route.method for route in ROUTES if route.rule == rule)
        reply = desk.call("BREW", rule.replace("<", "").replace(">", ""))
        assert reply.headers["Allow"] == ", ".join(allowed)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (TASKS, "stauts=enabled"),
        (TASKS, "status=enabled&status=paused"),
        (TASKS, "status=gone"),
        (TASKS, "status="),
        (TASKS, "limit=0"),
        (TASKS, "limit=101"),
        (TASKS, "limit=ten"),
        (TASKS, "limit=1.0"),
        (TASKS, "limit=-1"),
        (TASKS, "limit=٣"),
        (TASKS, "limit=" + "9" * 400),
        (TASKS, "label=team"),
        (TASKS, "label=team%3Da&label=team%3Db"),
        (TASKS, "thread=%ff"),
        (TASKS, "&".join(["label=a%3Db"] * 30)),
        ("/api/policy", "verbose=1"),
    ],
)
def test_a_query_that_is_nearly_right_is_refused(desk: Desk, path: str, query: str) -> None:
    """SPEC 7: a filter with a typing error must not list everything."""
    reply = desk.call("GET", path, query=query)
    assert (reply.status, reply.code) == (422, "invalid_request")


def test_answers_are_not_kept_by_anybody_on_the_way(desk: Desk) -> None:
    """What is a user's own is not cached."""
    for path in (TASKS, "/api/policy", "/api/none"):
        assert desk.call("GET", path).headers["Cache-Control"] == "no-store"


def test_headers_are_found_in_any_spelling(desk: Desk) -> None:
    """API Gateway sends them in lower case; others do not."""
    event = request("POST", f"{TASKS}", claims={"sub": ALICE, "scope": BOTH})
    event["headers"]["Content-Type"] = "application/json"
    event["body"] = '{"title": "a", "prompt": "b", "schedule_spec": {"after_seconds": 90}}'
    assert desk.send(event).status == 201


def test_the_handler_is_short() -> None:
    """HOUSE: handlers under 60 lines."""
    functions = Path(__file__).parents[3] / "functions"
    for handler in functions.glob("*/handler.py"):
        assert len(handler.read_text().splitlines()) < 60, handler
