"""Who may do what: every route against every kind of caller (P8, B124, B141)."""

from typing import Any

import pytest

from api.identity import ADMIN, READ, RUN, RUN_CLAIM, WRITE
from api.routes import ROUTES, Route
from nightshift.domain.model.enums import RunStatus
from unit.functions.desk import ALICE, BOB, TASKS, Desk, request

GUARDED = [route for route in ROUTES if route.scope is not None]
OF_SOMETHING = [route for route in GUARDED if "<" in route.rule and route.method != "PUT"]


def name(route: Route) -> str:
    """A route as a test's name."""
    return f"{route.method} {route.rule}"


class House:
    """Alice's task with a running run and a thread, and what nobody but her may change."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.task_id = self.desk.create()["id"]
        self.run_id = self.desk.begin(self.task_id).id
        self.desk.call("PUT", "/api/threads/tickets")

    def event(self, route: Route, claims: dict[str, Any] | None) -> dict[str, Any]:
        """A request to the route about Alice's things."""
        path = route.rule.replace("<task_id>", self.task_id).replace("<run_id>", self.run_id)
        path = path.replace("<thread_id>", "tickets")
        event = request(route.method, path, claims=claims)
        if route.method in ("POST", "PATCH"):
            event["headers"]["content-type"] = "application/json"
            event["body"] = '{"title": "Mine"}' if route.method == "PATCH" else "{}"
        return event

    def snapshot(self) -> tuple[Any, ...]:
        """Everything that a request could have changed."""
        task = self.desk.task(self.task_id)
        run = self.desk.run(self.task_id, self.run_id)
        return (
            task,
            run,
            self.desk.executions.stops,
            self.desk.executions.launched,
            self.desk.store.policies.in_force(),
            self.desk.stored(ALICE),
            self.desk.stored(BOB),
        )


@pytest.fixture
def house() -> House:
    """A house of Alice's."""
    return House()


