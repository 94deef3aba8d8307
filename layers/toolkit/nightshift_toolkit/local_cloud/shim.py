"""Where ministack's Step Functions would lie to its user, corrected in its own process.

Nightshift stands on heartbeats, timeouts and cancellation. ministack 1.5.33 ignores the first and
most of the second, and lets a stopped execution work on. There is no public call for any of it, so
private functions are replaced, in this one place and for this one version. Every function here says
what AWS does and what ministack does instead; one test each pins it.
"""

from __future__ import annotations

import contextvars
import json
import re
import threading
import time
import uuid
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from ministack.core.responses import (  # type: ignore[import-untyped]
    error_response_json,
    json_response,
    now_iso,
)
from ministack.services import stepfunctions as states  # type: ignore[import-untyped]

from nightshift_toolkit.local_cloud.errors import UnsupportedEngineError

SUPPORTED_VERSION = "1.5.33"
_MESSAGE_OF_A_TAKEN_NAME = re.compile(r"'(arn:[^']+)'")
_LONGEST_WAIT_SECONDS = 3600.0

State = dict[str, Any]
Response = tuple[int, dict[str, str], bytes]


class _EndedError(BaseException):
    """The execution has ended: its thread has nothing left to do, and nothing to catch."""


@dataclass(eq=False)
class _Life:
    """One running execution: the end of it, and the task tokens that end with it.

    A token's value is the record that ministack keeps of it, with `last_word_at` put in: when a
    worker last spoke, on the monotonic clock.
    """

    execution: State
    ended: threading.Event = field(default_factory=threading.Event)
    waits: dict[str, State] = field(default_factory=dict)
    context: State = field(default_factory=dict)

    def check(self) -> None:
        if self.ended.is_set():
            raise _EndedError


_current: contextvars.ContextVar[_Life | None] = contextvars.ContextVar("life", default=None)
_lives: dict[str, _Life] = {}
# A token is answered or it expires, never both.
_tokens = threading.Lock()

_run_execution = states._run_execution
_start_execution = states._start_execution
_stop_execution = states._stop_execution
_fail_execution = states._fail_execution
_execute_task = states._execute_task
_invoke_resource = states._invoke_resource
_scaled_sleep = states._scaled_sleep
_send = {
    name: getattr(states, name)
    for name in ("_send_task_success", "_send_task_failure", "_send_task_heartbeat")
}


def install() -> None:
    """Put the corrections in place.

    Raises:
        UnsupportedEngineError: ministack is not the version that they were written for.

    """
    installed = version("ministack")
    if installed != SUPPORTED_VERSION:
        raise UnsupportedEngineError(installed, SUPPORTED_VERSION)
    states._run_execution = run_execution
    states._start_execution = start_execution
    states._stop_execution = stop_execution
    states._fail_execution = fail_execution
    states._execute_task = execute_task
    states._invoke_resource = invoke_resource
    states._invoke_with_callback = invoke_with_callback
    states._scaled_sleep = scaled_sleep
    for name in _send:
        setattr(states, name, _sender(name))


def start_execution(data: State) -> Response:
    """AWS: the same name and input while it runs is the same execution. ministack: an error."""
    response: Response = _start_execution(data)
    named = _MESSAGE_OF_A_TAKEN_NAME.search(response[2].decode())
    if response[0] != 200 and b"ExecutionAlreadyExists" in response[2] and named:  # noqa: PLR2004
        running = states._executions.get(named.group(1))
        if running["status"] == "RUNNING" and running["input"] == data.get("input", "{}"):
            same = {"executionArn": running["executionArn"], "startDate": running["startDate"]}
            response = json_response(same)
    return response


def run_execution(arn: str) -> None:
    """AWS: `TimeoutSeconds` of the machine ends it as TIMED_OUT. ministack: ignored."""
    execution = states._executions.get(arn)
    if execution is None:
        return
    life = _Life(execution)
    _lives[arn] = life
    _current.set(life)
    timer = _machine_timer(life)
    try:
        _run_execution(arn)
    except _EndedError:
        pass
    finally:
        if timer is not None:
            timer.cancel()
        _lives.pop(arn, None)


def _machine_timer(life: _Life) -> threading.Timer | None:
    machine = states._state_machines.get(life.execution["stateMachineArn"])
    seconds = json.loads(machine["definition"]).get("TimeoutSeconds") if machine else None
    if seconds is None:
        return None
    # The event that it sends belongs to the account and region of the execution.
    timer = threading.Timer(seconds, contextvars.copy_context().run, args=(_time_out, life))
    timer.daemon = True
    timer.start()
    return timer


def _time_out(life: _Life) -> None:
    execution = life.execution
    if execution["status"] != "RUNNING":
        return
    execution.update(status="TIMED_OUT", stopDate=now_iso())
    states._add_event(execution, "ExecutionTimedOut", {"executionTimedOutEventDetails": {}})
    _end(life)
    states._emit_execution_status_event(execution)


