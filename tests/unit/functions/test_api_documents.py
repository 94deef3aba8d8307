"""`/api/openapi.json` and `/api/docs`: generated, true, and readable without the internet."""

import inspect
import re
from typing import Any

import pytest

import nightshift.domain.errors
from api import requests, responses
from api.contracts import CONTRACTS
from api.errors import STATUSES
from api.examples import EXAMPLES
from api.routes import ROUTES
from api.wire import Wire, validated
from nightshift.domain.errors import NightshiftError
from unit.functions.desk import TASKS, Desk, request

TOLD_ONLY_TO_OPERATORS = {"conflict", "not_found"}
"""Codes of classes that stand for others, or for paths that are no route."""


def read(desk: Desk) -> dict[str, Any]:
    """The document as anybody gets it."""
    reply = desk.send(request("GET", "/api/openapi.json"))
    assert reply.status == 200
    document: dict[str, Any] = reply.json
    return document


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every operation by its id."""
    found = [entry for methods in document["paths"].values() for entry in methods.values()]
    return {entry["operationId"]: entry for entry in found}


def test_the_document_needs_no_token_and_asks_nobody(desk: Desk) -> None:
    """SPEC section 7: generated and served."""
    desk.store.unplug()
    assert read(desk)["openapi"] == "3.1.0"


def test_every_route_is_in_the_document_and_nothing_else(desk: Desk) -> None:
    """Made from the route table."""
    shown = {
        (method.upper(), path)
        for path, methods in read(desk)["paths"].items()
        for method in methods
    }
    assert shown == {(route.method, re.sub(r"<(\w+)>", r"{\1}", route.rule)) for route in ROUTES}
    assert CONTRACTS.keys() == {route.run.__name__ for route in ROUTES}


def test_every_operation_says_which_scope_it_needs(desk: Desk) -> None:
    """Checked at the authorizer and again in code."""
    shown = operations(read(desk))
    for route in ROUTES:
        entry = shown[route.run.__name__]
        assert bool(entry["security"]) == (route.scope is not None)
        assert route.scope is None or f"`{route.scope}`" in entry["description"]


def test_every_parameter_of_a_route_is_described(desk: Desk) -> None:
    """Those of the path, the query, and the headers that are read."""
    shown = operations(read(desk))
    for route in ROUTES:
        named = {entry["name"] for entry in shown[route.run.__name__]["parameters"]}
        assert set(route.parameters) | set(re.findall(r"<(\w+)>", route.rule)) <= named
    assert "Idempotency-Key" in str(shown["trigger_task"]["parameters"])
    assert "If-Match" in str(shown["delete_task"]["parameters"])


def test_every_code_of_ours_is_in_the_document_with_its_status(desk: Desk) -> None:
    """SPEC section 7, the table of codes."""
    told: dict[str, set[int]] = {}
    for entry in operations(read(desk)).values():
        for status, response in entry["responses"].items():
            content = response.get("content", {}).get("application/problem+json", {})
            for code, example in content.get("examples", {}).items():
                assert example["value"]["status"] == int(status)
                told.setdefault(code, set()).add(int(status))
    family = [
        kind
        for _, kind in inspect.getmembers(nightshift.domain.errors, inspect.isclass)
        if issubclass(kind, NightshiftError)
    ]
    assert {kind.code for kind in family} - TOLD_ONLY_TO_OPERATORS <= told.keys()
    assert all(len(statuses) == 1 for statuses in told.values())
    assert {status for statuses in told.values() for status in statuses} == set(
        STATUSES.values()
    ) - {405}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_one_of_its_model(name: str) -> None:
    """An example that is none would mislead."""
    models = [CONTRACTS[operation].gives for operation in CONTRACTS]
    models += [CONTRACTS[operation].takes for operation in CONTRACTS]
    (model,) = {kind for kind in models if kind is not None and kind.__name__ == name}
    assert issubclass(model, Wire)
    assert (
        validated(model, EXAMPLES[name]).model_dump(mode="json", exclude_unset=True)
        == (EXAMPLES[name])
    )


def test_every_body_that_can_be_sent_or_comes_has_an_example(desk: Desk) -> None:
    """With examples, all of them."""
    for entry in operations(read(desk)).values():
        bodies = [entry.get("requestBody", {}), *entry["responses"].values()]
        for body in bodies:
            for kind, content in body.get("content", {}).items():
                shown = "example" in content or "examples" in content
                assert shown or entry["operationId"] in ("get_openapi", "get_docs"), kind


def test_the_examples_of_requests_are_accepted(desk: Desk) -> None:
    """Whoever copies one gets a task."""
    created = desk.call("POST", TASKS, EXAMPLES["CreateTaskRequest"])
    assert created.status == 201
    path = f"{TASKS}/{created.json['id']}"
    assert desk.call("PATCH", path, EXAMPLES["EditTaskRequest"]).status == 200
    assert desk.call("POST", f"{path}/pause", EXAMPLES["PauseTaskRequest"]).status == 200
    assert desk.call("POST", f"{path}/resume", EXAMPLES["EmptyRequest"]).status == 200
    previewed = desk.call("POST", "/api/schedule-previews", EXAMPLES["PreviewScheduleRequest"])
    assert (previewed.status, len(previewed.json["next"])) == (200, 3)


def test_an_example_of_a_task_has_the_fields_that_tasks_have(desk: Desk) -> None:
    """What is shown is what comes."""
    assert EXAMPLES["TaskResponse"].keys() == desk.create().keys()
    assert requests.CreateTaskRequest.model_fields.keys() >= EXAMPLES["CreateTaskRequest"].keys()
    assert responses.RunResponse.model_fields.keys() == EXAMPLES["RunResponse"].keys()


def test_the_page_shows_every_operation_and_loads_nothing(desk: Desk) -> None:
    """Works without the internet: no script, and nothing that a browser would fetch."""
    reply = desk.send(request("GET", "/api/docs"))
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    for route in ROUTES:
        assert f"id='{route.run.__name__}'" in reply.text
    assert not re.search(r"<(script|img|link|iframe|object|embed|form)|\bon\w+=|url\(", reply.text)
    assert set(re.findall(r"(?:href|src)='([^#'][^']*)", reply.text)) == {"/api/openapi.json"}


def test_the_page_may_do_nothing_but_be_read(desk: Desk) -> None:
    """A strict content security policy; the one style is named by its digest."""
    policy = desk.send(request("GET", "/api/docs")).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
