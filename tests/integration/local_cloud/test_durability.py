"""What a stop, and what a kill at any moment, leaves of an engine with a state folder."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from integration.local_cloud.probes import Machines, Queue, eventually
from nightshift_toolkit.local_cloud.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "records"


def create_table(engine: Engine) -> None:
    engine.client("dynamodb").create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def put(engine: Engine, key: str, **options: Any) -> None:
    engine.client("dynamodb").put_item(TableName=TABLE, Item={"pk": {"S": key}}, **options)


def keys(engine: Engine) -> set[str]:
    items = engine.client("dynamodb").scan(TableName=TABLE)["Items"]
    return {item["pk"]["S"] for item in items}


def test_a_stop_keeps_the_tables(tmp_path: Path) -> None:
    with Engine(tmp_path) as engine:
        create_table(engine)
        put(engine, "a")
    with Engine(tmp_path) as engine:
        assert keys(engine) == {"a"}


def test_an_engine_without_a_folder_forgets(tmp_path: Path) -> None:
    with Engine() as engine:
        create_table(engine)
    with Engine() as engine:
        assert engine.client("dynamodb").list_tables()["TableNames"] == []


def test_a_kill_loses_no_acknowledged_write(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with Engine(tmp_path) as engine:
        create_table(engine)

        once = Config(retries={"total_max_attempts": 1})
        tables = engine.client("dynamodb", config=once)

        def write(writer: int) -> None:
            number = 0
            try:
                while True:
                    key = {"pk": {"S": f"{writer}-{number}"}}
                    tables.put_item(TableName=TABLE, Item=key)
                    acknowledged.append(f"{writer}-{number}")
                    number += 1
            except (BotoCoreError, ClientError):
                return

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(3)]
        for writer in writers:
            writer.start()
        eventually(lambda: len(acknowledged) >= 100)
        engine.snapshot()
        more = len(acknowledged) + 100
        eventually(lambda: len(acknowledged) >= more)
        engine.kill()
        for writer in writers:
            writer.join()
    with Engine(tmp_path) as engine:
        assert keys(engine) >= set(acknowledged)


@pytest.mark.parametrize("snapshot_first", [True, False])
def test_a_kill_keeps_every_kind_of_write(tmp_path: Path, *, snapshot_first: bool) -> None:
    with Engine(tmp_path) as engine:
        create_table(engine)
        for key in ("deleted", "updated", "in batch"):
            put(engine, key)
        if snapshot_first:
            engine.snapshot()
        tables = engine.client("dynamodb")
        tables.delete_item(TableName=TABLE, Key={"pk": {"S": "deleted"}})
        tables.update_item(
            TableName=TABLE,
            Key={"pk": {"S": "updated"}},
            UpdateExpression="ADD times :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        request = {"DeleteRequest": {"Key": {"pk": {"S": "in batch"}}}}
        tables.batch_write_item(RequestItems={TABLE: [request]})
        put_once = {"TableName": TABLE, "Item": {"pk": {"S": "in transaction"}}}
        tables.transact_write_items(TransactItems=[{"Put": put_once}])
        engine.kill()
    with Engine(tmp_path) as engine:
        assert keys(engine) == {"updated", "in transaction"}
        updated = engine.client("dynamodb").get_item(TableName=TABLE, Key={"pk": {"S": "updated"}})
        assert updated["Item"]["times"] == {"N": "1"}


def test_a_transaction_sent_twice_under_its_token_is_done_once_after_a_kill(
    tmp_path: Path,
) -> None:
    with Engine(tmp_path) as engine:
        create_table(engine)
        add = {
            "Update": {
                "TableName": TABLE,
                "Key": {"pk": {"S": "counter"}},
                "UpdateExpression": "ADD times :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }
        }
        transact = engine.client("dynamodb").transact_write_items
        transact(TransactItems=[add], ClientRequestToken="same")
        engine.snapshot()
        transact(TransactItems=[add], ClientRequestToken="same")
        engine.kill()
    with Engine(tmp_path) as engine:
        item = engine.client("dynamodb").get_item(TableName=TABLE, Key={"pk": {"S": "counter"}})
        assert item["Item"]["times"] == {"N": "1"}


def test_a_refused_write_is_not_done_after_a_kill(tmp_path: Path) -> None:
    with Engine(tmp_path) as engine:
        create_table(engine)
        put(engine, "taken")
        with pytest.raises(ClientError):
            put(engine, "taken", ConditionExpression="attribute_not_exists(pk)")
        engine.client("dynamodb").delete_item(TableName=TABLE, Key={"pk": {"S": "taken"}})
        engine.kill()
    with Engine(tmp_path) as engine:
        assert keys(engine) == set()


def test_a_line_torn_by_a_kill_takes_no_other_with_it(tmp_path: Path) -> None:
    with Engine(tmp_path) as engine:
        create_table(engine)
        put(engine, "before")
        engine.kill()
    journal = tmp_path / "engine" / "0.journal"
    with journal.open("ab") as file:
        file.write(b'{"target":"DynamoDB_20120810.PutItem","bo')
    with Engine(tmp_path) as engine:
        put(engine, "after")
        engine.kill()
    with Engine(tmp_path) as engine:
        assert keys(engine) == {"before", "after"}


def test_executions_come_back_from_a_kill_as_ended_and_their_failure_is_told(
    tmp_path: Path,
) -> None:
    with Engine(tmp_path) as engine:
        machines, queue, told = Machines(engine), Queue(engine), Queue(engine)
        waiting = {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {"QueueUrl": queue.url, "MessageBody": {"token.$": "$$.Task.Token"}},
            "End": True,
        }
        machine = machines.create(("Work", waiting))
        arn = f"arn:aws:sqs:us-east-1:000000000000:{told.url.rsplit('/', 1)[1]}"
        pattern = json.dumps({"source": ["aws.states"], "detail": {"status": ["FAILED"]}})
        engine.client("events").put_rule(Name="failures", EventPattern=pattern)
        engine.client("events").put_targets(Rule="failures", Targets=[{"Id": "q", "Arn": arn}])
        engine.snapshot()
        done, running = machines.start(machine), machines.start(machine)
        tokens = {message["token"] for message in (queue.take(), queue.take())}
        machines.states.send_task_success(taskToken=tokens.pop(), output="{}")
        both = [done, running]
        eventually(lambda: any(machines.describe(e)["status"] == "SUCCEEDED" for e in both))
        done, running = sorted(both, key=lambda e: machines.describe(e)["status"] == "RUNNING")
        told_name = told.url.rsplit("/", 1)[1]
        engine.kill()
    with Engine(tmp_path) as engine:
        machines = Machines(engine)
        assert machines.describe(done)["status"] == "SUCCEEDED"
        failed = machines.describe(running)
        assert (failed["status"], failed["error"]) == ("FAILED", "States.ServiceRestart")
        url = engine.client("sqs").get_queue_url(QueueName=told_name)["QueueUrl"]
        received = engine.client("sqs").receive_message(QueueUrl=url, WaitTimeSeconds=10)
        event = json.loads(received["Messages"][0]["Body"])
        assert event["detail"]["executionArn"] == running


def test_an_execution_that_ended_long_ago_is_forgotten_at_a_start(tmp_path: Path) -> None:
    with Engine(tmp_path) as engine:
        machines = Machines(engine)
        machine = machines.create(("Done", {"Type": "Succeed"}))
        old, new = machines.start(machine), machines.start(machine)
        for execution in (old, new):
            machines.ended(execution)
    generation = (tmp_path / "engine" / "CURRENT").read_text()
    snapshot = tmp_path / "engine" / generation / "stepfunctions.json"
    state = json.loads(snapshot.read_text())
    executions = state["payload"]["executions"]["data"]
    (key,) = (key for key in executions if old in key)
    executions[key]["stopDate"] = "2020-01-01T00:00:00.000Z"
    snapshot.write_text(json.dumps(state))
    with Engine(tmp_path) as engine:
        machines = Machines(engine)
        assert machines.describe(new)["status"] == "SUCCEEDED"
        with pytest.raises(ClientError, match="ExecutionDoesNotExist"):
            machines.describe(old)
