"""Starts and stops executions, and says exactly what is known afterwards (SPEC section 6)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.adapters.stepfunctions.errors import code_of, is_systemic, translated
from nightshift.domain.exchanged import LaunchAnswer, LaunchResult
from nightshift.domain.model.enums import ActionKind
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.previous import PreviousResult
from nightshift.domain.model.retry import Retry, attempt_seconds
from nightshift.domain.model.slot import LaunchOrder

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_ONE_ATTEMPT = Retry(max_attempts=1)
_THIS_INPUT = frozenset({"InvalidExecutionInput", "InvalidName", "ValidationException"})
_ALREADY_OVER = frozenset({"ExecutionDoesNotExist", "ValidationException"})


@dataclass(frozen=True, slots=True)
class StepFunctionsLauncher:
    """See `Launcher` for what each method promises. `silence_seconds` and `pause_seconds` are
    the worker's (policy); `trace_header` tells the trace that an execution joins, if any."""

    client: "SFNClient"
    state_machine_arn: str
    silence_seconds: int
    pause_seconds: int = 0
    trace_header: Callable[[], str | None] = lambda: None

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """Ask once; a name that is taken is ours, whatever state it is in."""
        header = self.trace_header()
        try:
            # The trace is no part of what makes a repeated start the same: name and input are.
            self.client.start_execution(
                stateMachineArn=self.state_machine_arn,
                name=order.run_id,
                input=execution_input(order, self.silence_seconds, self.pause_seconds),
                **({} if header is None else {"traceHeader": header}),
            )
        except (ClientError, BotoCoreError) as error:
            return _read(error)
        return LaunchResult(LaunchAnswer.LAUNCHED)

    def stop(self, run_id: str) -> None:
        """Ask for the end of an execution; one that is over or never was is no error.

        Raises:
            ExecutionsUnavailable: it may still run; a later tick asks again.
            LaunchImpossible: stopping is not allowed.
        """
        try:
            self.client.stop_execution(
                executionArn=self.execution_arn(run_id), error="Cancelled", cause="cancelled"
            )
        except (ClientError, BotoCoreError) as error:
            if code_of(error) not in _ALREADY_OVER:
                raise translated(error) from error

    def execution_arn(self, run_id: str) -> str:
        """The address of the execution named after a run."""
        return execution_arn(self.state_machine_arn, run_id)


def execution_arn(state_machine_arn: str, run_id: str) -> str:
    """The address of one execution of a state machine."""
    return f"{state_machine_arn.replace(':stateMachine:', ':execution:', 1)}:{run_id}"


def execution_input(order: LaunchOrder, silence_seconds: int, pause_seconds: int = 0) -> str:
    """The input of an execution: the same bytes for every attempt of one admission.

    Text is not escaped to ASCII, so that a payload's size here is the size that was checked.
    """
    slot = order.slot
    scheduled_for = slot.scheduled_for
    retry = slot.retry or _ONE_ATTEMPT
    text = "prompt" if order.payload.kind is ActionKind.AGENT else "command"
    facts: dict[str, Any] = {
        "run_id": slot.run_id,
        "task_id": slot.task_id,
        "user_id": slot.keys.user_id,
        "nonce": slot.nonce,
        "slot_pk": f"ACTIVE#{slot.keys.slot_shard}",
        "trigger": slot.trigger.value,
        "scheduled_for": None if scheduled_for is None else format_instant(scheduled_for),
        "thread_id": slot.thread_id,
        "assistant_id": slot.assistant_id,
        "title": slot.title,
        "action": {"kind": order.payload.kind.value, text: order.payload.text},
        "timeout_seconds": slot.timeout_seconds,
        "max_wait_seconds": attempt_seconds(slot.timeout_seconds, silence_seconds, pause_seconds),
        "max_pause_seconds": pause_seconds,
        "previous": None if order.previous is None else _previous(order.previous),
        "turn": {"attempt": 1},
        "retry": {
            "max_attempts": retry.max_attempts,
            "on": list(retry.reasons()),
            "waits": list(retry.waits()),
        },
    }
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _previous(previous: PreviousResult) -> dict[str, Any]:
    """Beside the prompt, and never in it."""
    scheduled_for, finished_at = previous.scheduled_for, previous.finished_at
    return {
        "run_id": previous.run_id,
        "scheduled_for": None if scheduled_for is None else format_instant(scheduled_for),
        "finished_at": None if finished_at is None else format_instant(finished_at),
        "result": None if previous.result is None else dict(previous.result),
    }


def _read(error: ClientError | BotoCoreError) -> LaunchResult:
    code = code_of(error)
    if code == "ExecutionAlreadyExists":
        return LaunchResult(LaunchAnswer.LAUNCHED)
    if code in _THIS_INPUT:
        return LaunchResult(LaunchAnswer.REFUSED, f"Step Functions refused the launch: {code}.")
    if is_systemic(error):
        raise translated(error) from error
    return LaunchResult(LaunchAnswer.UNKNOWN, code)
