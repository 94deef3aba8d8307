"""The router itself: which route a method and a path lead to, and what it is told."""

import pytest

from api.errors import MethodNotAllowed, UnknownPath
from api.routes import ROUTES, Route
from api.routing import Router
from unit.functions.desk import TASKS, Desk

IDS = {"<task_id>": "tsk_1", "<run_id>": "tsk_1-20260302T140000000Z", "<thread_id>": "tickets"}


@pytest.fixture
def router() -> Router:
    """The router of the API."""
    return Router(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.rule}")
def test_every_route_is_found_with_the_ids_of_its_path(router: Router, route: Route) -> None:
    """SPEC 7: the table of routes is the only one."""
    path = route.rule
    for name, value in IDS.items():
        path = path.replace(name, value)
    expected = {name[1:-1]: value for name, value in IDS.items() if name in route.rule}
    assert router.find(route.method, path) == (route, expected)


@pytest.mark.parametrize("task_id", ["a", "a b", "%2F", "ü", "<task_id>", "a.b", '"', "*", "Pause"])
def test_a_segment_is_handed_on_as_it_was_sent(router: Router, task_id: str) -> None:
    """Whether it can be an id is asked by those who look it up (P8)."""
    route, named = router.find("GET", f"{TASKS}/{task_id}")
    assert (route.run.__name__, named) == ("get_task", {"task_id": task_id})


@pytest.mark.parametrize(
    "path",
    [
        f"{TASKS}/<task_id>/gone",
        f"{TASKS}//runs",
        f"{TASKS}/a/runs/",
        f"{TASKS}/a\n",
        f"{TASKS}/a\x00b/runs",
        f"/x{TASKS}",
        f"{TASKS[1:]}",
    ],
)
def test_a_path_that_is_only_nearly_ours_is_unknown(router: Router, path: str) -> None:
    """SPEC 7."""
    with pytest.raises(UnknownPath):
        router.find("GET", path)


def test_a_word_of_ours_is_no_id(router: Router) -> None:
    """No task is looked up by the words for all tasks."""
    with pytest.raises(MethodNotAllowed) as refused:
        router.find("DELETE", f"{TASKS}/pause")
    assert refused.value.allowed == ("POST",)


def test_methods_are_told_apart_by_case(router: Router) -> None:
    """RFC 9110: a method is case-sensitive."""
    with pytest.raises(MethodNotAllowed) as refused:
        router.find("get", TASKS)
    assert refused.value.allowed == ("GET", "POST")


@pytest.mark.parametrize("task_id", ['"', "a\\b", "ü", "a b", "`", "#"])
def test_what_cannot_be_an_id_is_answered_like_a_task_that_is_not_there(task_id: str) -> None:
    """P8: the same body as for a random id."""
    desk = Desk()
    strange, random = (desk.call("GET", f"{TASKS}/{name}") for name in (task_id, "tsk_none"))
    assert (strange.status, strange.text) == (random.status, random.text) == (404, random.text)
