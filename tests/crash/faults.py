"""What can happen to one AWS call of a process, below everything that the project wrote.

A fault sits where botocore sends. It stands for what botocore's own repetitions would have met as
well: a lost answer was sent as often as the deployed client sends it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

TRIES = {"dynamodb": 3, "states": 1}
"""How often the deployed client of each service sends one request that is not answered."""


class Killed(BaseException):
    """The process is no more; nothing in it can catch that."""


class Fault(StrEnum):
    """What happens to the chosen call."""

    DIES_BEFORE = "the process dies before the call"
    DIES_AFTER = "the process dies after the call"
    ANSWER_LOST = "every answer to the call is lost"
    ARRIVES_LATE = "the call times out and arrives much later"
    FIRST_ANSWER_LOST = "the first answer is lost, the repetition is answered"
    UNREACHABLE = "the service cannot be reached"
    SERVER_FAULT = "the service fails after the call"
    THROTTLED = "the call is throttled however often it is repeated"
    CONFLICT = "the call meets another transaction, once"
    CONFLICTS = "the call meets other transactions, however often it is repeated"

    def can_meet(self, call: str) -> bool:
        """Whether this can happen to a call such as `dynamodb.PutItem`."""
        service, _, operation = call.partition(".")
        writes = operation.endswith(("PutItem", "UpdateItem", "DeleteItem", "WriteItems"))
        if self in (Fault.CONFLICT, Fault.CONFLICTS):
            return writes and service == "dynamodb" and operation != "BatchWriteItem"
        if self is Fault.FIRST_ANSWER_LOST:
            return writes and TRIES[service] > 1
        if self is Fault.ARRIVES_LATE:
            return writes or operation in ("StartExecution", "StopExecution")
        return True


Send = Callable[[AWSPreparedRequest], AWSResponse]


@dataclass
class Fate:
    """Counts the calls of one process and lets one of them meet a fault.

    `calls` are the names of all calls that were made, in order, and `bodies` what they said. A
    fault that outlasts one sending holds for all repetitions of the very same request, and for no
    other. `launch` chooses the first start of an execution instead of a place.
    """

    fault: Fault | None = None
    at: int = -1
    launch: bool = False
    calls: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    dead: bool = False
    met: bool = False
    _stuck_on: bytes | None = None
    _late: list[Callable[[], object]] = field(default_factory=list)

    def deliver(self) -> bool:
        """Let the calls arrive that had timed out; whether there were any."""
        late, self._late = self._late, []
        for arrive in late:
            arrive()
        return bool(late)

    def meet(self, request: AWSPreparedRequest, send: Send) -> AWSResponse | None:
        """The answer that the caller gets; None lets the call go its way."""
        if self.dead:
            raise Killed
        service, operation = named(request)
        place = len(self.calls)
        self.calls.append(f"{service}.{operation}")
        self.bodies.append(_body(request))
        chosen = place == self.at or (self.launch and operation == "StartExecution")
        if self.fault is None or not (chosen or self._stuck_on == _body(request)):
            return None
        if chosen:
            self.met = True
            if self.fault in (Fault.THROTTLED, Fault.CONFLICTS):
                self._stuck_on = _body(request)
        return self._happen(self.fault, service, request, send)

    def _happen(
        self, fault: Fault, service: str, request: AWSPreparedRequest, send: Send
    ) -> AWSResponse | None:
        for _ in range(_sendings(fault, service)):
            send(request)
        match fault:
            case Fault.DIES_BEFORE | Fault.DIES_AFTER:
                self.dead = True
                raise Killed
            case Fault.ARRIVES_LATE:
                self._late += [partial(send, request)] * TRIES[service]
                raise ReadTimeoutError(endpoint_url=request.url)
            case Fault.ANSWER_LOST:
                raise ReadTimeoutError(endpoint_url=request.url)
            case Fault.UNREACHABLE:
                raise ConnectTimeoutError(endpoint_url=request.url)
            case Fault.SERVER_FAULT:
                return answered(request, 500, {"__type": "InternalServerError"})
            case Fault.THROTTLED:
                return answered(request, 400, {"__type": _THROTTLE[service]})
            case Fault.CONFLICT | Fault.CONFLICTS:
                return answered(request, 400, _conflict(request))
            case _:
                return None


def _sendings(fault: Fault, service: str) -> int:
    """How often the request reaches the service before the fault shows."""
    if fault in (Fault.ANSWER_LOST, Fault.SERVER_FAULT):
        return TRIES[service]
    return 1 if fault in (Fault.DIES_AFTER, Fault.FIRST_ANSWER_LOST) else 0


_THROTTLE = {
    "dynamodb": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
    "states": "ThrottlingException",
}


def named(request: AWSPreparedRequest) -> tuple[str, str]:
    """The service and operation of a request."""
    target = request.headers["X-Amz-Target"]
    text = target.decode() if isinstance(target, bytes) else str(target)
    version, _, operation = text.partition(".")
    return ("dynamodb" if version.startswith("DynamoDB") else "states"), operation


def _body(request: AWSPreparedRequest) -> bytes:
    body: Any = request.body
    return body.encode() if isinstance(body, str) else bytes(body)


def _conflict(request: AWSPreparedRequest) -> dict[str, Any]:
    """What DynamoDB says when the call meets a transaction on one of its items."""
    prefix = "com.amazonaws.dynamodb.v20120810#"
    asked = json.loads(_body(request))
    if "TransactItems" not in asked:
        return {"__type": f"{prefix}TransactionConflictException"}
    reasons = [{"Code": "None"} for _ in asked["TransactItems"]]
    reasons[-1] = {"Code": "TransactionConflict"}
    return {
        "__type": f"{prefix}TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": reasons,
    }


class _Body:
    """The body of an answer that came over no wire."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self, **_: Any) -> list[bytes]:
        return [self._data]


def answered(request: AWSPreparedRequest, status: int, body: Any) -> AWSResponse:
    """An answer as the service would send it."""
    headers: Any = {"content-type": "application/x-amz-json-1.0"}
    return AWSResponse(request.url, status, headers, _Body(json.dumps(body).encode()))
