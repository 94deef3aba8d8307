"""A table, a queue and a waiting state machine on the real engine, for a worker to work at."""

import json
import uuid
from typing import Any

import planted
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.schema import create_table

_FIELDS = (
    "run_id",
    "task_id",
    "user_id",
    "nonce",
    "attempt",
    "trigger",
    "scheduled_for",
    "thread_id",
    "assistant_id",
    "title",
    "action",
    "timeout_seconds",
)


class Place:
    """What the workflow does up to the worker, without the rest of it."""

    def __init__(self, engine: Engine, silence_seconds: int = 60) -> None:
        name = uuid.uuid4().hex
        self.engine = engine
        self.table_name = f"table-{name}"
        self.dynamodb = engine.client("dynamodb")
        self.sqs = engine.client("sqs")
        self.states = engine.client("stepfunctions")
        create_table(self.dynamodb, self.table_name)
        self.queue_url: str = self.sqs.create_queue(QueueName=f"queue-{name}")["QueueUrl"]
        body = {f"{field}.$": f"$.{field}" for field in _FIELDS}
        work = {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "HeartbeatSeconds": silence_seconds,
            "TimeoutSeconds": 120,
            "Parameters": {
                "QueueUrl": self.queue_url,
                "MessageBody": body | {"task_token.$": "$$.Task.Token"},
            },
            "End": True,
        }
        self._machine: str = self.states.create_state_machine(
            name=f"machine-{name}",
            definition=json.dumps({"StartAt": "Work", "States": {"Work": work}}),
            roleArn="arn:aws:iam::000000000000:role/any",
        )["stateMachineArn"]

    def message(self, **fields: Any) -> dict[str, Any]:
        """A run's message without its token, and the run's row as the fence leaves it."""
        run_id = f"tsk_1-{uuid.uuid4().hex}"
        message: dict[str, Any] = {
            "run_id": run_id,
            "task_id": "tsk_1",
            "user_id": "ada",
            "nonce": uuid.uuid4().hex,
            "attempt": 1,
            "trigger": "schedule",
            "scheduled_for": "2026-01-01T09:00:00.000Z",
            "thread_id": "thr_1",
            "assistant_id": None,
            "title": "Tickets",
            "action": {"kind": "agent", "prompt": planted.PROMPT},
            "timeout_seconds": 60,
        } | fields
        self.write_row(message, status="running")
        return message

    def write_row(self, message: dict[str, Any], **fields: str) -> None:
        row = {
            "pk": f"TASK#{message['task_id']}",
            "sk": f"RUN#{message['run_id']}",
            "nonce": message["nonce"],
        } | fields
        item: dict[str, Any] = {name: {"S": value} for name, value in row.items()}
        item["attempt"] = {"N": str(message["attempt"])}
        self.dynamodb.put_item(TableName=self.table_name, Item=item)

    def change_row(self, message: dict[str, Any], **fields: Any) -> None:
        """Write texts, numbers and truths on the run's row, as others do."""
        spelled = {str: "S", bool: "BOOL", int: "N"}
        changes = {
            name: {"Value": {spelled[type(value)]: str(value) if type(value) is int else value}}
            for name, value in fields.items()
        }
        self.dynamodb.update_item(
            TableName=self.table_name,
            Key={
                "pk": {"S": f"TASK#{message['task_id']}"},
                "sk": {"S": f"RUN#{message['run_id']}"},
            },
            AttributeUpdates=changes,
        )

    def plain_row(self, message: dict[str, Any]) -> dict[str, Any]:
        """The attributes of the run's row as plain values."""
        row = self.row(message) or {}
        return {
            name: int(value["N"]) if "N" in value else next(iter(value.values()))
            for name, value in row.items()
        }

    def row(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The run's row, or None."""
        answer = self.dynamodb.get_item(
            TableName=self.table_name,
            Key={
                "pk": {"S": f"TASK#{message['task_id']}"},
                "sk": {"S": f"RUN#{message['run_id']}"},
            },
            ConsistentRead=True,
        )
        row: dict[str, Any] | None = answer.get("Item")
        return row

    def start(self, message: dict[str, Any]) -> str:
        """Start an execution that sends the message and waits; return its ARN."""
        arn: str = self.states.start_execution(
            stateMachineArn=self._machine, name=message["run_id"], input=json.dumps(message)
        )["executionArn"]
        return arn

    def start_command(self, command: str, **fields: Any) -> str:
        """Start a run of a shell command; return its execution's ARN."""
        action = {"kind": "shell", "command": command}
        return self.start(self.message(action=action, **fields))

    def status(self, execution: str) -> str:
        return str(self.states.describe_execution(executionArn=execution)["status"])

    def report(self, execution: str) -> dict[str, Any]:
        """What the execution got for its wait."""
        described = self.states.describe_execution(executionArn=execution)
        report: dict[str, Any] = json.loads(described["output"])
        return report

    def left(self) -> int:
        """How many messages the queue holds, hidden ones too."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=names)
        return sum(int(answer["Attributes"][name]) for name in names)
