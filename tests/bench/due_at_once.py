"""Many tasks due at once until all are launched, beside the bare calls of the same work.

Both go through botocore to the same stub with the same number of threads, one after the other in
one process, so that their ratio says what the scheduler itself costs.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

import builders
from bench.wire_stub import StubAws
from nightshift import observability
from nightshift.adapters.aws import CONNECTIONS, dynamodb_client, stepfunctions_client
from nightshift.adapters.dynamodb import task_rows
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.composition.tick import build_tick
from nightshift.domain.model.policy import Policy
from nightshift.domain.services.clock import Clock

SEATS = 1000
"""The budget of a look; after so many launches all runs end and the next look begins."""
MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:bench"
PROMPT = "Summarise yesterday's tickets, and say which of them need an answer today. " * 8
"""600 bytes, as a prompt may have."""


def made_up_account() -> None:
    """Give botocore what it needs to sign; nothing of it leaves this process."""
    os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "bench"
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    os.environ["POWERTOOLS_SERVICE_NAME"] = "bench"


def budget(seats: int) -> Policy:
    """The limits with so many places."""
    return builders.policy(max_concurrent_runs=seats, launch_lease_seconds=120)


@dataclass(frozen=True)
class Settings:
    """What a tick is deployed with."""

    table_name: str = "bench"
    state_machine_arn: str = MACHINE
    due_shards: int = 1
    slot_shards: int = 1
    announces: bool = False
    policy: Policy = field(default_factory=lambda: budget(SEATS))


@dataclass(frozen=True)
class Clients:
    """A client of each service, over a stub."""

    dynamodb: Any
    stepfunctions: Any

    @classmethod
    def deployed(cls, stub: StubAws) -> "Clients":
        """As the functions make them."""
        return cls(dynamodb_client(), stepfunctions_client())._over(stub)

    @classmethod
    def plain(cls, stub: StubAws) -> "Clients":
        """As boto3 makes them, with connections enough for all threads."""
        config = Config(max_pool_connections=CONNECTIONS)
        made = (boto3.client(name, config=config) for name in ("dynamodb", "stepfunctions"))
        return cls(*made)._over(stub)

    def _over(self, stub: StubAws) -> "Clients":
        stub.attach(self.dynamodb, self.stepfunctions)
        return self


@dataclass
class Lane:
    """What one way of launching took so far."""

    launches: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0  # without those of the stub

    @property
    def rate(self) -> float:
        """Launches a second."""
        return self.launches / self.seconds

    @property
    def processor_milliseconds(self) -> float:
        """Of one launch."""
        return 1000 * self.processor_seconds / self.launches

    def add(self, stub: StubAws, action: Callable[[], object]) -> None:
        """Measure an action that launches."""
        launched, own = len(stub.started), stub.own_seconds
        began, used = time.perf_counter(), time.process_time()
        action()
        self.seconds += time.perf_counter() - began
        self.processor_seconds += time.process_time() - used - (stub.own_seconds - own)
        self.launches += len(stub.started) - launched


def filled(stub: StubAws, tasks: int, *, due: bool = True) -> StubAws:
    """Put hourly tasks of a hundred users into the stub, due at noon or an hour later."""
    submitted = builders.NOW - builders.HOUR if due else builders.NOW
    for number in range(tasks):
        user = f"user-{number % 100:03d}"
        task = builders.task(number=number, user_id=user, submitted_at=submitted)
        stub.put(task_rows.new_task_item(task).serialize())
        stub.put(task_rows.payload_item(builders.payload(task, PROMPT)).serialize())
    return stub


def clock_over(clients: Clients, workers: int, settings: Settings | None = None) -> Clock:
    """The clock of the tick function over these clients."""
    chosen = settings or Settings()
    table, observe = Table(clients.dynamodb, chosen.table_name), observability.observe
    tick = build_tick(
        chosen,
        tasks=DynamoTasks(table, due_shards=chosen.due_shards),
        runs=DynamoRuns(table, observe=observe, slot_shards=chosen.slot_shards),
        policies=DynamoPolicy(table, defaults=chosen.policy),
        launcher=StepFunctionsLauncher(clients.stepfunctions, MACHINE, 300),
        inspector=StepFunctionsInspector(clients.stepfunctions, MACHINE),
        observe=observe,
        workers=workers,
    )
    return tick.clock


def launched_by_all(
    tasks: int, workers: int, seats: int = SEATS, latency: bool = True
) -> tuple[Lane, Lane]:
    """Launch all that is due through the clock, and by the bare calls of the same work.

    The two take turns, look by look, so that whatever slows the machine slows both.
    """
    pair = [filled(StubAws() if latency else StubAws(0, 0), tasks) for _ in range(2)]
    mine, theirs = Clients.deployed(pair[0]), Clients.plain(pair[1])
    clock = clock_over(mine, workers, Settings(policy=budget(seats)))
    ours, bare = Lane(), Lane()
    while ours.launches < tasks:
        calls: list[tuple[str, Any]] = []
        before = ours.launches
        with recorded(mine, calls), silent():
            ours.add(pair[0], lambda: clock.look(builders.NOW, lambda: True))
        assert ours.launches > before, "a look launched nothing"
        bare.add(pair[1], partial(_replayed, theirs, workers, calls))
        for stub in pair:
            stub.end_all()
    for stub in pair:
        assert len(stub.started) == tasks, "a run was lost"
        assert set(stub.started.values()) == {1}, "a run was started twice"
    return ours, bare


def _replayed(clients: Clients, workers: int, calls: list[tuple[str, Any]]) -> None:
    starts = {params["name"]: params for name, params in calls if name == "StartExecution"}

    def one(transaction: Any) -> None:
        clients.dynamodb.transact_write_items(**transaction)
        run_id = transaction["TransactItems"][0]["Put"]["Item"]["run_id"]["S"]
        clients.stepfunctions.start_execution(**starts[run_id])

    reads: dict[str, Callable[..., Any]] = {
        "GetItem": clients.dynamodb.get_item,
        "Query": clients.dynamodb.query,
        "BatchGetItem": clients.dynamodb.batch_get_item,
    }
    with ThreadPoolExecutor(workers) as pool:
        done = []
        for name, params in calls:
            if name == "TransactWriteItems":
                done.append(pool.submit(one, params))
            elif name in reads:
                reads[name](**params)
        for future in done:
            future.result()


@contextlib.contextmanager
def recorded(clients: Clients, calls: list[tuple[str, Any]]) -> Iterator[None]:
    """Note every call that these clients make."""

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        calls.append((model.name, params))

    both = (clients.dynamodb, clients.stepfunctions)
    for client in both:
        client.meta.events.register("provide-client-params.*.*", note, "bench")
    try:
        yield
    finally:
        for client in both:
            client.meta.events.unregister("provide-client-params.*.*", unique_id="bench")


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Logs and metrics are written as in the function, to where nobody reads them."""
    handler = observability.logger.registered_handler
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        previous = handler.setStream(nowhere)  # type: ignore[attr-defined]
        try:
            yield
        finally:
            handler.setStream(previous)  # type: ignore[attr-defined]
