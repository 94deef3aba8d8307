"""The contract of the worker's ports, on the fakes of the unit tests and on the real engine."""

import json
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from integration.worker.place import Place
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.worker.aws import connect
from nightshift_toolkit.worker.message import RunMessage
from nightshift_toolkit.worker.ports import (
    Callbacks,
    Delivery,
    Pickups,
    Queue,
    RunOver,
    Unavailable,
)
from unit.worker.desk import Desk
from unit.worker.fakes import eventually

AT = "2026-01-01T09:00:00.000Z"
REPORT = json.dumps({"outcome": "success"})


@dataclass
class Ports:
    """One implementation of all three ports, and how a test acts on what is behind them."""

    queue: Queue
    pickups: Pickups
    callbacks: Callbacks
    message: Callable[..., dict[str, Any]]
    send: Callable[[str], Any]
    wait: Callable[[dict[str, Any]], str]
    end: Callable[[str], Any]
    executions: dict[str, str] = field(default_factory=dict)


def _fakes() -> Ports:
    desk = Desk()
    return Ports(
        queue=desk.queue,
        pickups=desk.pickups,
        callbacks=desk.callbacks,
        message=desk.message,
        send=desk.queue.send,
        wait=lambda message: str(message["task_token"]),
        end=desk.callbacks.end,
    )


def _real(engine: Engine) -> Ports:
    place = Place(engine)
    queue, pickups, callbacks = connect(
        queue_url=place.queue_url,
        table_name=place.table_name,
        endpoint_url=engine.endpoint_url,
        session=engine.session(),
        concurrency=16,
    )
    executions: dict[str, str] = {}

    def wait(message: dict[str, Any]) -> str:
        execution = place.start(message)
        (delivery,) = queue.receive(1, 10)
        queue.delete(delivery)
        token = str(json.loads(delivery.body)["task_token"])
        executions[token] = execution
        return token

    return Ports(
        queue=queue,
        pickups=pickups,
        callbacks=callbacks,
        message=lambda **fields: place.message(**fields) | {"task_token": "any"},
        send=lambda body: place.sqs.send_message(QueueUrl=place.queue_url, MessageBody=body),
        wait=wait,
        end=lambda token: place.states.stop_execution(executionArn=executions[token]),
        executions=executions,
    )


@pytest.fixture(params=["fakes", "engine"])
def ports(request: pytest.FixtureRequest) -> Ports:
    if request.param == "fakes":
        return _fakes()
    return _real(request.getfixturevalue("engine"))


def _parsed(message: dict[str, Any], **fields: Any) -> RunMessage:
    return RunMessage.parse(json.dumps(message | fields))


