"""Walks the state machine as far as its own states go; what a task does is scripted.

Knows exactly the constructs that the definition uses and stops at any other, so that a definition
which grows is not half understood.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from intrinsics import value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT = {"Task": {"Token": "t" * 1024}, "State": {"EnteredTime": "2026-03-02T12:00:00.000Z"}}
_ABSENT = object()


class TaskError(Exception):
    """A task that fails with a name and, mostly, a cause."""

    def __init__(self, name: str, cause: str | None = "") -> None:
        """Fail like AWS: some of its timeouts come without a cause."""
        super().__init__(name)
        self.caught = {"Error": name} if cause is None else {"Error": name, "Cause": cause}


@dataclass
class Ended:
    """How an execution ended and what it asked for on its way."""

    status: str
    error: str | None = None
    cause: str | None = None
    output: str | None = None
    visited: list[str] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)


def run(definition: Mapping[str, Any], start: Any, answers: Mapping[str, Any]) -> Ended:
    """Walk from the first state to the last.

    Args:
        definition: the state machine.
        start: the execution's input.
        answers: by task state, its result, or the `TaskError` it fails with once retries are over;
            a list answers one entry of the state after the other.
    """
    ended = Ended("RUNNING")
    name, data = definition["StartAt"], start
    while True:
        state = definition["States"][name]
        ended.visited.append(name)
        match state["Type"]:
            case "Task":
                ended.asked[name] = render(state["Parameters"], data)
                answer = answers[name]
                answer = answer.pop(0) if isinstance(answer, list) else answer
                name, data = _after_task(state, data, answer)
            case "Choice":
                chosen = (rule["Next"] for rule in state["Choices"] if _holds(rule, data))
                name = next(chosen, state["Default"])
            case "Pass":
                made = render(state["Parameters"], data)
                data = _placed(data, state["ResultPath"], made) if "ResultPath" in state else made
                name = state["Next"]
            case "Wait":
                ended.asked[name] = _value(state["SecondsPath"], data)
                name = state["Next"]
            case "Succeed":
                ended.status, ended.output = "SUCCEEDED", json.dumps(data)
                return ended
            case "Fail":
                ended.status = "FAILED"
                ended.error, ended.cause = (_said(state, part, data) for part in ("Error", "Cause"))
                return ended
            case unknown:
                raise NotImplementedError(unknown)


def render(template: Any, data: Any) -> Any:
    """Fill a `Parameters` template; a path that leads nowhere fails as it would on AWS."""
    if isinstance(template, dict):
        return {
            key.removesuffix(".$"): _value(inner, data)
            if key.endswith(".$")
            else render(inner, data)
            for key, inner in template.items()
        }
    if isinstance(template, list):
        return [render(inner, data) for inner in template]
    return template


def _after_task(state: Mapping[str, Any], data: Any, answer: Any) -> tuple[str, Any]:
    if not isinstance(answer, TaskError):
        return state["Next"], _placed(data, state["ResultPath"], answer)
    for catcher in state["Catch"]:
        names = catcher["ErrorEquals"]
        if names == ["States.ALL"] or answer.caught["Error"] in names:
            return catcher["Next"], _placed(data, catcher["ResultPath"], answer.caught)
    raise AssertionError(f"Nobody catches {answer.caught}.")


def _placed(data: Any, path: str | None, value: Any) -> Any:
    return data if path is None else {**data, path.removeprefix("$."): value}


def _said(state: Mapping[str, Any], part: str, data: Any) -> str:
    text = _value(state[f"{part}Path"], data) if f"{part}Path" in state else state[part]
    assert isinstance(text, str), "Step Functions ends with an error of its own."
    return text


def _value(expression: str, data: Any) -> Any:
    def look_up(path: str) -> Any:
        value = _at(path, data)
        assert value is not _absent(), f"{path} leads nowhere."
        return value

    return value_of(expression, look_up)


def _absent() -> object:
    return _ABSENT


def _at(path: str, data: Any) -> Any:
    reached = CONTEXT if path.startswith("$$.") else data
    for part in path.split(".")[1:]:
        reached = reached.get(part, _ABSENT) if isinstance(reached, dict) else _ABSENT
    return reached


def _holds(rule: Mapping[str, Any], data: Any) -> bool:
    tests = rule.get("And", [rule])
    return all(_passes(test, _at(test["Variable"], data), data) for test in tests)


def _passes(test: Mapping[str, Any], value: Any, data: Any) -> bool:
    [(operator, wanted)] = [item for item in test.items() if item[0] not in ("Variable", "Next")]
    match operator:
        case "IsPresent":
            return (value is not _ABSENT) is wanted
        case "IsString":
            return isinstance(value, str) is wanted
        case "IsNumeric":
            return isinstance(value, int) is wanted
        case "StringEquals":
            return value == wanted and isinstance(value, str)
        case "BooleanEquals":
            return value is wanted
        case "NumericLessThanPath":
            return isinstance(value, int) and value < _value(wanted, data)
        case unknown:
            raise NotImplementedError(unknown)
