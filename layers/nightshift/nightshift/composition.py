"""Puts the services of each function together; the only place that knows both sides.

Every `build_*` is pure: it reads no environment and makes no call. Clients are made for what no
override replaces, so that a test which brings all its ports needs no AWS.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, NoReturn, Protocol, TypedDict, Unpack

from nightshift import observability
from nightshift.adapters.aws import dynamodb_client, stepfunctions_client
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.adapters.ids import RandomIds
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.exchanged import Observe
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.slot import LaunchOrder
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import (
    Ids,
    Inspector,
    Launcher,
    RunStore,
    SweepStore,
    TaskStore,
    ThreadStore,
)
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.explaining import Explaining
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.replanning import Replanning
from nightshift.domain.services.threads import Threads

PRODUCTION_POLICY: Final = Policy(
    max_concurrent_runs=10,
    max_concurrent_runs_per_user=5000,
    launch_lease_seconds=120,
    launch_deadline_seconds=900,
    verify_after_seconds=300,
    worker_silence_seconds=300,
    min_once_delay_seconds=60,
    min_every_seconds=300,
    min_interval_seconds=60,
    default_timeout_seconds=900,
    max_timeout_seconds=3600,
    max_pause_seconds=3600,
    workflow_timeout_seconds=86_400,
    max_tasks_per_user=1000,
    max_history_entries_per_task=50,
    allow_shell_actions=False,
)
"""The limits of a deployment that sets none (SPEC section 9); the domain's own are loose."""

CLOCK_WORKERS: Final = 16
"""Tasks that one tick settles or starts at the same time: enough to keep a processor busy while
each waits some 30 ms for AWS."""


class TableSettings(Protocol):
    """What the services of every function need to know."""

    @property
    def table_name(self) -> str: ...
    @property
    def due_shards(self) -> int: ...
    @property
    def slot_shards(self) -> int: ...
    @property
    def policy(self) -> Policy: ...


class MachineSettings(TableSettings, Protocol):
    """What those need to know besides that deal with executions."""

    @property
    def state_machine_arn(self) -> str: ...


