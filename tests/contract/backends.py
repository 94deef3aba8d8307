"""The implementations that the contract is held against, with hands that damage and observe."""

import contextlib
import functools
import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from botocore.config import Config
from botocore.exceptions import ReadTimeoutError

import builders
from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.outbox import DynamoOutbox
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.domain.exchanged import Event, TaskRef
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Slot
from nightshift.domain.outbox import Outbox
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import RunStore, SweepStore, TaskStore, ThreadStore
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.memory import MemoryStore
from nightshift_toolkit.schema import table_schema

DUE_SHARDS = 2
SLOT_SHARDS = 2
WRITES = ("transact_write_items", "put_item", "update_item", "delete_item")


class Stores(Protocol):
    """The ports of one implementation, and what others do to its rows."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    sweeps: SweepStore
    outbox: Outbox
    events: list[Event]

    def set_policy(self, **settings: Any) -> None:
        """Change limits as the operator does without a deploy."""

    def pass_fence(self, slot: Slot, at: datetime) -> bool:
        """Let the workflow's first state run; whether it passed."""

    def pick_up(self, run: Run) -> None:
        """Let a worker win the run."""

    def pause(self, run: Run, at: datetime) -> None:
        """Let the worker of the run note that it is paused."""

    def damage_task(self, ref: TaskRef) -> None:
        """Make a task row unreadable."""

    def damage_slot(self, slot: Slot) -> None:
        """Make a slot unreadable."""

    def damage_run(self, run: Run) -> None:
        """Make a run's record unreadable."""

    def damage_notice(self, outgoing: Outgoing) -> None:
        """Make the row of a notice unreadable."""

    def lose_run(self, run: Run) -> None:
        """Remove a run's record."""

    def held_keys(self) -> dict[str, str]:
        """Every slot, seat and thread lock that is taken, and the run that holds it."""

    def unplug(self) -> None:
        """Let the store answer nothing any more."""

    @contextlib.contextmanager
    def losing_answers(self) -> Any:
        """Let writes happen whose answers never arrive."""


