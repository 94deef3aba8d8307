"""What a worker may do: it runs people's code, so it gets no more than it uses."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

import stack
from nightshift_toolkit.worker.aws import DynamoPickups, S3Outputs, SqsQueue, StepFunctionsCallbacks
from nightshift_toolkit.worker.message import Action, RunMessage
from nightshift_toolkit.worker.ports import Delivery

MESSAGE = RunMessage(
    task_token="token",
    run_id="tsk_1-20260302T120000000Z",
    task_id="tsk_1",
    user_id="alice",
    nonce="nonce",
    attempt=1,
    trigger="schedule",
    scheduled_for=None,
    thread_id="thr_1",
    assistant_id=None,
    title="Title",
    action=Action("agent", "Summarise."),
    timeout_seconds=60,
)


class Recorder:
    """An AWS client that does nothing and remembers what it was asked for."""

    class exceptions:  # noqa: N801 - botocore's spelling
        """The errors that a client of DynamoDB carries."""

        ConditionalCheckFailedException = ClientError

    def __init__(self, service: str) -> None:
        """Stand for the client of one service, as IAM spells it."""
        self.service = service
        self.asked: dict[str, dict[str, Any]] = {}

    def __getattr__(self, method: str) -> Any:
        """Take any call."""

        def call(**arguments: Any) -> dict[str, Any]:
            action = "".join(word.capitalize() for word in method.split("_"))
            self.asked[f"{self.service}:{action}"] = arguments
            return {}

        return call


def everything_a_worker_asks_for() -> dict[str, dict[str, Any]]:
    """The request of every call that a worker can make, by action."""
    client: Any
    names = ("sqs", "dynamodb", "states", "s3")
    queue, table, machine, bucket = clients = [Recorder(name) for name in names]
    client = queue
    inbox, delivery = SqsQueue(client, "url"), Delivery("id", "receipt", "body")
    inbox.check()
    inbox.receive(1, 1)
    inbox.delete(delivery)
    inbox.hand_back(delivery)
    client = table
    pickups = DynamoPickups(client, "table")
    pickups.pause_wanted(MESSAGE)
    pickups.note_pause(MESSAGE, None, 0, spent=True)
    noted = client.asked.pop("dynamodb:UpdateItem")
    pickups.win(MESSAGE, "claim", "2026-03-02T12:00:00.000Z")
    for part in ("UpdateExpression", "ConditionExpression"):
        client.asked["dynamodb:UpdateItem"][part] += f" {noted[part]}"
    client = machine
    callbacks = StepFunctionsCallbacks(client)
    callbacks.heartbeat("token")
    callbacks.report("token", "{}")
    client = bucket
    S3Outputs(client, "bucket").keep("place", io.BytesIO())
    return {action: asked for recorder in clients for action, asked in recorder.asked.items()}


ASKED = everything_a_worker_asks_for()


def statements() -> list[dict[str, Any]]:
    """Everything that a worker is allowed, but for the use of the operator's own key."""
    [policy] = stack.resources("AWS::IAM::ManagedPolicy").values()
    said = stack.statements(policy["PolicyDocument"])
    return [statement for statement in said if statement["Sid"] != "UseTheKey"]


def granting(action: str) -> dict[str, Any]:
    """The one statement that grants an action."""
    [statement] = [entry for entry in statements() if action in _actions(entry)]
    return statement


def _actions(statement: dict[str, Any]) -> list[str]:
    named = statement["Action"]
    return [named] if isinstance(named, str) else list(named)


def test_worker_policy_grants_exactly_the_calls_of_a_worker() -> None:
    """It cannot read tasks, send work, start or stop executions."""
    assert {action for entry in statements() for action in _actions(entry)} == set(ASKED)


@pytest.mark.parametrize("action", ASKED)
def test_worker_reaches_its_queue_its_table_and_its_machine_alone(action: str) -> None:
    """Not those of another stage in the same account."""
    resources: dict[str, Any] = {
        "sqs": {"Fn::GetAtt": ["WorkerQueue", "Arn"]},
        "dynamodb": {"Fn::GetAtt": ["Table", "Arn"]},
        "states": {"Ref": "Workflow"},
        "s3": {"Fn::Sub": "${OutputBucket.Arn}/*"},
    }
    assert granting(action)["Resource"] == resources[action.split(":", maxsplit=1)[0]]


def test_worker_touches_runs_and_of_them_what_the_pickup_names() -> None:
    """Not tasks, slots, seats or other rows, nor the result of a run."""
    asked = ASKED["dynamodb:UpdateItem"]
    text = asked["UpdateExpression"] + asked["ConditionExpression"]
    names = asked["ExpressionAttributeNames"]
    words = set(re.findall(r"(?<![:\w])#?[a-z_]+", text)) - {"attribute_not_exists"}
    touched = {names.get(word, word) for word in words} | set(asked["Key"])
    condition = granting("dynamodb:UpdateItem")["Condition"]
    assert set(condition["ForAllValues:StringEquals"]["dynamodb:Attributes"]) == touched
    assert condition["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": ["TASK#*"]}
    assert asked["Key"]["pk"]["S"].startswith("TASK#")


def test_worker_reads_of_runs_whether_they_are_to_pause_and_nothing_else() -> None:
    """Neither their output nor other rows."""
    condition = granting("dynamodb:GetItem")["Condition"]
    asked = ASKED["dynamodb:GetItem"]
    read = {asked["ProjectionExpression"], *asked["Key"]}
    assert set(condition["ForAllValues:StringEquals"]["dynamodb:Attributes"]) == read
    assert condition["StringEquals"] == {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}
    assert asked["ConsistentRead"] is True
    assert condition["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": ["TASK#*"]}


def test_worker_cannot_read_a_row_by_writing_it() -> None:
    """A write may give back what it met."""
    condition = granting("dynamodb:UpdateItem")["Condition"]
    assert condition["StringEqualsIfExists"] == {"dynamodb:ReturnValues": "NONE"}
    assert "ReturnValues" not in ASKED["dynamodb:UpdateItem"]