class Overrides(TypedDict, total=False):
    """What a caller may bring instead of the real thing."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    sweeps: SweepStore
    launcher: Launcher
    inspector: Inspector
    ids: Ids
    observe: Observe
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServices:
    """What the routes call."""

    management: Management
    pausing: Pausing
    explaining: Explaining
    threads: Threads
    dispatch: Dispatch
    lifecycle: Lifecycle
    policies: PolicySource
    launcher: Launcher
    observe: Observe


@dataclass(frozen=True, slots=True, kw_only=True)
class TickServices:
    """What a tick calls."""

    clock: Clock
    replanning: Replanning
    observe: Observe


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionServices:
    """What the end of a run calls."""

    lifecycle: Lifecycle
    runs: RunStore
    policies: PolicySource
    observe: Observe


def build_api(settings: MachineSettings, **overrides: Unpack[Overrides]) -> ApiServices:
    """The services of the api function."""
    parts = _MachineParts(settings, overrides)
    owned = OwnedTasks(tasks=parts.tasks, runs=parts.runs, lifecycle=parts.lifecycle)
    return ApiServices(
        management=Management(
            owned=owned,
            policies=parts.policies,
            ids=parts.ids,
            due_shards=settings.due_shards,
            slot_shards=settings.slot_shards,
        ),
        pausing=Pausing(owned=owned, policies=parts.policies),
        explaining=Explaining(tasks=parts.tasks, runs=parts.runs, policies=parts.policies),
        threads=Threads(threads=parts.threads),
        dispatch=parts.dispatch,
        lifecycle=parts.lifecycle,
        policies=parts.policies,
        launcher=parts.launcher,
        observe=parts.observe,
    )


def build_tick(settings: MachineSettings, **overrides: Unpack[Overrides]) -> TickServices:
    """The services of the tick function."""
    parts = _MachineParts(settings, overrides)
    clock = Clock(
        tasks=parts.tasks,
        runs=parts.runs,
        policies=parts.policies,
        inspector=parts.inspector,
        lifecycle=parts.lifecycle,
        dispatch=parts.dispatch,
        observe=parts.observe,
        workers=overrides.get("workers", CLOCK_WORKERS),
    )
    replanning = Replanning(tasks=parts.tasks, sweeps=parts.sweeps, observe=parts.observe)
    return TickServices(clock=clock, replanning=replanning, observe=parts.observe)


def build_completion(settings: TableSettings, **overrides: Unpack[Overrides]) -> CompletionServices:
    """The services of the completion function, which may neither launch nor ask."""
    parts = _Parts(settings, overrides)
    return CompletionServices(
        lifecycle=parts.lifecycle,
        runs=parts.runs,
        policies=parts.policies,
        observe=parts.observe,
    )


class _NoExecutions:
    """The launcher and inspector of a function that has no rights on executions."""

    def launch(self, order: LaunchOrder) -> NoReturn:
        raise LaunchImpossible(f"This function may not launch runs: {order.run_id}.")

    def stop(self, run_id: str) -> NoReturn:
        raise LaunchImpossible(f"This function may not stop runs: {run_id}.")

    def execution_arn(self, run_id: str) -> NoReturn:
        raise LaunchImpossible(f"This function knows no executions: {run_id}.")

    def running(self) -> NoReturn:
        raise LaunchImpossible("This function knows no executions.")

    def describe(self, run_id: str, now: datetime) -> NoReturn:
        raise LaunchImpossible(f"This function knows no executions: {run_id}, {now}.")


class _Parts:
    """Each part once: the one that was brought, or the real one over the one table."""

    def __init__(self, settings: TableSettings, brought: Overrides) -> None:
        self._settings = settings
        self._brought = brought
        self.observe: Observe = brought.get("observe", observability.observe)

    @cached_property
    def _table(self) -> Table:
        return Table(dynamodb_client(), self._settings.table_name)

    @cached_property
    def tasks(self) -> TaskStore:
        return self._brought.get("tasks") or DynamoTasks(
            self._table, due_shards=self._settings.due_shards
        )

    @cached_property
    def runs(self) -> RunStore:
        return self._brought.get("runs") or DynamoRuns(
            self._table, slot_shards=self._settings.slot_shards, observe=self.observe
        )

    @cached_property
    def threads(self) -> ThreadStore:
        return self._brought.get("threads") or DynamoThreads(self._table)

    @cached_property
    def policies(self) -> PolicySource:
        return self._brought.get("policies") or DynamoPolicy(
            self._table, defaults=self._settings.policy
        )

    @cached_property
    def sweeps(self) -> SweepStore:
        return self._brought.get("sweeps") or DynamoSweeps(
            self._table, due_shards=self._settings.due_shards
        )

    @cached_property
    def ids(self) -> Ids:
        return self._brought.get("ids") or RandomIds()

    @cached_property
    def launcher(self) -> Launcher:
        return self._brought.get("launcher") or _NoExecutions()

    @cached_property
    def inspector(self) -> Inspector:
        return self._brought.get("inspector") or _NoExecutions()

    @cached_property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle(
            tasks=self.tasks,
            runs=self.runs,
            launcher=self.launcher,
            inspector=self.inspector,
            observe=self.observe,
        )

    @cached_property
    def dispatch(self) -> Dispatch:
        return Dispatch(
            tasks=self.tasks,
            runs=self.runs,
            lifecycle=self.lifecycle,
            policies=self.policies,
            ids=self.ids,
        )


class _MachineParts(_Parts):
    """The parts of a function that deals with executions of the one state machine."""

    def __init__(self, settings: MachineSettings, brought: Overrides) -> None:
        super().__init__(settings, brought)
        self._arn = settings.state_machine_arn
        # The workflow's heartbeat is deployed; a policy changed since does not move it.
        self._silence_seconds = settings.policy.worker_silence_seconds
        self._pause_seconds = settings.policy.max_pause_seconds

    @cached_property
    def launcher(self) -> Launcher:
        return self._brought.get("launcher") or StepFunctionsLauncher(
            stepfunctions_client(),
            self._arn,
            self._silence_seconds,
            self._pause_seconds,
            observability.trace_header,
        )

    @cached_property
    def inspector(self) -> Inspector:
        return self._brought.get("inspector") or StepFunctionsInspector(
            stepfunctions_client(), self._arn
        )
