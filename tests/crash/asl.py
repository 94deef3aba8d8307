"""Executes the deployed state machine definition step by step, in the time of the test.

Only what the definition of a run uses is known; anything else raises. A generator yields where the
machine waits for a worker, so that whoever drives it decides when, and whether, work goes on.
"""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

from intrinsics import value_of
from nightshift_toolkit.schema import TEMPLATE

DEFINITION = TEMPLATE.parent / "functions" / "workflow" / "run.asl.yaml"
ARN_OF_COMPLETION = "arn:aws:lambda:us-east-1:000000000000:function:completion"


class StateError(Exception):
    """An error that a state may retry or catch by its name."""

    def __init__(self, name: str, cause: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.cause = cause


class Resources(Protocol):
    """What the states call; each raises `StateError`."""

    def transact(self, parameters: Mapping[str, Any]) -> None:
        """Send a transaction to the table."""

    def update(self, parameters: Mapping[str, Any]) -> None:
        """Update one row of the table."""

    def invoke(self, parameters: Mapping[str, Any]) -> None:
        """Invoke a function."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an execution ended by itself."""

    status: str
    output: str | None = None
    error: str | None = None
    cause: str | None = None


def read_definition(**substitutions: str) -> dict[str, Any]:
    """The definition as it is deployed, with its substitutions."""
    text = DEFINITION.read_text("utf-8")
    for name, value in substitutions.items():
        text = text.replace("${" + name + "}", value)
    definition: dict[str, Any] = yaml.safe_load(text)
    return definition


def execute(
    definition: Mapping[str, Any], data: Any, resources: Resources, entered: Callable[[], str]
) -> Generator[Any, Any, Ended]:
    """Run the machine; yields the message to the worker and is sent the worker's report.

    A wait takes no time.     Throw a `StateError` in to let the wait for the worker fail.

    Args:
        definition: what `read_definition` gave.
        data: the input, parsed.
        resources: what is called.
        entered: tells the present instant, as `$$.State.EnteredTime` spells it.
    """
    name = definition["StartAt"]
    while True:
        state = definition["States"][name]
        context = {"State": {"EnteredTime": entered()}, "Task": {"Token": "token"}}
        match state["Type"]:
            case "Succeed":
                return Ended("SUCCEEDED", output=json.dumps(data))
            case "Fail":
                return _failed(state, data, context)
            case "Pass":
                made = _filled(state["Parameters"], data, context)
                data = _placed(data, state["ResultPath"], made) if "ResultPath" in state else made
                name = state["Next"]
            case "Wait":
                assert _value(state["SecondsPath"], data, context) > 0
                name = state["Next"]
            case "Choice":
                name = next(
                    (choice["Next"] for choice in state["Choices"] if _holds(choice, data)),
                    state["Default"],
                )
            case "Task":
                data, name = yield from _task(state, data, resources, context)
            case unknown:
                raise NotImplementedError(unknown)


def _task(
    state: Mapping[str, Any], data: Any, resources: Resources, context: Mapping[str, Any]
) -> Generator[Any, Any, tuple[Any, str]]:
    tries = [retry.get("MaxAttempts", 3) for retry in state.get("Retry", [])]
    while True:
        try:
            result = yield from _call(state, _filled(state["Parameters"], data, context), resources)
        except StateError as error:
            place = _matching(state.get("Retry", []), error)
            if place is not None and tries[place] > 0:
                tries[place] -= 1
                continue
            caught = _matching(state.get("Catch", []), error)
            if caught is None:
                raise
            catcher = state["Catch"][caught]
            told = {"Error": error.name, "Cause": error.cause}
            return _placed(data, catcher["ResultPath"], told), catcher["Next"]
        return _placed(data, state["ResultPath"], result), state["Next"]


def _call(
    state: Mapping[str, Any], parameters: Any, resources: Resources
) -> Generator[Any, Any, Any]:
    match state["Resource"].rpartition(":::")[2]:
        case "aws-sdk:dynamodb:transactWriteItems":
            resources.transact(parameters)
            return {}
        case "aws-sdk:dynamodb:updateItem":
            resources.update(parameters)
            return {}
        case "sqs:sendMessage.waitForTaskToken":
            return (yield parameters["MessageBody"])
        case "lambda:invoke":
            resources.invoke(parameters)
            return {}
        case unknown:
            raise NotImplementedError(unknown)


def _matching(rules: list[Mapping[str, Any]], error: StateError) -> int | None:
    for place, rule in enumerate(rules):
        if error.name in rule["ErrorEquals"] or "States.ALL" in rule["ErrorEquals"]:
            return place
    return None


def _placed(data: Any, path: str | None, result: Any) -> Any:
    return data if path is None else data | {path.removeprefix("$."): result}


def _failed(state: Mapping[str, Any], data: Any, context: Mapping[str, Any]) -> Ended:
    error = state.get("Error") or _value(state["ErrorPath"], data, context)
    cause = state.get("Cause") or _value(state["CausePath"], data, context)
    return Ended("FAILED", error=error, cause=cause)


def _holds(rule: Mapping[str, Any], data: Any) -> bool:
    if "And" in rule:
        return all(_holds(part, data) for part in rule["And"])
    present, value = _found(rule["Variable"], data)
    [(operator, wanted)] = [part for part in rule.items() if part[0] not in ("Variable", "Next")]
    match operator:
        case "IsPresent":
            return bool(present == wanted)
        case "IsString":
            return bool(isinstance(value, str) == wanted)
        case "IsNumeric":
            return bool(isinstance(value, int) == wanted)
        case "StringEquals" | "BooleanEquals":
            return bool(value == wanted)
        case "NumericLessThanPath":
            return bool(value < _found(wanted, data)[1])
        case unknown:
            raise NotImplementedError(unknown)


def _found(path: str, data: Any) -> tuple[bool, Any]:
    for name in path.split(".")[1:]:
        if not isinstance(data, dict) or name not in data:
            return False, None
        data = data[name]
    return True, data


def _filled(template: Any, data: Any, context: Mapping[str, Any]) -> Any:
    if isinstance(template, list):
        return [_filled(part, data, context) for part in template]
    if not isinstance(template, dict):
        return template
    return {
        name.removesuffix(".$"): _value(part, data, context)
        if name.endswith(".$")
        else _filled(part, data, context)
        for name, part in template.items()
    }


def _value(path: str, data: Any, context: Mapping[str, Any]) -> Any:
    def look_up(place: str) -> Any:
        present, value = _found(place, context if place.startswith("$$") else data)
        if not present:
            raise StateError("States.Runtime", f"{place} is not there")
        return value

    return value_of(path, look_up)
