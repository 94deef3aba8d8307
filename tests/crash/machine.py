"""Step Functions as AWS documents it, answering below botocore and driven by the test.

An execution starts when the test lets it, however late, and waits in its work until the test says
how that ended. Its states are those of the deployed definition, its fence a transaction on the
real table.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from crash import asl
from crash.faults import Killed
from nightshift.domain.model.instants import format_instant

PREFIX = "arn:aws:states:us-east-1:000000000000"
MACHINE = f"{PREFIX}:stateMachine:nightshift"
SUCCESS = {"outcome": "success", "result": {"exit_code": 0, "output": "", "truncated": False}}
FAILURE = {"outcome": "failed", "reason": "nonzero_exit", "error": "exit code 1"}

Signal = dict[str, Any]
Report = Mapping[str, Any] | asl.StateError
"""What a worker reports, or what its state machine catches instead."""


class ServiceError(Exception):
    """A refusal, by its code."""


@dataclass
class Execution:
    """One execution; `steps` is None before it started and after it ended."""

    name: str
    input: str
    asked_at: datetime
    status: str = "RUNNING"
    steps: Generator[Any, Any, asl.Ended] | None = None
    at_work: bool = False
    ended_at: datetime | None = None
    ended: asl.Ended | None = None

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.status == "RUNNING"


class StateMachine:
    """All executions of the one state machine.

    `worked` counts the messages of one attempt that reached a worker, by run id; `reported` are the
    runs whose work, or the patience with it, has come to an end; `refusals` are error codes for the
    next starts; `signals` are the status changes that nobody has been told of yet; `fence_errors`
    are what the next crossings of a fence meet, each with whether the table was written all the
    same; `attempts_by` is the client that writes attempts, where its calls meet a fault.
    """

    def __init__(self, dynamodb: Any, table: str, now: Callable[[], datetime]) -> None:
        self.definition = asl.read_definition(
            TableName=table, CompletionFunctionArn=asl.ARN_OF_COMPLETION
        )
        self._dynamodb = dynamodb
        self._table = table
        self._now = now
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget every execution."""
        self.record: Callable[[Signal], None] | None = None
        self.executions: dict[str, Execution] = {}
        self.worked: Counter[str] = Counter()
        self._sent: Counter[tuple[str, int]] = Counter()
        self.reported: set[str] = set()
        self.refusals: list[str] = []
        self.signals: list[Signal] = []
        self.fence_errors: list[tuple[str, bool]] = []
        self.attempts_by: Any = None

    # -- what the API answers --

    def answer(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one call.

        Raises:
            ServiceError: with the code that AWS documents.
        """
        with self._lock:
            match operation:
                case "StartExecution":
                    return self._start(request["name"], request["input"])
                case "StopExecution":
                    return self._stop(_named(request["executionArn"]))
                case "DescribeExecution":
                    return self._describe(_named(request["executionArn"]))
                case "ListExecutions":
                    return {"executions": [self._summary(known) for known in self.running]}
                case unknown:
                    raise NotImplementedError(unknown)

    def _start(self, name: str, text: str) -> dict[str, Any]:
        if self.refusals:
            raise ServiceError(self.refusals.pop(0))
        known = self.executions.setdefault(name, Execution(name, text, self._now()))
        if not known.running or known.input != text:
            raise ServiceError("ExecutionAlreadyExists")
        return {"executionArn": _arn(name), "startDate": known.asked_at.timestamp()}

    def _stop(self, name: str) -> dict[str, Any]:
        known = self._known(name)
        if known.running:
            self._end(known, asl.Ended("ABORTED", error="Cancelled", cause="cancelled"))
        return {"stopDate": known.ended_at.timestamp() if known.ended_at else 0}

    def _describe(self, name: str) -> dict[str, Any]:
        known = self._known(name)
        told: dict[str, Any] = self._summary(known) | {"input": known.input}
        if known.ended is not None and known.ended_at is not None:
            told |= _said(known.ended) | {"stopDate": known.ended_at.timestamp()}
        return told

    def _summary(self, known: Execution) -> dict[str, Any]:
        return {
            "executionArn": _arn(known.name),
            "stateMachineArn": MACHINE,
            "name": known.name,
            "status": known.status,
            "startDate": known.asked_at.timestamp(),
        }

    def _known(self, name: str) -> Execution:
        if name not in self.executions:
            raise ServiceError("ExecutionDoesNotExist")
        return self.executions[name]

    # -- what the test drives --

    @property
    def running(self) -> list[Execution]:
        """The executions that have not ended."""
        return [known for known in self.executions.values() if known.running]

    def begin(self) -> None:
        """Let every execution that was asked for start; it passes its fence or ends as fenced."""
        for known in self.running:
            if known.steps is None:
                known.steps = asl.execute(
                    self.definition, json.loads(known.input), self, self._entered
                )
                self._step(known, None)

    def pick_up(self, name: str) -> None:
        """Let a worker win the message that an execution sent last."""
        known = json.loads(self.executions[name].input)
        self._dynamodb.update_item(
            TableName=self._table,
            Key={"pk": {"S": f"TASK#{known['task_id']}"}, "sk": {"S": f"RUN#{name}"}},
            UpdateExpression="SET picked_up_attempt = attempt",
        )

    def report(self, name: str, report: Report) -> None:
        """Let the worker of an execution report, or its state machine lose patience."""
        known = self.executions[name]
        assert known.at_work
        known.at_work = False
        self.reported.add(name)
        self._step(known, report)

    def attempts_of(self, name: str) -> int:
        """How many attempts of a run were sent to workers."""
        return max((attempt for run_id, attempt in self._sent if run_id == name), default=0)

    def report_all(self, report: Mapping[str, Any]) -> None:
        """Let every worker report the same."""
        for known in self.running:
            if known.at_work:
                self.report(known.name, report)

    def break_down(self, name: str, error: str) -> None:
        """Let an execution fail where no state catches it, and nothing is recorded."""
        self._end(self.executions[name], asl.Ended("FAILED", error=error, cause="no state"))

    def time_out(self, name: str) -> None:
        """Let an execution reach the time-out of its state machine."""
        self._end(self.executions[name], asl.Ended("TIMED_OUT"))

    def statuses(self) -> dict[str, str | None]:
        """The status of every execution."""
        return {name: known.status for name, known in self.executions.items()}

    def _step(self, known: Execution, word: Report | None) -> None:
        assert known.steps is not None
        try:
            if isinstance(word, asl.StateError):
                message = known.steps.throw(word)
            else:
                message = known.steps.send(word)
        except StopIteration as stop:
            self._end(known, stop.value)
        except asl.StateError as uncaught:
            self._end(known, asl.Ended("FAILED", error=uncaught.name, cause=uncaught.cause))
        else:
            known.at_work = True
            self._sent[known.name, message["attempt"]] += 1
            self.worked[known.name] = max(
                self.worked[known.name], self._sent[known.name, message["attempt"]]
            )

    def _end(self, known: Execution, ended: asl.Ended) -> None:
        if not known.running:
            return
        known.status, known.ended, known.ended_at = ended.status, ended, self._now()
        known.at_work = False
        known.steps = None
        detail = self._summary(known) | _said(ended)
        detail["stopDate"] = int(known.ended_at.timestamp() * 1000)
        self.signals.append(
            {
                "source": "aws.states",
                "detail-type": "Step Functions Execution Status Change",
                "detail": detail,
            }
        )

    def _entered(self) -> str:
        return format_instant(self._now())

    # -- what the states call --

    def transact(self, parameters: Mapping[str, Any]) -> None:
        """See `asl.Resources`."""
        error, written = self.fence_errors.pop(0) if self.fence_errors else (None, True)
        if written:
            self._transact(parameters)
        if error is not None:
            raise asl.StateError(error)

    def _transact(self, parameters: Mapping[str, Any]) -> None:
        self._ask(self._dynamodb.transact_write_items, parameters)

    def update(self, parameters: Mapping[str, Any]) -> None:
        """See `asl.Resources`."""
        self._ask((self.attempts_by or self._dynamodb).update_item, parameters)

    @staticmethod
    def _ask(call: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
        try:
            call(**parameters)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            raise asl.StateError(f"DynamoDb.{code.removesuffix('Exception')}Exception") from error
        except (BotoCoreError, Killed) as error:
            raise asl.StateError("DynamoDb.SdkClientException") from error

    def invoke(self, parameters: Mapping[str, Any]) -> None:
        """See `asl.Resources`; without anybody to record, the function cannot be reached."""
        assert parameters["FunctionName"] == asl.ARN_OF_COMPLETION
        if self.record is None:
            raise asl.StateError("Lambda.ServiceException")
        self.record(dict(parameters["Payload"]))


def _named(arn: str) -> str:
    return arn.rpartition(":")[2]


def _arn(name: str) -> str:
    return f"{PREFIX}:execution:nightshift:{name}"


def _said(ended: asl.Ended) -> dict[str, Any]:
    said = {"output": ended.output, "error": ended.error, "cause": ended.cause}
    return {name: text for name, text in said.items() if text is not None}
