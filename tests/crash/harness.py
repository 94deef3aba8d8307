"""Processes that die at a chosen AWS call, on the real engine, and what goes on afterwards.

A stage has one table, one Step Functions, and two processes: the victim, which meets the fault,
and the others, which are everybody who comes later. Nobody repairs anything by hand.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config

import builders
from completion.handler import record
from crash.asl import StateError
from crash.faults import Fate, Fault, Killed, answered, named
from crash.machine import MACHINE, ServiceError, Signal, StateMachine
from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.adapters.dynamodb.table import Table
from nightshift.composition.completion import CompletionServices
from nightshift.domain.commands import DeleteTask, PauseTask
from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.task import Task
from nightshift.domain.services.replanning import Replanning
from nightshift_toolkit.audit import Snapshot, snapshot_of_table, snapshot_without_index
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.memory import CountingIds
from nightshift_toolkit.schema import create_table
from real import RealWorld

LIMIT = 3
"""Runs that may be active at once on a stage."""
ONE_TRY = Config(retries={"mode": "standard", "total_max_attempts": 1}, parameter_validation=False)


class NamedIds(CountingIds):
    """Names that come in order and differ from those of every other process."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def nonce(self) -> str:
        """See `Ids.nonce`."""
        return f"{self._process}-{super().nonce()}"


