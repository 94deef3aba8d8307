"""The behaviours of Step Functions that Nightshift stands on, as AWS has them."""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from integration.local_cloud.probes import eventually

if TYPE_CHECKING:
    from integration.local_cloud.probes import Machines, Queue
    from nightshift_toolkit.local_cloud.engine import Engine

DONE = ("Done", {"Type": "Succeed"})


def waiting_for(queue: Queue, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return a state that sends its token to `queue` and waits."""
    return (
        "Work",
        {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {
                "QueueUrl": queue.url,
                "MessageBody": {"token.$": "$$.Task.Token", "entered.$": "$$.State.EnteredTime"},
            },
            "ResultPath": "$.report",
            "Next": "Done",
            **fields,
        },
    )


def refused(call: Any, **arguments: Any) -> str:
    """Return the code with which `call` is refused."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_a_worker_that_stays_silent_fails_the_state_with_heartbeat_timeout(
    machines: Machines, queue: Queue
) -> None:
    machine = machines.create(waiting_for(queue, HeartbeatSeconds=1, TimeoutSeconds=60), DONE)
    ended = machines.ended(machines.start(machine))
    assert (ended["status"], ended["error"]) == ("FAILED", "States.HeartbeatTimeout")


def test_a_worker_that_speaks_keeps_the_state_alive_beyond_its_heartbeat(
    machines: Machines, queue: Queue
) -> None:
    machine = machines.create(waiting_for(queue, HeartbeatSeconds=1, TimeoutSeconds=2), DONE)
    execution = machines.start(machine)
    token = queue.take()["token"]

    def speak_until_over() -> bool:
        if machines.describe(execution)["status"] != "RUNNING":
            return True
        machines.states.send_task_heartbeat(taskToken=token)
        return False

    with contextlib.suppress(machines.states.exceptions.TaskTimedOut):
        eventually(speak_until_over)
    assert machines.ended(execution)["error"] == "States.Timeout"


def test_the_time_limit_of_a_state_is_read_from_its_input(machines: Machines, queue: Queue) -> None:
    machine = machines.create(waiting_for(queue, TimeoutSecondsPath="$.limit"), DONE)
    ended = machines.ended(machines.start(machine, {"limit": 1}))
    assert (ended["status"], ended["error"]) == ("FAILED", "States.Timeout")


def test_a_time_limit_that_is_no_positive_integer_fails_the_execution(
    machines: Machines, queue: Queue
) -> None:
    machine = machines.create(waiting_for(queue, TimeoutSecondsPath="$.limit"), DONE)
    assert machines.ended(machines.start(machine, {"limit": "soon"}))["error"] == "States.Runtime"


def test_the_time_limit_of_the_machine_ends_it_as_timed_out(
    machines: Machines, queue: Queue
) -> None:
    machine = machines.create(waiting_for(queue), DONE, TimeoutSeconds=1)
    execution = machines.start(machine)
    token = queue.take()["token"]
    assert machines.ended(execution)["status"] == "TIMED_OUT"
    code = refused(machines.states.send_task_heartbeat, taskToken=token)
    assert code == "TaskTimedOut"


def test_a_token_is_dead_after_its_execution_was_stopped(machines: Machines, queue: Queue) -> None:
    execution = machines.start(machines.create(waiting_for(queue), DONE))
    token = queue.take()["token"]
    machines.states.stop_execution(executionArn=execution)
    send = machines.states.send_task_success
    assert refused(send, taskToken=token, output="{}") == "TaskTimedOut"
    assert refused(machines.states.send_task_heartbeat, taskToken=token) == "TaskTimedOut"
    assert machines.describe(execution)["status"] == "ABORTED"


def test_a_token_is_dead_after_its_state_has_ended(machines: Machines, queue: Queue) -> None:
    execution = machines.start(machines.create(waiting_for(queue), DONE))
    token = queue.take()["token"]
    machines.states.send_task_success(taskToken=token, output='{"outcome":"success"}')
    ended = machines.ended(execution)
    assert json.loads(ended["output"]) == {"report": {"outcome": "success"}}
    send = machines.states.send_task_success
    assert refused(send, taskToken=token, output="{}") == "TaskTimedOut"


def test_what_was_never_a_token_is_refused_as_invalid(machines: Machines) -> None:
    assert refused(machines.states.send_task_heartbeat, taskToken="nonsense") == "InvalidToken"


def test_a_report_that_is_not_json_is_refused_and_the_state_waits_on(
    machines: Machines, queue: Queue
) -> None:
    execution = machines.start(machines.create(waiting_for(queue), DONE))
    token = queue.take()["token"]
    send = machines.states.send_task_success
    assert refused(send, taskToken=token, output="not json") == "InvalidOutput"
    machines.states.send_task_success(taskToken=token, output="{}")
    assert machines.ended(execution)["status"] == "SUCCEEDED"


def test_a_stopped_execution_enters_no_further_state_and_stays_aborted(
    machines: Machines, queue: Queue
) -> None:
    caught = {"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}]}
    machine = machines.create(waiting_for(queue, **caught), DONE, ("Failed", {"Type": "Fail"}))
    execution = machines.start(machine)
    queue.take()
    machines.states.stop_execution(executionArn=execution, error="cancelled", cause="by hand")
    second = machines.start(machine)
    queue.take()
    machines.states.stop_execution(executionArn=second)
    assert machines.entered(execution) == ["Work"]
    ended = machines.describe(execution)
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "cancelled", "by hand")