@pytest.mark.parametrize("route", GUARDED, ids=name)
@pytest.mark.parametrize(
    "claims",
    [
        None,
        {},
        {"scope": f"{READ} {WRITE}"},
        {"sub": "alice", "scope": f"{READ} {WRITE}", "token_use": "id"},
        {"sub": "", "scope": f"{READ} {WRITE}"},
        {"sub": " ", "scope": f"{READ} {WRITE}"},
        {"sub": "alice#1", "scope": f"{READ} {WRITE}"},
        {"sub": ["alice"], "scope": f"{READ} {WRITE}"},
        {"sub": "a" * 129, "scope": f"{READ} {WRITE}"},
        {"username": "alice", "client_id": "alice", "scope": f"{READ} {WRITE}"},
    ],
    ids=str,
)
def test_without_a_verified_user_nothing_is_served(
    route: Route, claims: dict[str, Any] | None, house: House
) -> None:
    """P8, B141: the way in fails closed."""
    before = house.snapshot()
    reply = house.desk.send(house.event(route, claims))
    assert (reply.status, reply.code) == (401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert house.snapshot() == before


@pytest.mark.parametrize("route", GUARDED, ids=name)
@pytest.mark.parametrize("scopes", ["none", "other", "prefix", "list"])
def test_without_its_scope_a_route_is_not_served(route: Route, scopes: str, house: House) -> None:
    """Scopes are checked in code as well as at the authorizer."""
    others = " ".join({READ, WRITE, ADMIN} - {route.scope})
    claims: dict[str, dict[str, Any]] = {
        "none": {"sub": ALICE},
        "other": {"sub": ALICE, "scope": f"openid {others}"},
        "prefix": {"sub": ALICE, "scope": f"x{route.scope} {route.scope}x"},
        "list": {"sub": ALICE, "scope": [route.scope]},
    }
    before = house.snapshot()
    reply = house.desk.send(house.event(route, claims[scopes]))
    assert (reply.status, reply.code) == (403, "forbidden")
    assert house.snapshot() == before


@pytest.mark.parametrize("route", GUARDED, ids=name)
@pytest.mark.parametrize(
    "mark",
    [
        {"scope": f"{READ} {WRITE} {RUN}"},
        {"scope": f"{READ} {WRITE} nightshift/admin", RUN_CLAIM: "tsk_1-20260302T140000000Z"},
        {"scope": f"{READ} {WRITE}", RUN_CLAIM: ""},
    ],
    ids=["scope", "claim", "empty claim"],
)
def test_a_token_that_belongs_to_a_run_only_reads(
    route: Route, mark: dict[str, Any], house: House
) -> None:
    """B130: agents neither create nor trigger nor edit, whatever else their token says."""
    before = house.snapshot()
    reply = house.desk.send(house.event(route, {"sub": ALICE, **mark}))
    if route.scope != READ:
        assert (reply.status, reply.code) == (403, "forbidden")
    else:
        assert reply.status != 403
    assert house.snapshot() == before


@pytest.mark.parametrize("route", OF_SOMETHING, ids=name)
def test_what_belongs_to_somebody_else_does_not_exist(route: Route, house: House) -> None:
    """P8, B124: 404, with the same body as for an id that nobody has."""
    claims = {"sub": BOB, "scope": f"{READ} {WRITE}"}
    before = house.snapshot()
    foreign = house.desk.send(house.event(route, claims))
    event = house.event(route, claims)
    event["rawPath"] = event["rawPath"].replace(house.task_id, "tsk_00000000000000000000000000")
    unknown = house.desk.send({**event, "rawPath": event["rawPath"].replace("tickets", "none")})
    assert foreign.status == unknown.status == 404
    assert foreign.text == unknown.text
    assert house.snapshot() == before


def test_a_list_shows_ones_own_things_only(house: House) -> None:
    """P8."""
    assert house.desk.call("GET", TASKS, user=BOB).json["items"] == []


def test_the_same_thread_name_is_another_thread_for_another_user(house: House) -> None:
    """P8: names are chosen by users and belong to them."""
    house.desk.now = house.desk.now.replace(hour=13)
    assert house.desk.call("PUT", "/api/threads/tickets", user=BOB).status == 200
    theirs = house.desk.call("GET", "/api/threads/tickets", user=BOB).json
    mine = house.desk.call("GET", "/api/threads/tickets").json
    assert theirs["created_at"] != mine["created_at"]


def test_a_run_is_reached_through_its_own_task_only(house: House) -> None:
    """P8: another task of the same user does not lead to it."""
    other = house.desk.create()["id"]
    path = f"{TASKS}/{other}/runs/{house.run_id}"
    assert house.desk.call("GET", path).code == "run_not_found"
    assert house.desk.call("POST", f"{path}/cancel").code == "run_not_found"
    assert house.desk.run(house.task_id, house.run_id).status is RunStatus.RUNNING


@pytest.mark.parametrize(
    "strange", ["%00", "..", "TASK#x", "a b", "x" * 81, "'", "é", "tsk_*", "<script>"]
)
def test_an_id_that_cannot_be_one_is_not_looked_up(strange: str, house: House) -> None:
    """P8: the answer is that of any other id."""
    house.desk.store.forget_calls()
    reply = house.desk.call("GET", f"{TASKS}/{strange}")
    assert reply.status == 404
    assert house.desk.store.calls("tasks.get") == 0


def test_health_needs_no_token_and_asks_nobody(house: House) -> None:
    """SPEC 7."""
    house.desk.store.unplug()
    reply = house.desk.send(request("GET", "/api/health"))
    assert (reply.status, reply.json) == (200, {"status": "ok"})


def test_nothing_of_the_token_reaches_a_run(house: House) -> None:
    """SPEC 2, not goals: what a run is given comes from the task alone."""
    order = house.desk.executions.orders[0]
    assert "scope" not in repr(order)
    assert "authorization" not in repr(order).lower()
