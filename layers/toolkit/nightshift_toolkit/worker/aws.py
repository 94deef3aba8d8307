"""The worker's ports on SQS, DynamoDB and Step Functions."""

from __future__ import annotations

import contextlib
from typing import IO, TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from nightshift_toolkit.worker.ports import Delivery, RunOver, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import boto3
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

    from nightshift_toolkit.worker.message import RunMessage

_RUN_OVER = frozenset({"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"})
_LONGEST_POLL_SECONDS = 20


class SqsQueue:
    """`Queue` on SQS."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def check(self) -> None:
        with _answers():
            self._client.get_queue_attributes(
                QueueUrl=self._queue_url, AttributeNames=["VisibilityTimeout"]
            )

    def receive(self, limit: int, wait_seconds: float) -> list[Delivery]:
        with _answers():
            answer = self._client.receive_message(
                QueueUrl=self._queue_url,
                MaxNumberOfMessages=limit,
                WaitTimeSeconds=min(round(wait_seconds), _LONGEST_POLL_SECONDS),
            )
        return [
            Delivery(message["MessageId"], message["ReceiptHandle"], message["Body"])
            for message in answer.get("Messages", [])
        ]

    def delete(self, delivery: Delivery) -> None:
        with _answers():
            self._client.delete_message(QueueUrl=self._queue_url, ReceiptHandle=delivery.receipt)

    def hand_back(self, delivery: Delivery) -> None:
        with _answers():
            self._client.change_message_visibility(
                QueueUrl=self._queue_url, ReceiptHandle=delivery.receipt, VisibilityTimeout=0
            )


class DynamoPickups:
    """`Pickups` on the run's row."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table_name = table_name

    def check(self) -> None:
        # The one action that a worker may do on the table, under a condition that never holds.
        refused = self._client.exceptions.ConditionalCheckFailedException
        with contextlib.suppress(refused), _answers():
            self._client.update_item(
                TableName=self._table_name,
                Key={"pk": {"S": "TASK#"}, "sk": {"S": "RUN#"}},
                UpdateExpression="REMOVE picked_up_at",
                ConditionExpression="attribute_exists(pk) AND attribute_not_exists(pk)",
            )

    def win(self, message: RunMessage, claim: str, at: str) -> bool:
        try:
            with _answers():
                self._write(message, claim, at)
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _write(self, message: RunMessage, claim: str, at: str) -> None:
        self._client.update_item(
            TableName=self._table_name,
            Key=_row_of(message),
            UpdateExpression=(
                "SET picked_up_attempt = :attempt, picked_up_by = :claim, picked_up_at = :at,"
                " can_pause = :can_pause REMOVE paused_at, paused_seconds"
            ),
            # Running under this admission: a run that was ended, or admitted anew, is not ours.
            # A later attempt than any so far: each is done by one claim. The same claim again: our
            # own answer was lost.
            ConditionExpression=(
                "#status = :running AND #nonce = :nonce AND ("
                "attribute_not_exists(picked_up_attempt) OR picked_up_attempt < :attempt"
                " OR (picked_up_attempt = :attempt AND picked_up_by = :claim))"
            ),
            ExpressionAttributeNames={"#status": "status", "#nonce": "nonce"},
            ExpressionAttributeValues={
                ":attempt": {"N": str(message.attempt)},
                ":claim": {"S": claim},
                ":at": {"S": at},
                ":can_pause": {"BOOL": message.max_pause_seconds > 0},
                ":running": {"S": "running"},
                ":nonce": {"S": message.nonce},
            },
        )

    def pause_wanted(self, message: RunMessage) -> bool:
        with _answers():
            row = self._client.get_item(
                TableName=self._table_name,
                Key=_row_of(message),
                ProjectionExpression="pause_requested",
                # An older answer would let a paused run go on by itself for a while.
                ConsistentRead=True,
            )
        return bool(row.get("Item", {}).get("pause_requested", {}).get("BOOL"))

    def note_pause(
        self, message: RunMessage, paused_at: str | None, paused_seconds: int, *, spent: bool
    ) -> None:
        paused = {":paused_at": {"S": paused_at}} if paused_at else {}
        # A wish that came after the worker looked is not the worker's to take back.
        removed = [*([] if paused_at else ["paused_at"]), *(["pause_requested"] if spent else [])]
        change = "SET paused_seconds = :seconds" + (", paused_at = :paused_at" if paused_at else "")
        change += f" REMOVE {', '.join(removed)}" if removed else ""
        refused = self._client.exceptions.ConditionalCheckFailedException
        with contextlib.suppress(refused), _answers():
            self._client.update_item(
                TableName=self._table_name,
                Key=_row_of(message),
                UpdateExpression=change,
                ConditionExpression=(
                    "#status = :running AND #nonce = :nonce"
                    " AND picked_up_attempt = :attempt AND attempt = :attempt"
                ),
                ExpressionAttributeNames={"#status": "status", "#nonce": "nonce"},
                ExpressionAttributeValues={
                    ":seconds": {"N": str(paused_seconds)},
                    ":attempt": {"N": str(message.attempt)},
                    ":running": {"S": "running"},
                    ":nonce": {"S": message.nonce},
                    **paused,
                },
            )