def stop_execution(data: State) -> Response:
    """AWS: nothing runs on and its task tokens are dead. ministack: marks the execution alone."""
    response: Response = _stop_execution(data)
    life = _lives.get(data.get("executionArn", ""))
    if life is not None and life.execution["status"] != "RUNNING":
        _end(life)
    return response


def _end(life: _Life) -> None:
    life.ended.set()
    with _tokens:
        for token, wait in life.waits.items():
            states._task_tokens.pop(token, None)
            wait["event"].set()


def fail_execution(execution: State, error: str, cause: str) -> None:
    """AWS: an end is final. ministack: a failure overwrites the ABORTED of a stopped execution."""
    if execution["status"] == "RUNNING":
        _fail_execution(execution, error, cause)


def execute_task(definition: State, raw: Any, execution: State, context: State) -> Any:
    """AWS: `TimeoutSecondsPath` and `HeartbeatSecondsPath` are read. ministack: ignored."""
    literal = dict(definition)
    for name in ("TimeoutSeconds", "HeartbeatSeconds"):
        path = literal.pop(f"{name}Path", None)
        if path is not None:
            literal[name] = _seconds(states._resolve_path_or_ctx(path, raw, context), path)
    life = _current.get()
    if life is not None:
        life.context = context
    return _execute_task(literal, raw, execution, context)


def _seconds(value: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        message = f"{path} must be a positive integer, but the value was: {json.dumps(value)}"
        raise states._ExecutionError("States.Runtime", message)
    return value


def invoke_resource(resource: str, data: Any) -> Any:
    """AWS: a stopped execution calls nothing. ministack: goes on until the state is left."""
    life = _current.get()
    if life is None:
        return _invoke_resource(resource, data)
    life.check()
    result = _invoke_resource(resource, data)
    life.check()
    return result


def scaled_sleep(seconds: float) -> None:
    """AWS: stopping ends a Wait or the pause before a retry. ministack: sleeps on."""
    life = _current.get()
    if life is None:
        _scaled_sleep(seconds)
    elif life.ended.wait(max(0.0, seconds * states._SFN_WAIT_SCALE)):
        raise _EndedError


def invoke_with_callback(resource: str, data: Any, token: str, definition: State) -> Any:
    """AWS: silence beyond `HeartbeatSeconds` fails the state, and its token dies. ministack: waits.

    The token of the next try is another one, as on AWS; ministack would use the same again.
    """
    life = _current.get() or _Life({})
    began = time.monotonic()
    wait: State = {"event": threading.Event(), "result": None, "error": None, "last_word_at": began}
    life.waits[token] = states._task_tokens[token] = wait
    try:
        states._invoke_resource(resource.replace(".waitForTaskToken", ""), data)
        _await_answer(wait, token, definition)
        life.check()
    finally:
        life.context["Task"] = {"Token": states.new_uuid()}
        states._task_tokens.pop(token, None)
        life.waits.pop(token, None)
    if wait["error"] is not None:
        raise states._ExecutionError(wait["error"]["Error"], wait["error"]["Cause"])
    return json.loads(wait["result"])


def _await_answer(wait: State, token: str, definition: State) -> None:
    began = wait["last_word_at"]
    limit, silence = definition.get("TimeoutSeconds"), definition.get("HeartbeatSeconds")
    answered: threading.Event = wait["event"]
    while True:
        ends = []
        if limit is not None:
            ends.append((began + limit, "States.Timeout"))
        if silence is not None:
            ends.append((wait["last_word_at"] + silence, "States.HeartbeatTimeout"))
        end, error = min(ends, default=(time.monotonic() + _LONGEST_WAIT_SECONDS, ""))
        with _tokens:
            if answered.is_set():
                return
            if error and time.monotonic() >= end:
                states._task_tokens.pop(token, None)
                raise states._ExecutionError(error, "")
        answered.wait(max(0.0, end - time.monotonic()))


def _sender(name: str) -> Any:
    """AWS: a token whose state has ended is timed out. ministack: does not know it."""

    def send(data: State) -> Response:
        with _tokens:
            wait = states._task_tokens.get(data.get("taskToken", ""))
            if wait is None:
                return _refuse(data.get("taskToken", ""))
            if "output" in data and not _is_json(data["output"]):
                return _error("InvalidOutput", "Invalid Output: 'The output is not JSON'")
            wait["last_word_at"] = time.monotonic()
            response: Response = _send[name](data)
            return response

    return send


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _refuse(token: str) -> Response:
    try:
        uuid.UUID(token)
    except ValueError:
        return _error("InvalidToken", "Invalid Token: 'Invalid token'")
    return _error("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")


def _error(code: str, message: str) -> Response:
    response: Response = error_response_json(code, message, 400)
    return response
