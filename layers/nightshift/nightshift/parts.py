"""The parts that functions are put together from: each once, brought or real."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import NoReturn, Protocol, TypedDict

from nightshift import observability
from nightshift.adapters.aws import (
    dynamodb_client,
    events_client,
    secrets_client,
    sns_client,
    stepfunctions_client,
)
from nightshift.adapters.dynamodb.outbox import DynamoOutbox
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.adapters.ids import RandomIds
from nightshift.adapters.notices.bus import BusReceiver
from nightshift.adapters.notices.keys import DerivedKeys, StoredMaster
from nightshift.adapters.notices.topic import TopicReceiver
from nightshift.adapters.notices.webhook import WebhookReceiver
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.exchanged import Observe
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.slot import LaunchOrder
from nightshift.domain.model.webhook import WebhookTargets
from nightshift.domain.outbox import Outbox, Receiver, WebhookKeys
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
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.lifecycle import Lifecycle


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


class RunSettings(TableSettings, Protocol):
    """What those need to know besides that end runs."""

    @property
    def announces(self) -> bool: ...


class MachineSettings(RunSettings, Protocol):
    """What those need to know besides that deal with executions."""

    @property
    def state_machine_arn(self) -> str: ...


class SecretSettings(Protocol):
    """Where the secret is from which the keys of webhooks are derived."""

    @property
    def webhook_secret_arn(self) -> str: ...


class OwnerSettings(MachineSettings, SecretSettings, Protocol):
    """What those need to know besides that serve the owners of tasks."""

    @property
    def webhook_targets(self) -> WebhookTargets: ...


class ReceiverSettings(TableSettings, SecretSettings, Protocol):
    """What those need to know besides that tell others."""

    @property
    def bus_name(self) -> str | None: ...
    @property
    def topic_arn(self) -> str | None: ...
    @property
    def webhook_targets(self) -> WebhookTargets: ...


class Overrides(TypedDict, total=False):
    """What a caller may bring instead of the real thing."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    sweeps: SweepStore
    outbox: Outbox
    receivers: Sequence[Receiver]
    webhook_keys: WebhookKeys
    launcher: Launcher
    inspector: Inspector
    ids: Ids
    observe: Observe
    workers: int


def receivers(settings: ReceiverSettings) -> Sequence[Receiver]:
    """Everybody who hears of this deployment's runs; those who answer at once come first."""
    receivers: list[Receiver] = []
    if settings.bus_name is not None:
        receivers.append(BusReceiver(events_client(), settings.bus_name))
    if settings.topic_arn is not None:
        receivers.append(TopicReceiver(sns_client(), settings.topic_arn))
    keys = derived_keys(settings)
    return [*receivers, WebhookReceiver(keys=keys, targets=settings.webhook_targets)]


def derived_keys(settings: SecretSettings) -> WebhookKeys:
    """Every user's key, from the secret of this deployment, which is read when it is needed."""
    return DerivedKeys(StoredMaster(secrets_client, settings.webhook_secret_arn))


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


class Parts:
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
    def outbox(self) -> Outbox:
        return self._brought.get("outbox") or DynamoOutbox(self._table)

    @cached_property
    def ids(self) -> Ids:
        return self._brought.get("ids") or RandomIds()

    @cached_property
    def launcher(self) -> Launcher:
        return self._brought.get("launcher") or _NoExecutions()

    @cached_property
    def inspector(self) -> Inspector:
        return self._brought.get("inspector") or _NoExecutions()


class RunParts(Parts):
    """The parts of a function that begins or ends runs."""

    def __init__(self, settings: RunSettings, brought: Overrides) -> None:
        super().__init__(settings, brought)
        self._announces = settings.announces

    @cached_property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle(
            tasks=self.tasks,
            runs=self.runs,
            launcher=self.launcher,
            inspector=self.inspector,
            observe=self.observe,
            announces=self._announces,
        )

    @cached_property
    def dispatch(self) -> Dispatch:
        return Dispatch(
            tasks=self.tasks,
            runs=self.runs,
            lifecycle=self.lifecycle,
            policies=self.policies,
            ids=self.ids,
            announces=self._announces,
        )


class MachineParts(RunParts):
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
