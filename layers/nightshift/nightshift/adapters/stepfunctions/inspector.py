"""Asks Step Functions what became of executions; what it does not say is not assumed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.adapters.stepfunctions.errors import code_of, translated
from nightshift.adapters.stepfunctions.launcher import execution_arn
from nightshift.domain.exchanged import Execution
from nightshift.domain.model.outcome import outcome_of_execution

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

PAGE = 1000


@dataclass(frozen=True, slots=True)
class StepFunctionsInspector:
    """See `Inspector` for what each method promises."""

    client: "SFNClient"
    state_machine_arn: str

    def running(self) -> frozenset[str]:
        """One page of the running executions, newest first; it clears most candidates cheaply."""
        try:
            answer = self.client.list_executions(
                stateMachineArn=self.state_machine_arn, statusFilter="RUNNING", maxResults=PAGE
            )
        except (ClientError, BotoCoreError) as error:
            raise translated(error) from error
        return frozenset(execution["name"] for execution in answer["executions"])

    def describe(self, run_id: str, now: datetime) -> Execution | None:
        """The word of Step Functions on one run; its own end time where it gives one."""
        arn = execution_arn(self.state_machine_arn, run_id)
        try:
            answer = self.client.describe_execution(executionArn=arn)
        except (ClientError, BotoCoreError) as error:
            if code_of(error) == "ExecutionDoesNotExist":
                return None
            raise translated(error) from error
        stopped = answer.get("stopDate")
        outcome = outcome_of_execution(
            run_id,
            answer["status"],
            output=answer.get("output"),
            error=answer.get("error"),
            cause=answer.get("cause"),
            finished_at=stopped.astimezone(UTC) if stopped else now,
        )
        return Execution(outcome)
