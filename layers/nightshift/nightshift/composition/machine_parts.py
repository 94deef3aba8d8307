"""The parts of the functions that deal with executions of the one state machine."""

from functools import cached_property
from typing import TYPE_CHECKING

from nightshift import observability
from nightshift.adapters.aws import stepfunctions_client
from nightshift.adapters.ids import RandomIds
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.composition.run_parts import RunParts
from nightshift.domain.ports import Ids, Inspector, Launcher
from nightshift.domain.services.dispatch import Dispatch

if TYPE_CHECKING:
    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import MachineSettings


class MachineParts(RunParts):
    """The parts of a function that deals with executions of the one state machine."""

    def __init__(self, settings: "MachineSettings", brought: "Overrides") -> None:
        super().__init__(settings, brought)
        self._arn = settings.state_machine_arn
        # The workflow's heartbeat is deployed; a policy changed since does not move it.
        self._silence_seconds = settings.policy.worker_silence_seconds
        self._pause_seconds = settings.policy.max_pause_seconds

    @cached_property
    def ids(self) -> Ids:
        return self._brought.get("ids") or RandomIds()

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
