"""What is left when something dies: the occurrence still ends with exactly one execution."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from e2e.place import Place, eventually, local_cloud
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.exchanged import Admission, AdmissionAnswer, Event, TaskRef
from nightshift.domain.model import seats
from nightshift.domain.model.enums import Trigger
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.slot import LaunchOrder, Slot, slot_for

LEASE = Policy(launch_lease_seconds=5)


def ignore(_event: Event) -> None:
    """Nobody watches."""


def admitted_and_not_launched(place: Place, user: str, task_id: str) -> LaunchOrder:
    """What a tick leaves that dies between admission and launch."""
    table = Table(place.cloud.client("dynamodb"), place.cloud.outputs["TableName"])
    tasks, runs = DynamoTasks(table), DynamoRuns(table, observe=ignore)
    task = tasks.get(TaskRef(user, task_id))
    assert task is not None
    assert task.state.next_run_at is not None
    now = datetime.now(UTC)
    slot: Slot = slot_for(
        task,
        run_id=occurrence_run_id(task.id, task.state.next_run_at),
        trigger=Trigger.SCHEDULE,
        nonce="of-a-dead-tick",
        place=seats.Place(user, 0),
        now=now,
        policy=LEASE,
    )
    run = Run.admitted(task, slot, None)
    plan = task.plan_after_dispatch(None, now + timedelta(days=1), counted=True)
    admission = Admission(slot=slot, run=run, seen=task, plan=plan)
    assert runs.admit(admission).answer is AdmissionAnswer.ADMITTED
    payload = tasks.payload(TaskRef(user, task_id), task.definition.payload_revision)
    assert payload is not None
    return LaunchOrder(slot=slot, payload=payload)


def test_a_cloud_killed_between_admission_and_launch_runs_the_occurrence_once(
    tmp_path: Path,
) -> None:
    """SPEC section 2: the next ticks finish the job, and nobody intervenes."""
    with local_cloud(tmp_path / "kept") as cloud:
        place = Place(cloud)
        ada = place.caller()
        task = place.create(
            ada,
            action={"kind": "shell", "command": "echo once"},
            schedule_spec={"cron": "0 3 * * *"},
        )
        order = admitted_and_not_launched(place, "ada", task["id"])
        place.dismiss()
        cloud.engine.kill()
    with local_cloud(tmp_path / "kept") as cloud:
        place = Place(cloud)
        place.worker("--allow-shell")
        try:
            run = place.ended(place.caller(), task)
        finally:
            place.dismiss()
        assert (run["id"], run["status"]) == (order.run_id, "success")
        assert run["result"]["output"] == "once\n"
        executions = cloud.client("stepfunctions").list_executions(
            stateMachineArn=cloud.outputs["StateMachineArn"]
        )["executions"]
        assert [execution["name"] for execution in executions] == [order.run_id]
        assert place.held_keys() == []


def test_an_execution_under_the_name_of_a_run_whose_keys_are_free_does_no_work(
    place: Place,
) -> None:
    """SPEC section 6, the fence: an execution that starts late is harmless."""
    ada = place.caller()
    task = place.create(ada, prompt="never to be read")
    order = admitted_and_not_launched(place, "ada", task["id"])
    path = f"/api/scheduled-tasks/{task['id']}/runs/{order.run_id}"
    assert ada.post(f"{path}/cancel").status_code == 202
    assert place.ended(ada, task)["status"] == "interrupted"
    before = [row for row in place.rows() if task["id"] in json.dumps(row)]

    states = place.cloud.client("stepfunctions")
    arn = states.start_execution(
        stateMachineArn=place.cloud.outputs["StateMachineArn"],
        name=order.run_id,
        input=execution_input(order, silence_seconds=30),
    )["executionArn"]

    def word() -> dict[str, str] | None:
        said = states.describe_execution(executionArn=arn)
        return said if said["status"] != "RUNNING" else None

    ended = eventually(word, within=30, what="the latecomer ended")
    assert (ended["status"], ended["error"]) == ("FAILED", "Fenced")
    place.cloud.tick_now()
    assert [row for row in place.rows() if task["id"] in json.dumps(row)] == before
    waiting = place.cloud.client("sqs").get_queue_attributes(
        QueueUrl=place.cloud.outputs["WorkerQueueUrl"],
        AttributeNames=["ApproximateNumberOfMessages"],
    )["Attributes"]
    assert waiting["ApproximateNumberOfMessages"] == "0"
