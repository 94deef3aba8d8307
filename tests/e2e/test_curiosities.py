"""Requests that no client of ours would send: refused each, through the gateway, with no trace."""

import base64
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from e2e.place import Place

TASKS = "/api/scheduled-tasks"
GOOD = {"title": "A task", "prompt": "Hello", "schedule_spec": {"cron": "0 3 * * *"}}


def raw(place: Place, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    """The status and body of a request whose path is sent to the byte."""
    url = urlsplit(place.cloud.api_url)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    token = place.cloud.mint_token("mallory")
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, body, sent | headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def traces(place: Place) -> list[Any]:
    """What is stored of Mallory's."""
    return [row for row in place.rows() if "mallory" in json.dumps(row)]


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("GET", "/api/scheduled-tasks/", {404}),
        ("GET", "/api/scheduled-tasks/a%2Fb", {404}),
        ("GET", "/api/scheduled-tasks/%2e%2e%2fpolicy", {404}),
        ("GET", "/api/scheduled-tasks/a%20b", {404}),
        ("GET", "/api/scheduled-tasks/%00", {404}),
        ("GET", "//api/scheduled-tasks", {404}),
        ("GET", "/api/Scheduled-Tasks", {404}),
        ("GET", "/nowhere", {404}),
        ("HEAD", "/api/scheduled-tasks", {405}),
        ("OPTIONS", "/api/scheduled-tasks", {204, 403, 405}),
        ("PUT", "/api/scheduled-tasks", {405}),
        ("DELETE", "/api/policy", {405}),
        ("POST", "/api/docs", {405}),
        ("PATCH", "/api/scheduled-tasks/x/trigger", {405}),
    ],
)
def test_a_strange_path_or_method_is_refused(
    place: Place, method: str, path: str, statuses: set[int]
) -> None:
    """B142: in our words where it reaches us; a preflight needs no token and does nothing."""
    status, _ = raw(place, method, path)
    assert status in statuses
    assert traces(place) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b'{"title": "a", "title": "b"}',
        json.dumps(GOOD | {"priority": float("nan")}).encode(),
        json.dumps(GOOD | {"priority": 10**400}).encode(),
        json.dumps(GOOD)[:-1].encode() + b', "priority": 1e999}',
        b'{"title": "\\ud800", "prompt": "x", "schedule_spec": {"cron": "0 3 * * *"}}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"title": "' + b"x" * 1_000_000 + b'"}',
        b"\xff\xfe",
        json.dumps(GOOD).encode().replace(b"Hello", b"Hell\xf6"),
        base64.b64encode(json.dumps(GOOD).encode()),
        json.dumps(GOOD | {"schedule_spec": {"cron": "0 3 * * *", "zone": "UTC"}}).encode(),
        json.dumps(GOOD | {"priority": True}).encode(),
        json.dumps(GOOD | {"priority": "5"}).encode(),
        json.dumps(GOOD | {"title": 5}).encode(),
        json.dumps(GOOD | {"schedule_spec": {"every_seconds": "3600"}}).encode(),
        json.dumps(GOOD | {"schedule_spec": {"every_seconds": True}}).encode(),
        json.dumps(GOOD | {"starts_at": "2027-01-01"}).encode(),
        json.dumps(GOOD | {"starts_at": 1772938800}).encode(),
        json.dumps(GOOD | {"labels": {"a": {"b": "c"}}}).encode(),
    ],
    ids=range(25),
)
def test_a_strange_body_is_refused_and_leaves_no_trace(place: Place, body: bytes) -> None:
    """422 with a problem document, whatever it is (B127, B128)."""
    status, text = raw(place, "POST", TASKS, body)
    assert status == 422, text
    assert json.loads(text)["status"] == 422
    assert traces(place) == []


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", ""])
def test_a_body_of_another_type_is_refused(place: Place, kind: str) -> None:
    """415."""
    headers = {"Content-Type": kind}
    status, _ = raw(place, "POST", TASKS, json.dumps(GOOD).encode(), **headers)
    assert status == 415
    assert traces(place) == []