def test_one_of_many_claims_wins(ports: Ports) -> None:
    message = _parsed(ports.message())
    won: list[str] = []

    def claim(name: str) -> None:
        if ports.pickups.win(message, name, AT):
            won.append(name)

    threads = [threading.Thread(target=claim, args=(uuid.uuid4().hex,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert ports.pickups.win(message, won[0], AT)


def test_the_winner_may_ask_again_and_no_other(ports: Ports) -> None:
    message = _parsed(ports.message())
    assert ports.pickups.win(message, "mine", AT)
    assert ports.pickups.win(message, "mine", AT)
    assert not ports.pickups.win(message, "theirs", AT)


def test_a_later_attempt_is_won_anew_and_ends_the_earlier_one(ports: Ports) -> None:
    message = ports.message()
    assert ports.pickups.win(_parsed(message), "first", AT)
    assert ports.pickups.win(_parsed(message, attempt=2), "second", AT)
    assert not ports.pickups.win(_parsed(message), "first", AT)


def test_a_run_under_another_nonce_is_not_won(ports: Ports) -> None:
    assert not ports.pickups.win(_parsed(ports.message(), nonce="old"), "mine", AT)


def test_a_run_that_is_not_there_is_not_won(ports: Ports) -> None:
    message = _parsed(ports.message(), run_id="tsk_1-gone")
    assert not ports.pickups.win(message, "mine", AT)


def test_a_message_that_was_handed_over_is_hidden_until_it_is_handed_back(ports: Ports) -> None:
    ports.send("body")
    (first,) = ports.queue.receive(10, 1)
    assert first.body == "body"
    assert ports.queue.receive(10, 0) == []
    ports.queue.hand_back(first)
    (second,) = ports.queue.receive(10, 1)
    assert second.message_id == first.message_id
    assert second.receipt != first.receipt


def test_a_deleted_message_is_gone(ports: Ports) -> None:
    ports.send("body")
    (delivery,) = ports.queue.receive(10, 1)
    ports.queue.delete(delivery)
    assert ports.queue.receive(10, 0) == []


def test_no_more_messages_come_than_were_asked_for(ports: Ports) -> None:
    for number in range(3):
        ports.send(str(number))
    received: list[Delivery] = []
    assert eventually(lambda: len(received) == 3 or _receive(ports, received, 2) > 2)
    assert sorted(delivery.body for delivery in received) == ["0", "1", "2"]


def _receive(ports: Ports, into: list[Delivery], limit: int) -> int:
    deliveries = ports.queue.receive(limit, 0)
    into += deliveries
    return len(deliveries)


def test_a_queue_that_is_there_passes_the_check(ports: Ports) -> None:
    ports.queue.check()


def test_a_table_that_is_there_passes_the_check(ports: Ports) -> None:
    ports.pickups.check()


def test_a_waiting_run_takes_heartbeats_and_one_report(ports: Ports) -> None:
    token = ports.wait(ports.message())
    ports.callbacks.heartbeat(token)
    ports.callbacks.report(token, REPORT)
    with pytest.raises(RunOver):
        ports.callbacks.heartbeat(token)
    with pytest.raises(RunOver):
        ports.callbacks.report(token, REPORT)


def test_a_cancelled_run_is_over(ports: Ports) -> None:
    token = ports.wait(ports.message())
    ports.end(token)
    with pytest.raises(RunOver):
        ports.callbacks.heartbeat(token)
    with pytest.raises(RunOver):
        ports.callbacks.report(token, REPORT)


def test_a_token_of_no_run_is_over(ports: Ports) -> None:
    with pytest.raises(RunOver):
        ports.callbacks.heartbeat("no such token")


def test_a_pickup_creates_no_row_and_says_who_and_when(place: Place, engine: Engine) -> None:
    """K7: nothing recreates what was deleted."""
    _, pickups, _ = _connected(place, engine)
    message = place.message() | {"task_token": "any"}
    gone = message | {"run_id": "tsk_1-gone"}
    assert not pickups.win(_parsed(gone), "mine", AT)
    assert place.row(gone) is None
    assert pickups.win(_parsed(message), "mine", AT)
    row = place.row(message)
    assert row is not None
    assert (row["picked_up_attempt"], row["picked_up_by"]) == ({"N": "1"}, {"S": "mine"})
    assert row["picked_up_at"] == {"S": AT}
    assert row["status"] == {"S": "running"}


def test_the_check_of_a_table_writes_nothing(place: Place, engine: Engine) -> None:
    """It is a write under a condition that never holds, since a worker may do nothing else."""
    _connected(place, engine)[1].check()
    assert place.dynamodb.scan(TableName=place.table_name)["Items"] == []


def test_a_queue_or_table_that_is_not_there_is_unavailable(place: Place, engine: Engine) -> None:
    place.table_name = "no-table"
    place.queue_url += "-not"
    queue, pickups, _ = _connected(place, engine)
    with pytest.raises(Unavailable):
        queue.check()
    with pytest.raises(Unavailable):
        queue.receive(1, 0)
    with pytest.raises(Unavailable):
        pickups.check()
    with pytest.raises(Unavailable):
        pickups.win(_parsed(Desk().message()), "mine", AT)


def test_an_engine_that_does_not_answer_is_unavailable(place: Place, engine: Engine) -> None:
    queue, pickups, callbacks = connect(
        queue_url=place.queue_url,
        table_name=place.table_name,
        endpoint_url="http://127.0.0.1:9",
        session=boto3.Session("any", "any", region_name="us-east-1"),
        concurrency=1,
    )
    message = _parsed(Desk().message())
    for call in (
        queue.check,
        pickups.check,
        lambda: pickups.win(message, "mine", AT),
        lambda: callbacks.heartbeat("token"),
    ):
        with pytest.raises(Unavailable):
            call()


def _connected(place: Place, engine: Engine) -> tuple[Queue, Pickups, Callbacks]:
    return connect(
        queue_url=place.queue_url,
        table_name=place.table_name,
        endpoint_url=engine.endpoint_url,
        session=engine.session(),
        concurrency=1,
    )
