"""The whole domain on a real DynamoDB engine and a real state machine that only waits.

Calls are counted below the adapters, in botocore, so that nothing can be left out.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from types import TracebackType
from typing import Any

import builders
from nightshift.adapters.dynamodb import keys, task_rows
from nightshift.adapters.dynamodb.outbox import DynamoOutbox
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.adapters.ids import RandomIds
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.domain.commands import CreateTask, TriggerTask
from nightshift.domain.exchanged import Event, TaskRef
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.task import Task
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.explaining import Explaining
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.threads import Threads
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.schema import create_table

READ_UNIT = 4096
ROLE = "arn:aws:iam::000000000000:role/none"
WAITING = json.dumps(
    {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}}}
)


@dataclass
class Bill:
    """What was called, and the units that DynamoDB says it took."""

    calls: Counter[str] = field(default_factory=Counter)
    write_units: float = 0.0
    read_units: float = 0.0
    items_read: int = 0


class RealWorld:
    """See the module. `now` moves only when a test moves it."""

    due_shards = 1
    slot_shards = 1

    def __init__(self, engine: Engine, table: str, *, workers: int = 4) -> None:
        self.now = builders.NOW
        self.policy = builders.policy()
        self.events: list[Event] = []
        self.dynamodb = engine.client("dynamodb")
        self.stepfunctions = engine.client("stepfunctions")
        self.table = Table(self.dynamodb, table)
        self.workers = workers

    def __enter__(self) -> "RealWorld":
        create_table(self.dynamodb, self.table.name)
        self.machine = self.stepfunctions.create_state_machine(
            name=self.table.name, definition=WAITING, roleArn=ROLE
        )["stateMachineArn"]
        self.build(self.policy)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.dynamodb.delete_table(TableName=self.table.name)
        self.stepfunctions.delete_state_machine(stateMachineArn=self.machine)

    def build(self, policy: Policy) -> None:
        """Wire every service under these limits."""
        self.policy = policy
        observe = self.events.append
        self.tasks = DynamoTasks(self.table, due_shards=self.due_shards)
        self.runs = DynamoRuns(self.table, observe=observe, slot_shards=self.slot_shards)
        self.policies = DynamoPolicy(self.table, policy)
        self.outbox = DynamoOutbox(self.table)
        launcher = StepFunctionsLauncher(self.stepfunctions, self.machine, silence_seconds=300)
        inspector = StepFunctionsInspector(self.stepfunctions, self.machine)
        self.lifecycle = Lifecycle(
            tasks=self.tasks,
            runs=self.runs,
            launcher=launcher,
            inspector=inspector,
            observe=observe,
        )
        self.dispatch = Dispatch(
            tasks=self.tasks,
            runs=self.runs,
            lifecycle=self.lifecycle,
            policies=self.policies,
            ids=RandomIds(),
        )
        self.clock = Clock(
            tasks=self.tasks,
            runs=self.runs,
            policies=self.policies,
            inspector=inspector,
            lifecycle=self.lifecycle,
            dispatch=self.dispatch,
            observe=observe,
            workers=self.workers,
        )
        owned = OwnedTasks(tasks=self.tasks, runs=self.runs, lifecycle=self.lifecycle)
        self.management = Management(
            owned=owned,
            policies=self.policies,
            ids=RandomIds(),
            due_shards=self.due_shards,
            slot_shards=self.slot_shards,
        )
        self.pausing = Pausing(owned=owned, policies=self.policies)
        self.explaining = Explaining(tasks=self.tasks, runs=self.runs, policies=self.policies)
        self.threads = Threads(threads=DynamoThreads(self.table))

    @contextmanager
    def billed(self) -> Iterator[Bill]:
        """What everything inside costs, counted in botocore."""
        bill = Bill()

        def asked(params: dict[str, Any], model: Any, **_: Any) -> None:
            bill.calls[model.name] += 1
            if model.name == "Query" or "Write" in model.name or model.name.endswith("Item"):
                params["ReturnConsumedCapacity"] = "TOTAL"

        def answered(parsed: dict[str, Any], model: Any, **_: Any) -> None:
            bill.items_read += parsed.get("ScannedCount", 0)
            consumed = _units(parsed.get("ConsumedCapacity"))
            if model.name == "BatchGetItem":  # the engine does not say
                rows = chain.from_iterable(parsed["Responses"].values())
                consumed = sum(-(-_size(row) // READ_UNIT) for row in rows)
            if "Get" in model.name or model.name == "Query":
                bill.read_units += consumed
            else:
                bill.write_units += consumed

        clients = (self.dynamodb, self.stepfunctions)
        for client in clients:
            client.meta.events.register("provide-client-params.*.*", asked, "bill-asked")
            client.meta.events.register("after-call.*.*", answered, "bill-answered")
        try:
            yield bill
        finally:
            for client in clients:
                client.meta.events.unregister("provide-client-params.*.*", unique_id="bill-asked")
                client.meta.events.unregister("after-call.*.*", unique_id="bill-answered")

    # -- steps --

    def pass_time(self, span: timedelta) -> datetime:
        """Let time pass and nothing happen; what it is now."""
        self.now += span
        return self.now

    def look(self) -> None:
        """Let the clock look once, with all the time it wants."""
        self.clock.look(self.now, lambda: True)

    def created(self, command: CreateTask) -> Task:
        """Create a task as its owner does."""
        return self.management.create_task(command, self.now).task

    def store(self, tasks: Iterable[Task]) -> None:
        """Put many tasks with their prompts into the table, past the checks of their creation."""
        items = [
            item
            for task in tasks
            for item in (
                task_rows.new_task_item(task),
                task_rows.payload_item(builders.payload(task)),
            )
        ]
        for start in range(0, len(items), 25):
            requests = [
                {"PutRequest": {"Item": item.serialize()}} for item in items[start : start + 25]
            ]
            answer = self.dynamodb.batch_write_item(RequestItems={self.table.name: requests})
            assert not answer["UnprocessedItems"]

    def started(self) -> Counter[str]:
        """How many executions of each name there are."""
        pages = self.stepfunctions.get_paginator("list_executions").paginate(
            stateMachineArn=self.machine
        )
        return Counter(found["name"] for page in pages for found in page["executions"])

    def trigger(self, task: Task) -> Run:
        """Trigger a task as its owner does."""
        return self.dispatch.trigger_task(TriggerTask(task.user_id, task.id), self.now)

    def read(self, task: Task) -> Task:
        """The task as it is stored now."""
        stored = self.tasks.get(TaskRef(task.user_id, task.id))
        assert stored is not None
        return stored

    def history(self, task: Task) -> list[Run]:
        """The task's runs, newest first."""
        return list(self.runs.list(task.id, limit=1000, keep=1000).items)

    def end(self, run_id: str, outcome: Outcome = Outcome.SUCCESS) -> bool:
        """Let the news of a run's end arrive."""
        news = RunOutcome(run_id=run_id, outcome=outcome, finished_at=self.now)
        return self.lifecycle.record_outcome(news)

    def pass_fence(self, run: Run) -> None:
        """Write what the fence of a run's execution writes."""
        assert run.keys is not None
        started = {":running": {"S": "running"}, ":now": {"S": format_instant(self.now)}}
        for key, name in (
            (keys.slot(run.task_id, run.keys.slot_shard), "state"),
            (keys.run(run.task_id, run.id), "status"),
        ):
            self.dynamodb.update_item(
                TableName=self.table.name,
                Key={"pk": {"S": key.pk}, "sk": {"S": key.sk}},
                UpdateExpression="SET #state = :running, started_at = :now",
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeNames={"#state": name},
                ExpressionAttributeValues=started,
            )

    def rows(self) -> list[dict[str, Any]]:
        """Every row of the table, raw."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.table.name)
        return [row for page in pages for row in page["Items"]]


def _size(row: dict[str, Any]) -> int:
    """Bytes of a row as DynamoDB counts them, near enough: names and values."""
    return sum(len(name) + len(str(*value.values())) for name, value in row.items())


def _units(capacity: Any) -> float:
    if capacity is None:
        return 0.0
    entries = capacity if isinstance(capacity, list) else [capacity]
    return sum(float(entry["CapacityUnits"]) for entry in entries)
