"""What these tests do to an engine, in the words of what is being done."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from nightshift_toolkit.local_cloud.engine import Engine

WAIT_SECONDS = 10.0


class Machines:
    """State machines of one engine, and what became of their executions."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.states = engine.client("stepfunctions")

    def create(self, *states: tuple[str, dict[str, Any]], **fields: Any) -> str:
        """Create a machine of `states`, the first one the start."""
        definition = {"StartAt": states[0][0], "States": dict(states), **fields}
        made = self.states.create_state_machine(
            name=f"machine-{uuid.uuid4().hex}",
            definition=json.dumps(definition),
            roleArn="arn:aws:iam::000000000000:role/any",
        )
        arn: str = made["stateMachineArn"]
        return arn

    def start(self, machine: str, body: Any = None, **options: Any) -> str:
        started = self.states.start_execution(
            stateMachineArn=machine, input=json.dumps(body or {}), **options
        )
        arn: str = started["executionArn"]
        return arn

    def describe(self, execution: str) -> dict[str, Any]:
        described: dict[str, Any] = self.states.describe_execution(executionArn=execution)
        return described

    def ended(self, execution: str) -> dict[str, Any]:
        """Return the execution once it is over."""
        eventually(lambda: self.describe(execution)["status"] != "RUNNING")
        return self.describe(execution)

    def entered(self, execution: str) -> list[str]:
        """Return the names of the states that were entered, in order."""
        history = self.states.get_execution_history(executionArn=execution)["events"]
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in history
            if "stateEnteredEventDetails" in event
        ]


class Queue:
    """A queue that hands out what a waiting state sent."""

    def __init__(self, engine: Engine) -> None:
        self._sqs = engine.client("sqs")
        self.url: str = self._sqs.create_queue(QueueName=f"queue-{uuid.uuid4().hex}")["QueueUrl"]

    def take(self) -> dict[str, Any]:
        """Return the body of the next message."""
        received = self._sqs.receive_message(QueueUrl=self.url, WaitTimeSeconds=10)
        message = received["Messages"][0]
        self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        body: dict[str, Any] = json.loads(message["Body"])
        return body


def eventually(condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
    """Return the first true answer of `condition`, asked until `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {seconds} s: {condition}")
        time.sleep(0.02)
