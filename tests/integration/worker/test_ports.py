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
    row: Callable[[dict[str, Any]], dict[str, Any]]
    change: Callable[..., Any]
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
        row=lambda message: dict(desk.pickups.rows[message["run_id"]]),
        change=lambda message, **fields: desk.pickups.rows[message["run_id"]].update(fields),
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
        row=place.plain_row,
        change=place.change_row,
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


@pytest.mark.parametrize("status", ["queued", "success", "interrupted"])
def test_a_run_that_is_not_running_is_not_won(ports: Ports, status: str) -> None:
    content = ports.message()
    ports.change(content, status=status)
    assert not ports.pickups.win(_parsed(content), "mine", AT)


def test_a_run_that_is_not_there_is_not_won(ports: Ports) -> None:
    message = _parsed(ports.message(), run_id="tsk_1-gone")
    assert not ports.pickups.win(message, "mine", AT)


# -- pauses --


def _won(ports: Ports) -> tuple[dict[str, Any], RunMessage]:
    """A message whose run may be paused and was won, as it came and as it is read."""
    content = ports.message(max_pause_seconds=60)
    message = _parsed(content)
    assert ports.pickups.win(message, "mine", AT)
    return content, message


def _pause_in(row: dict[str, Any]) -> tuple[Any, Any, bool]:
    return row.get("paused_at"), row.get("paused_seconds"), bool(row.get("pause_requested"))


def test_a_pause_is_wanted_as_last_asked_for(ports: Ports) -> None:
    """Pickups.pause_wanted"""
    content, message = _won(ports)
    assert not ports.pickups.pause_wanted(message)
    for wanted in (True, False, True):
        ports.change(content, pause_requested=wanted)
        assert ports.pickups.pause_wanted(message) is wanted


def test_a_won_run_says_whether_it_can_be_paused(ports: Ports) -> None:
    """Pickups.win: a pause of an attempt before is over, and its time does not count for this."""
    content, _ = _won(ports)
    assert ports.row(content)["can_pause"] is True
    ports.change(content, attempt=2, paused_at=AT, paused_seconds=9)
    assert ports.pickups.win(_parsed(content, attempt=2, max_pause_seconds=0), "next", AT)
    row = ports.row(content)
    assert row["can_pause"] is False
    assert _pause_in(row) == (None, None, False)


def test_a_pause_is_noted_and_the_wish_for_it_is_its_owners(ports: Ports) -> None:
    """Pickups.note_pause: a wish that came since the worker looked is not taken back."""
    content, message = _won(ports)
    ports.change(content, pause_requested=True)
    ports.pickups.note_pause(message, AT, 0, spent=False)
    assert _pause_in(ports.row(content)) == (AT, 0, True)
    ports.pickups.note_pause(message, None, 7, spent=False)
    assert _pause_in(ports.row(content)) == (None, 7, True)


def test_no_pause_being_left_the_wish_goes(ports: Ports) -> None:
    """Pickups.note_pause: `spent`."""
    content, message = _won(ports)
    ports.change(content, pause_requested=True)
    ports.pickups.note_pause(message, None, 60, spent=True)
    assert _pause_in(ports.row(content)) == (None, 60, False)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "success"},
        {"nonce": "another"},
        {"attempt": 2},
        {"attempt": 2, "picked_up_attempt": 2},
    ],
    ids=["over", "admitted anew", "waiting for its next attempt", "at its next attempt"],
)
def test_a_pause_is_not_noted_on_a_run_that_went_on(ports: Ports, change: dict[str, Any]) -> None:
    """Pickups.note_pause: a run that is over, or at another attempt, stays as it is."""
    content, message = _won(ports)
    ports.change(content, pause_requested=True, **change)
    before = ports.row(content)
    ports.pickups.note_pause(message, AT, 3, spent=False)
    ports.pickups.note_pause(message, None, 3, spent=True)
    assert ports.row(content) == before


def test_a_pause_of_a_run_that_is_gone_makes_no_row(place: Place, engine: Engine) -> None:
    """K7: nothing recreates what was deleted."""
    _, pickups, _ = _connected(place, engine)
    gone = place.message() | {"task_token": "any", "run_id": "tsk_1-gone"}
    assert not pickups.pause_wanted(_parsed(gone))
    pickups.note_pause(_parsed(gone), AT, 0, spent=False)
    assert place.row(gone) is None


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
        lambda: pickups.pause_wanted(message),
        lambda: pickups.note_pause(message, None, 0, spent=False),
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