class Process(RealWorld):
    """Every service in one process that may die; its calls pass through its `fate`."""

    def __init__(self, name: str, engine: Engine, table: str, machine: StateMachine) -> None:
        self.name = name
        self.births = 0
        self.now = builders.NOW
        self.events = []
        self.fate = Fate()
        self.machine = MACHINE
        self._step_functions = machine
        self.workers = 1
        self.dynamodb = engine.client("dynamodb", config=ONE_TRY)
        self.stepfunctions = engine.client("stepfunctions", config=ONE_TRY)
        self.dynamodb.meta.events.register("before-send.dynamodb", self._to_table)
        self.stepfunctions.meta.events.register("before-send.sfn", self._to_step_functions)
        self.table = Table(self.dynamodb, table, sleep=_not_at_all)

    def build(self, policy: Policy) -> None:
        """Wire every service of a process that has just started."""
        super().build(policy)
        self.events = []
        self.fate = Fate()
        self.births += 1
        self.dispatch = replace(self.dispatch, ids=NamedIds(f"{self.name}-{self.births}"))
        self.clock = replace(self.clock, dispatch=self.dispatch)
        self.management = replace(self.management, ids=NamedIds(f"{self.name}-{self.births}"))

    def pause(self, task: Task, until: datetime | None = None) -> None:
        """Pause a task as its owner does."""
        end = None if until is None else format_instant(until)
        self.pausing.pause_task(PauseTask(task.user_id, task.id, until=end), self.now)

    def delete(self, task: Task) -> None:
        """Delete a task as its owner does."""
        self.management.delete_task(DeleteTask(task.user_id, task.id), self.now)

    def sweep(self) -> None:
        """Go through all planned tasks as ticks do after a release of zone rules."""
        sweeps = DynamoSweeps(self.table)
        replanning = Replanning(tasks=self.tasks, sweeps=sweeps, observe=self.events.append)
        for _ in range(4):
            replanning.sweep_a_page()

    def hear(self, signal: Signal) -> bool:
        """Handle a signal as the completion function does."""
        services = CompletionServices(
            lifecycle=self.lifecycle,
            runs=self.runs,
            policies=self.clock.policies,
            observe=self.events.append,
        )
        return record(services, signal, self.now)

    def record_step(self, signal: Signal) -> None:
        """Be the function that the workflow invokes."""
        try:
            self.hear(signal)
        except (Killed, NightshiftError) as failure:
            raise StateError("Lambda.Unknown", type(failure).__name__) from failure

    def _to_table(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        http = self.dynamodb._endpoint.http_session
        return self.fate.meet(request, http.send)

    def _to_step_functions(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        return self.fate.meet(request, self._asked) or self._asked(request)

    def _asked(self, request: AWSPreparedRequest) -> AWSResponse:
        _, operation = named(request)
        try:
            told = self._step_functions.answer(operation, _parsed(request))
        except ServiceError as refusal:
            return answered(request, 400, {"__type": str(refusal)})
        return answered(request, 200, told)


class Stage:
    """One table and Step Functions; `victim` meets the fault, `others` go on.

    `watched` are the tasks of which every occurrence has to be accounted for, `damaged` the ids of
    those that nothing can mend. `repeat` is what the user does who got no answer, `afterwards` what
    only this path promises, as complaints. `prunes` says that old records go on purpose, `mends`
    that executions can be started again once the victim is gone. `calls` are the last victim's.
    """

    def __init__(self, engine: Engine, table: str) -> None:
        self._engine = engine
        self._table = table
        self._admin = engine.client("dynamodb")
        create_table(self._admin, table)
        self.machine = StateMachine(self._admin, table, lambda: self.now)
        self.victim = Process("victim", engine, table, self.machine)
        self.others = Process("others", engine, table, self.machine)
        self.watched: list[Task] = []
        self.damaged: set[str] = set()
        self.prunes = False
        self.mends = False
        self.repeat: Callable[[], object] | None = None
        self.afterwards: Callable[[Snapshot], list[str]] | None = None
        self.calls: list[str] = []
        self.reset()

    @property
    def now(self) -> datetime:
        """The instant that all clocks show (UTC)."""
        return self.others.now

    def reset(self) -> None:
        """Begin anew: empty table, no executions, new processes."""
        self._empty()
        self.machine.reset()
        self.machine.record = self.others.record_step
        self.watched = []
        self.damaged = set()
        self.prunes = False
        self.mends = False
        self.repeat = None
        self.afterwards = None
        for process in (self.victim, self.others):
            process.now = builders.NOW
            process.build(builders.policy(max_concurrent_runs=LIMIT))

    def _empty(self) -> None:
        keys = [{"pk": row["pk"], "sk": row["sk"]} for row in self.others.rows()]
        for start in range(0, len(keys), 25):
            requests = [{"DeleteRequest": {"Key": key}} for key in keys[start : start + 25]]
            self._admin.batch_write_item(RequestItems={self._table: requests})

    def pass_time(self, span: timedelta) -> None:
        """Let time pass everywhere."""
        for process in (self.victim, self.others):
            process.pass_time(span)

    def snapshot(self, *, with_index: bool = False) -> Snapshot:
        """The table as it is, with what Step Functions says of the runs."""
        executions = self.machine.statuses()
        take = snapshot_of_table if with_index else snapshot_without_index
        return take(self.others.table, executions=executions, now=self.now)

    # -- what paths begin with --

    def add(self, task: Task) -> Task:
        """Store a task whose every occurrence is to be accounted for."""
        stored = self.add_unwatched(task)
        self.watched.append(stored)
        return stored

    def add_unwatched(self, task: Task) -> Task:
        """Store a task whose schedule the path itself interferes with."""
        self.others.tasks.create(task, builders.payload(task), max_tasks=1000)
        return task

    def run_of(self, task: Task) -> str:
        """The newest run of a task."""
        return self.others.history(task)[0].id

    def die_at_launch(self) -> None:
        """Let a clock admit what is due and die before it launches anything."""
        self.others.fate = Fate(Fault.DIES_BEFORE, launch=True)
        assert isinstance(acted(self.others.look), Killed)
        self.others.fate = Fate()

    def damage(self, task: Task) -> None:
        """Lose the prompt of a task, which nothing can bring back."""
        self.damaged.add(task.id)
        key = keys.payload(task.user_id, task.id, task.definition.payload_revision)
        self.others.table.delete_rows([key])

    def start_due(self) -> None:
        """Let the clock start what is due, and the executions pass their fences."""
        self.others.look()
        self.machine.begin()


def acted(act: Callable[[], object]) -> BaseException | None:
    """Let a process act until it is done, refuses or dies; anything else is a defect and raised."""
    try:
        act()
    except (Killed, NightshiftError) as end:
        return end
    return None


def _not_at_all(_seconds: float) -> None:
    """Sleep not at all: repetitions follow at once."""


def _parsed(request: AWSPreparedRequest) -> Any:
    body: Any = request.body
    return json.loads(body)