def test_a_stop_ends_the_pause_before_a_retry(machines: Machines, engine: Engine) -> None:
    retried = {
        "Type": "Task",
        "Resource": "arn:aws:states:::aws-sdk:dynamodb:getItem",
        "Parameters": {"TableName": "absent", "Key": {"pk": {"S": "a"}}},
        "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}],
        "End": True,
    }
    execution = machines.start(machines.create(("Read", retried)))
    history = machines.states.get_execution_history
    eventually(lambda: "TaskFailed" in str(history(executionArn=execution)["events"]))
    machines.states.stop_execution(executionArn=execution)
    other = machines.ended(machines.start(machines.create(("Read", retried))))
    assert other["status"] == "FAILED"
    assert str(history(executionArn=execution)["events"]).count("TaskScheduled'") == 1


def test_starting_the_same_name_with_the_same_input_again_is_the_same_execution(
    machines: Machines, queue: Queue
) -> None:
    machine = machines.create(waiting_for(queue), DONE)
    name = uuid.uuid4().hex
    first = machines.start(machine, {"a": 1}, name=name)
    assert machines.start(machine, {"a": 1}, name=name) == first
    start = machines.states.start_execution
    other = {"stateMachineArn": machine, "name": name, "input": '{"a": 2}'}
    assert refused(start, **other) == "ExecutionAlreadyExists"
    machines.states.stop_execution(executionArn=first)
    same = {**other, "input": '{"a": 1}'}
    assert refused(start, **same) == "ExecutionAlreadyExists"


def test_a_retried_state_gets_another_token(machines: Machines, queue: Queue) -> None:
    again = {"Retry": [{"ErrorEquals": ["busy"], "IntervalSeconds": 1, "MaxAttempts": 1}]}
    execution = machines.start(machines.create(waiting_for(queue, **again), DONE))
    first = queue.take()["token"]
    machines.states.send_task_failure(taskToken=first, error="busy", cause="")
    second = queue.take()["token"]
    assert second != first
    machines.states.send_task_success(taskToken=second, output="{}")
    assert machines.ended(execution)["status"] == "SUCCEEDED"


def test_the_time_a_state_was_entered_has_milliseconds_and_z(
    machines: Machines, queue: Queue
) -> None:
    execution = machines.start(machines.create(waiting_for(queue), DONE))
    entered = queue.take()["entered"]
    machines.states.stop_execution(executionArn=execution)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entered)


def test_a_cancelled_transaction_is_named_as_aws_names_it(
    machines: Machines, engine: Engine
) -> None:
    table = f"table-{uuid.uuid4().hex}"
    engine.client("dynamodb").create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    fence = {
        "Type": "Task",
        "Resource": "arn:aws:states:::aws-sdk:dynamodb:transactWriteItems",
        "Parameters": {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": table,
                        "Key": {"pk": {"S.$": "States.Format('TASK#{}', $.id)"}},
                        "UpdateExpression": "SET entered = :now",
                        "ConditionExpression": "attribute_exists(pk)",
                        "ExpressionAttributeValues": {":now": {"S.$": "$$.State.EnteredTime"}},
                    }
                }
            ]
        },
        "ResultPath": None,
        "Catch": [{"ErrorEquals": ["DynamoDb.TransactionCanceledException"], "Next": "Fenced"}],
        "Next": "Done",
    }
    fenced = {"Type": "Fail", "ErrorPath": "$.Error", "CausePath": "States.JsonToString($)"}
    machine = machines.create(("Fence", fence), DONE, ("Fenced", fenced))
    ended = machines.ended(machines.start(machine, {"id": "a"}))
    assert ended["error"] == "DynamoDb.TransactionCanceledException"
    assert "ConditionalCheckFailed" in ended["cause"]
    engine.client("dynamodb").put_item(TableName=table, Item={"pk": {"S": "TASK#a"}})
    assert machines.ended(machines.start(machine, {"id": "a"}))["status"] == "SUCCEEDED"


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_an_end_that_is_no_success_reaches_the_rule_on_status_changes(
    machines: Machines, queue: Queue, engine: Engine, status: str
) -> None:
    limit = {"TIMED_OUT": {"TimeoutSeconds": 1}}.get(status, {})
    machine = machines.create(waiting_for(queue), DONE, **limit)
    events, rule = engine.client("events"), f"rule-{uuid.uuid4().hex}"
    told = type(queue)(engine)
    arn = f"arn:aws:sqs:us-east-1:000000000000:{told.url.rsplit('/', 1)[1]}"
    pattern = {
        "source": ["aws.states"],
        "detail": {"stateMachineArn": [machine], "status": ["FAILED", "TIMED_OUT", "ABORTED"]},
    }
    events.put_rule(Name=rule, EventPattern=json.dumps(pattern))
    events.put_targets(Rule=rule, Targets=[{"Id": "queue", "Arn": arn}])
    execution = machines.start(machine, {"run_id": "r"})
    token = queue.take()["token"]
    if status == "FAILED":
        machines.states.send_task_failure(taskToken=token, error="broken", cause="because")
    if status == "ABORTED":
        machines.states.stop_execution(executionArn=execution)
    event = told.take()
    assert event["detail-type"] == "Step Functions Execution Status Change"
    assert event["detail"]["executionArn"] == execution
    assert event["detail"]["status"] == status
    assert json.loads(event["detail"]["input"]) == {"run_id": "r"}
