"""Every route against every kind of caller, through the real authorizer (P8, B124, B130)."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.identity import ADMIN, READ, RUN, WRITE
from api.routes import ROUTES, Route
from e2e.place import Place, local_cloud

GUARDED = [route for route in ROUTES if route.scope is not None]
OF_SOMETHING = [route for route in GUARDED if "<" in route.rule and route.method != "PUT"]
BODIES = {
    "create_task": {"title": "A", "prompt": "B", "schedule_spec": {"cron": "0 3 * * *"}},
    "edit_task": {"title": "Taken over"},
    "preview_schedule": {"schedule_spec": {"cron": "0 3 * * *"}},
}
CALLERS: dict[str, tuple[dict[str, Any] | None, int]] = {
    "no token": (None, 401),
    "expired": ({"lifetime_seconds": -60}, 401),
    "wrong audience": ({"aud": "else", "client_id": "else"}, 401),
    "wrong issuer": ({"iss": "http://127.0.0.1:9"}, 401),
    "no scope": ({"scopes": ()}, 403),
    "the other scope": ({"scopes": ("the other",)}, 403),
}


def name(route: Route) -> str:
    """A route as a test's name."""
    return f"{route.method} {route.rule}"


class Belongings:
    """What Ada has: a task with an active run, and a thread."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.ada = place.caller("ada")
        task = place.create(self.ada, prompt="mine")
        self.path = f"/api/scheduled-tasks/{task['id']}"
        self.names = {"task_id": task["id"], "thread_id": "adas"}
        self.names["run_id"] = self.ada.post(f"{self.path}/trigger").json()["run_id"]
        self.ada.put("/api/threads/adas")
        place.in_status(self.ada, task, "running")

    def ask(self, caller: httpx.Client, route: Route, **names: str) -> httpx.Response:
        """Send a request to the route about Ada's things, or about those that are named."""
        path = route.rule
        for parameter, value in (self.names | names).items():
            path = path.replace(f"<{parameter}>", value)
        body = BODIES.get(route.run.__name__)
        return caller.request(route.method, path, json=body)

    def rows(self) -> list[str]:
        """Everything that is stored."""
        return sorted(json.dumps(row, sort_keys=True) for row in self.place.rows())


@pytest.fixture(scope="module")
def hers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Belongings]:
    """Ada's things on a cloud of their own, which nothing but a request moves."""
    folder = tmp_path_factory.mktemp("hers")
    with local_cloud(folder, WorkerSilenceSeconds="3600") as cloud:
        place = Place(cloud)
        yield Belongings(place)
        place.dismiss()


def as_caller(place: Place, route: Route, token: dict[str, Any] | None) -> httpx.Client:
    """Ada with a token like this; `the other` scopes are those that the route does not want."""
    if token is None:
        caller = place.caller("ada")
        del caller.headers["Authorization"]
        return caller
    if token.get("scopes") == ("the other",):
        token = {"scopes": tuple({READ, WRITE, ADMIN} - {route.scope})}
    return place.caller("ada", **token)


@pytest.mark.parametrize("route", GUARDED, ids=name)
def test_without_the_right_token_no_route_is_served(hers: Belongings, route: Route) -> None:
    """401 without a good token, 403 without the scope, and nothing happens."""
    before = hers.rows()
    answers = {}
    for kind, (token, _) in CALLERS.items():
        caller = as_caller(hers.place, route, token)
        answers[kind] = hers.ask(caller, route).status_code
    forged = hers.place.caller("ada")
    head, _, signature = forged.headers["Authorization"].rpartition(".")
    forged.headers["Authorization"] = f"{head}.{signature[::-1]}"
    assert hers.ask(forged, route).status_code == 401
    assert answers == {kind: status for kind, (_, status) in CALLERS.items()}
    assert hers.rows() == before


@pytest.mark.parametrize("route", OF_SOMETHING, ids=name)
def test_another_users_things_do_not_exist(hers: Belongings, route: Route) -> None:
    """404 with the body of an id that nobody has, and nothing happens."""
    bob = hers.place.caller("bob")
    before = hers.rows()
    nobodys = {"task_id": "tsk_" + "0" * 26, "run_id": "none", "thread_id": "none"}
    foreign, unknown = hers.ask(bob, route), hers.ask(bob, route, **nobodys)
    assert foreign.status_code == unknown.status_code == 404
    bodies = [answer.json() for answer in (foreign, unknown)]
    assert bodies[0].pop("request_id") != bodies[1].pop("request_id")
    assert bodies[0] == bodies[1]
    assert hers.rows() == before


@pytest.mark.parametrize("route", [route for route in GUARDED if route.scope == WRITE], ids=name)
def test_the_token_of_a_run_changes_nothing(hers: Belongings, route: Route) -> None:
    """B130: agents do not multiply themselves, though the token has the scope to write."""
    agent = hers.place.caller("ada", scopes=(READ, WRITE, RUN))
    before = hers.rows()
    answer = hers.ask(agent, route)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert hers.rows() == before
    assert agent.get(hers.path).status_code == 200


def test_what_needs_no_token_is_served_to_everybody(hers: Belongings) -> None:
    """Health and the two documents, and nothing else."""
    nobody = httpx.Client(base_url=hers.place.cloud.api_url)
    open_to_all = [route for route in ROUTES if route.scope is None]
    with nobody:
        answers = [nobody.get(route.rule) for route in open_to_all]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert "text/html" in answers[-1].headers["content-type"]
