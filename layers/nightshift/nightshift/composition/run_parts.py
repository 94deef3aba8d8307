"""The parts of the functions that begin or end runs."""

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.composition.parts import Parts
from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import Inspector, Launcher, RunStore, TaskStore
from nightshift.domain.services.lifecycle import Lifecycle

if TYPE_CHECKING:
    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import RunSettings
    from nightshift.domain.model.slot import LaunchOrder


class _NoExecutions:
    """The launcher and inspector of a function that has no rights on executions."""

    def launch(self, order: "LaunchOrder") -> NoReturn:
        raise LaunchImpossible(f"This function may not launch runs: {order.run_id}.")

    def stop(self, run_id: str) -> NoReturn:
        raise LaunchImpossible(f"This function may not stop runs: {run_id}.")

    def execution_arn(self, run_id: str) -> NoReturn:
        raise LaunchImpossible(f"This function knows no executions: {run_id}.")

    def running(self) -> NoReturn:
        raise LaunchImpossible("This function knows no executions.")

    def describe(self, run_id: str, now: datetime) -> NoReturn:
        raise LaunchImpossible(f"This function knows no executions: {run_id}, {now}.")


class RunParts(Parts):
    """The parts of a function that begins or ends runs."""

    def __init__(self, settings: "RunSettings", brought: "Overrides") -> None:
        super().__init__(settings, brought)
        self._announces = settings.announces

    @cached_property
    def tasks(self) -> TaskStore:
        return self._brought.get("tasks") or DynamoTasks(
            self.table, due_shards=self._settings.due_shards
        )

    @cached_property
    def runs(self) -> RunStore:
        return self._brought.get("runs") or DynamoRuns(
            self.table, slot_shards=self._settings.slot_shards, observe=self.observe
        )

    @cached_property
    def policies(self) -> PolicySource:
        return self._brought.get("policies") or DynamoPolicy(
            self.table, defaults=self._settings.policy
        )

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
            announces=self._announces,
        )
