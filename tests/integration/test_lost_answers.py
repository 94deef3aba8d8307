"""A write whose answer was lost is told as that, and its key settles it (SPEC section 7)."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol

import pytest
from botocore.exceptions import ReadTimeoutError

from api.application import Application
from api.settings import ApiSettings
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.composition.api import build_api
from nightshift.domain.errors import PersistenceUncertain
from nightshift_toolkit.memory import ScriptedExecutions, ScriptedInspector, ScriptedLauncher
from real import RealWorld
from unit.functions.desk import ALICE, BOTH, DAILY, TASKS, VARIABLES, Desk, Reply, request


class House(Protocol):
    """The API on some storage that can lose a write or the answer to it."""

    def send(self, event: dict[str, Any]) -> Reply: ...
    def losing_the_answer(self) -> Any: ...
    def losing_the_request(self, operation: str) -> Any: ...
    def launched(self) -> list[str]: ...


class OnMemory:
    """The functions on the in-memory ports."""

    def __init__(self) -> None:
        self._desk = Desk()

    def send(self, event: dict[str, Any]) -> Reply:
        return self._desk.send(event)

    @contextmanager
    def losing_the_answer(self) -> Iterator[None]:
        self._desk.store.lose_answers()
        yield
        self._desk.store.lose_answers(lost=False)

    @contextmanager
    def losing_the_request(self, operation: str) -> Iterator[None]:
        def lose() -> None:
            raise PersistenceUncertain

        self._desk.store.before(operation, lose)
        yield

    def launched(self) -> list[str]:
        return self._desk.executions.launched


class OnDynamo:
    """The API function on the real engine; what is lost is lost inside botocore."""

    def __init__(self, real: RealWorld) -> None:
        self._events = real.dynamodb.meta.events
        self._executions = ScriptedExecutions()
        now: datetime = real.now
        services = build_api(
            ApiSettings.read(VARIABLES),
            tasks=real.tasks,
            runs=real.runs,
            threads=DynamoThreads(real.table),
            policies=DynamoPolicy(real.table, ApiSettings.read(VARIABLES).policy),
            launcher=ScriptedLauncher(self._executions, now),
            inspector=ScriptedInspector(self._executions),
            observe=lambda _event: None,
        )
        self._application = Application(services, lambda: now)

    def send(self, event: dict[str, Any]) -> Reply:
        answer = self._application.answer(event)
        return Reply(answer["statusCode"], answer["headers"], answer["body"])

    def losing_the_answer(self) -> Any:
        return self._losing("after-call.dynamodb.TransactWriteItems")

    def losing_the_request(self, operation: str) -> Any:
        return self._losing("before-call.dynamodb.TransactWriteItems")

    @contextmanager
    def _losing(self, moment: str) -> Iterator[None]:
        def lose(**_: Any) -> None:
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

        self._events.register(moment, lose, "lost")
        yield
        self._events.unregister(moment, unique_id="lost")

    def launched(self) -> list[str]:
        return self._executions.launched


@pytest.fixture(params=["memory", "dynamodb"])
def house(request: pytest.FixtureRequest) -> House:
    """The API on each storage."""
    if request.param == "memory":
        return OnMemory()
    return OnDynamo(request.getfixturevalue("real"))


def sent(house: House, method: str, path: str, body: Any = None, key: str | None = None) -> Reply:
    """The answer to a request of Alice's, under a key if she sends one."""
    event = request(method, path, claims={"sub": ALICE, "scope": BOTH})
    event["headers"]["content-type"] = "application/json"
    if key is not None:
        event["headers"]["idempotency-key"] = key
    if body is not None:
        event["body"] = json.dumps(body)
    return house.send(event)


def listed(house: House, path: str = TASKS) -> list[dict[str, Any]]:
    """The items of a list."""
    items: list[dict[str, Any]] = sent(house, "GET", path).json["items"]
    return items


def test_a_create_whose_answer_was_lost_is_settled_by_its_key(house: House) -> None:
    """503 persistence_uncertain, neither failure nor success; then the task that was made."""
    with house.losing_the_answer():
        uncertain = sent(house, "POST", TASKS, DAILY, "morning")
    assert (uncertain.status, uncertain.code) == (503, "persistence_uncertain")
    assert uncertain.headers["Retry-After"] == "1"
    (made,) = listed(house)
    settled = sent(house, "POST", TASKS, DAILY, "morning")
    assert (settled.status, settled.json["id"]) == (201, made["id"])
    assert len(listed(house)) == 1


def test_a_create_that_was_lost_on_its_way_is_done_by_the_repetition(house: House) -> None:
    """The same answer to the caller, who cannot know; the repetition does it."""
    with house.losing_the_request("tasks.create"):
        uncertain = sent(house, "POST", TASKS, DAILY, "morning")
    assert (uncertain.status, uncertain.code) == (503, "persistence_uncertain")
    assert listed(house) == []
    assert sent(house, "POST", TASKS, DAILY, "morning").status == 201
    assert len(listed(house)) == 1


def test_a_trigger_whose_answer_was_lost_is_settled_by_its_key(house: House) -> None:
    """The run is there, queued; it is not started twice, and the clock launches it."""
    path = f"{TASKS}/{sent(house, 'POST', TASKS, DAILY).json['id']}"
    with house.losing_the_answer():
        uncertain = sent(house, "POST", f"{path}/trigger", {}, "now")
    assert (uncertain.status, uncertain.code) == (503, "persistence_uncertain")
    assert house.launched() == []
    settled = sent(house, "POST", f"{path}/trigger", {}, "now")
    (run,) = listed(house, f"{path}/runs")
    assert (settled.status, settled.json["run_id"]) == (200, run["id"])
    assert settled.json["run"]["status"] == "queued"


def test_a_trigger_that_was_lost_on_its_way_is_done_by_the_repetition(house: House) -> None:
    """One run, launched once."""
    path = f"{TASKS}/{sent(house, 'POST', TASKS, DAILY).json['id']}"
    with house.losing_the_request("runs.admit"):
        assert sent(house, "POST", f"{path}/trigger", {}, "now").code == "persistence_uncertain"
    settled = sent(house, "POST", f"{path}/trigger", {}, "now")
    assert settled.status == 200
    assert house.launched() == [settled.json["run_id"]]


Change = Callable[[House, str], Reply]
CHANGES: dict[str, tuple[Change, str]] = {
    "edit": (lambda house, path: sent(house, "PATCH", path, {"title": "New"}), "tasks.replace"),
    "pause": (lambda house, path: sent(house, "POST", f"{path}/pause"), "tasks.switch"),
    "delete": (lambda house, path: sent(house, "DELETE", path), "tasks.delete"),
}


@pytest.mark.parametrize("verb", CHANGES)
def test_a_change_whose_answer_was_lost_is_uncertain_and_reading_tells(
    house: House, verb: str
) -> None:
    """503; what has no key is settled by reading."""
    path = f"{TASKS}/{sent(house, 'POST', TASKS, DAILY).json['id']}"
    before = sent(house, "GET", path).text
    change, operation = CHANGES[verb]
    with house.losing_the_request(operation):
        assert change(house, path).code == "persistence_uncertain"
    assert sent(house, "GET", path).text == before
    with house.losing_the_answer():
        assert change(house, path).code == "persistence_uncertain"
    assert sent(house, "GET", path).text != before