class Memory:
    """The in-memory ports."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._store = MemoryStore(builders.policy(), self.events.append)
        self.tasks: TaskStore = self._store.tasks
        self.runs: RunStore = self._store.runs
        self.threads: ThreadStore = self._store.threads
        self.policies: PolicySource = self._store.policies
        self.sweeps: SweepStore = self._store.sweeps
        self.outbox: Outbox = self._store.outbox

    def set_policy(self, **settings: Any) -> None:
        self._store.set_policy(replace(builders.policy(), **settings))

    def pass_fence(self, slot: Slot, at: datetime) -> bool:
        return self._store.pass_fence(slot.run_id, slot.nonce, at)

    def pick_up(self, run: Run) -> None:
        self._store.pick_up(run.id)

    def pause(self, run: Run, at: datetime) -> None:
        self._store.work.note_pause(run.id, run.nonce or "", 1, at, 0, spent=False)

    def damage_task(self, ref: TaskRef) -> None:
        self._store.corrupt_task(ref)

    def damage_slot(self, slot: Slot) -> None:
        self._store.corrupt_slot(slot.task_id)

    def damage_run(self, run: Run) -> None:
        self._store.corrupt_run(run.id)

    def damage_notice(self, outgoing: Outgoing) -> None:
        self._store.corrupt_notice(outgoing.notice.id)

    def lose_run(self, run: Run) -> None:
        self._store.lose_run(run.id)

    def held_keys(self) -> dict[str, str]:
        return self._store.held_keys()

    def unplug(self) -> None:
        self._store.unplug()

    @contextlib.contextmanager
    def losing_answers(self) -> Any:
        self._store.lose_answers(lost=True)
        yield
        self._store.lose_answers(lost=False)


class Dynamo:
    """The table, on the real engine; what damages rows writes to it directly."""

    def __init__(self, engine: Engine) -> None:
        self.events: list[Event] = []
        self._engine = engine
        self._client = engine.client("dynamodb")
        self._name = f"contract-{uuid.uuid4().hex}"
        self._client.create_table(
            TableName=self._name, BillingMode="PAY_PER_REQUEST", **_deployed_schema()
        )
        self._use(self._client)

    def _use(self, client: Any) -> None:
        table = Table(client, self._name, sleep=lambda _seconds: None)
        self.tasks: TaskStore = DynamoTasks(table, due_shards=DUE_SHARDS)
        self.runs: RunStore = DynamoRuns(table, self.events.append, slot_shards=SLOT_SHARDS)
        self.threads: ThreadStore = DynamoThreads(table)
        self.policies: PolicySource = DynamoPolicy(table, builders.policy())
        self.sweeps: SweepStore = DynamoSweeps(table, due_shards=DUE_SHARDS)
        self.outbox: Outbox = DynamoOutbox(table)

    def set_policy(self, **settings: Any) -> None:
        row = {"pk": "CONTROL", "sk": "POLICY", "settings": json.dumps(settings)}
        self._client.put_item(
            TableName=self._name, Item={name: {"S": text} for name, text in row.items()}
        )

    def pass_fence(self, slot: Slot, at: datetime) -> bool:
        run_key = (f"TASK#{slot.task_id}", f"RUN#{slot.run_id}")
        slot_holds = "run_id = :run AND nonce = :nonce AND attribute_not_exists(cancel_requested)"
        try:
            self._client.transact_write_items(
                TransactItems=[
                    self._becomes_running(
                        (f"ACTIVE#{slot.keys.slot_shard}", slot.task_id),
                        "state",
                        slot_holds,
                        {":run": slot.run_id, ":nonce": slot.nonce, ":now": format_instant(at)},
                    ),
                    self._becomes_running(
                        run_key,
                        "status",
                        "nonce = :nonce AND #word IN (:queued, :running)",
                        {":nonce": slot.nonce, ":queued": "queued", ":now": format_instant(at)},
                    ),
                ]
            )
        except self._client.exceptions.TransactionCanceledException:
            return False
        return True

    def _becomes_running(
        self, key: tuple[str, str], word: str, condition: str, values: dict[str, str]
    ) -> dict[str, Any]:
        texts = {**values, ":running": "running"}
        return {
            "Update": {
                "TableName": self._name,
                "Key": _raw_key(*key),
                "ConditionExpression": condition,
                "UpdateExpression": "SET #word = :running,"
                " started_at = if_not_exists(started_at, :now)",
                "ExpressionAttributeNames": {"#word": word},
                "ExpressionAttributeValues": {name: {"S": text} for name, text in texts.items()},
            }
        }

    def pick_up(self, run: Run) -> None:
        pk, sk = f"TASK#{run.task_id}", f"RUN#{run.id}"
        self._set(pk, sk, "picked_up_attempt", {"N": "1"})
        self._set(pk, sk, "can_pause", {"BOOL": True})

    def pause(self, run: Run, at: datetime) -> None:
        pk, sk = f"TASK#{run.task_id}", f"RUN#{run.id}"
        self._set(pk, sk, "paused_at", {"S": format_instant(at)})

    def damage_task(self, ref: TaskRef) -> None:
        self._set(f"USER#{ref.user_id}", f"TASK#{ref.task_id}", "schedule", {"S": "{"})

    def damage_slot(self, slot: Slot) -> None:
        self._set(f"ACTIVE#{slot.keys.slot_shard}", slot.task_id, "lease_until", {"S": "soon"})

    def damage_run(self, run: Run) -> None:
        self._set(f"TASK#{run.task_id}", f"RUN#{run.id}", "trigger", {"S": "moon"})

    def damage_notice(self, outgoing: Outgoing) -> None:
        key = keys.outbox(outgoing.due_at, outgoing.notice.id)
        self._set(key.pk, key.sk, "notice", {"S": "{"})

    def lose_run(self, run: Run) -> None:
        key = _raw_key(f"TASK#{task_id_of(run.id)}", f"RUN#{run.id}")
        self._client.delete_item(TableName=self._name, Key=key)

    def held_keys(self) -> dict[str, str]:
        rows = self._client.scan(TableName=self._name, ConsistentRead=True)["Items"]
        held = {}
        for row in rows:
            kind, _, rest = row["pk"]["S"].partition("#")
            run_id = row.get("run_id", {}).get("S")
            if kind == "ACTIVE":
                held[f"slot {row['sk']['S']}"] = run_id
            elif kind == "SEAT":
                held[f"seat {rest}"] = run_id
            elif kind == "USERSEAT":
                held[f"user seat {rest.replace('#', '/')}"] = run_id
            elif kind == "THREADLOCK":
                held[f"thread {rest.replace('#', '/')}"] = run_id
        return held

    def unplug(self) -> None:
        dead_end = "http://127.0.0.1:9"
        config = Config(connect_timeout=1, retries={"total_max_attempts": 1})
        session: Any = self._engine.session()
        self._use(session.client("dynamodb", endpoint_url=dead_end, config=config))

    @contextlib.contextmanager
    def losing_answers(self) -> Any:
        self._use(_DeafClient(self._client))
        yield
        self._use(self._client)

    def _set(self, pk: str, sk: str, attribute: str, value: dict[str, Any]) -> None:
        self._client.update_item(
            TableName=self._name,
            Key=_raw_key(pk, sk),
            UpdateExpression="SET #attribute = :value",
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeNames={"#attribute": attribute},
            ExpressionAttributeValues={":value": value},
        )


class _DeafClient:
    """A DynamoDB client whose writes arrive and whose answers do not."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(self._client, name)
        if name not in WRITES:
            return call

        def unheard(**request: Any) -> Any:
            call(**request)
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

        return unheard


@functools.cache
def _deployed_schema() -> dict[str, Any]:
    return table_schema()


def _raw_key(pk: str, sk: str) -> dict[str, dict[str, str]]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