def _row_of(message: RunMessage) -> dict[str, Any]:
    return {"pk": {"S": f"TASK#{message.task_id}"}, "sk": {"S": f"RUN#{message.run_id}"}}


class StepFunctionsCallbacks:
    """`Callbacks` on Step Functions' task tokens."""

    def __init__(self, client: SFNClient) -> None:
        self._client = client

    def heartbeat(self, task_token: str) -> None:
        with _answers():
            self._client.send_task_heartbeat(taskToken=task_token)

    def report(self, task_token: str, report: str) -> None:
        with _answers():
            self._client.send_task_success(taskToken=task_token, output=report)


class S3Outputs:
    """`OutputStore` on a bucket."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keep(self, place: str, content: IO[bytes]) -> str:
        with _answers():
            self._client.put_object(
                Bucket=self._bucket,
                Key=place,
                Body=content,
                ContentType="text/plain; charset=utf-8",
            )
        return f"s3://{self._bucket}/{place}"


@contextlib.contextmanager
def _answers() -> Iterator[None]:
    """Translate what AWS says: over, refused by a condition, or anything else as not available."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _RUN_OVER:
            raise RunOver(code) from error
        if code == "ConditionalCheckFailedException":
            raise
        raise Unavailable(f"{error.operation_name}: {code}") from error
    except BotoCoreError as error:
        raise Unavailable(str(error)) from error


def connect(
    *,
    queue_url: str,
    table_name: str,
    endpoint_url: str | None,
    session: boto3.Session,
    concurrency: int,
) -> tuple[SqsQueue, DynamoPickups, StepFunctionsCallbacks]:
    """The three ports over clients that give up an unanswered call within seconds.

    The clients are shared by all runs, so they keep a connection for each. A heartbeat is not
    worth repeating for long, the next one comes soon; a poll may be silent for as long as it waits.
    """
    quick = Config(
        connect_timeout=3,
        read_timeout=5,
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=concurrency + 10,
    )
    polling = quick.merge(Config(read_timeout=_LONGEST_POLL_SECONDS + 10))
    return (
        SqsQueue(session.client("sqs", endpoint_url=endpoint_url, config=polling), queue_url),
        DynamoPickups(
            session.client("dynamodb", endpoint_url=endpoint_url, config=quick), table_name
        ),
        StepFunctionsCallbacks(
            session.client("stepfunctions", endpoint_url=endpoint_url, config=quick)
        ),
    )


def connect_outputs(bucket: str, *, endpoint_url: str | None, session: boto3.Session) -> S3Outputs:
    """The store of whole outputs in a bucket."""
    config = Config(
        connect_timeout=3,
        read_timeout=60,
        retries={"mode": "standard", "total_max_attempts": 3},
        s3={"addressing_style": "path" if endpoint_url else "auto"},
    )
    clients: Any = session
    return S3Outputs(clients.client("s3", endpoint_url=endpoint_url, config=config), bucket)
