"""The template as CloudFormation reads it, for the tests that hold it against the code."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from cfnlint.decode import decode_str  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE_PATH = ROOT / "template.yaml"
WORKFLOW_PATH = ROOT / "functions" / "workflow" / "run.asl.yaml"
FUNCTION = "AWS::Serverless::Function"


@cache
def template() -> dict[str, Any]:
    """The template with every short form of a function spelled out."""
    read, problems = decode_str(TEMPLATE_PATH.read_text(encoding="utf-8"))
    assert not problems, problems
    assert read is not None
    return dict(read)


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """Properties of all resources of one type, by logical name."""
    found = {
        name: dict(resource["Properties"])
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }
    assert found, f"The template has no {kind}."
    return found


def functions() -> dict[str, dict[str, Any]]:
    """Properties of the three functions, what all share included, by the name of their folder."""
    shared = template()["Globals"]["Function"]
    found = {}
    for own in resources(FUNCTION).values():
        variables = shared["Environment"]["Variables"] | own["Environment"]["Variables"]
        folder = own["Handler"].split(".")[0]
        found[folder] = {**shared, **own, "Environment": {"Variables": variables}}
    return found


def logical_name(folder: str) -> str:
    """The resource name of the function in that folder."""
    return f"{folder.capitalize()}Function"


def target(node: Any) -> str:
    """The logical name that a `Ref` or `Fn::GetAtt` points at."""
    if "Ref" in node:
        return str(node["Ref"])
    reached = node["Fn::GetAtt"]
    return str(reached.split(".")[0] if isinstance(reached, str) else reached[0])


def statements(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What a policy says, with all that only some deployments get."""
    said = document["Statement"]
    return [entry["Fn::If"][1] if "Fn::If" in entry else entry for entry in said]


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside a piece of the template, itself included."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def parameter_defaults() -> dict[str, str]:
    """What each parameter is when a deployment says nothing."""
    return {name: str(entry["Default"]) for name, entry in template()["Parameters"].items()}


def stages() -> dict[str, dict[str, str]]:
    """The parameters that each stage of `samconfig.toml` deploys with, by stage."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    found = {}
    for stage, commands in config.items():
        if isinstance(commands, dict) and "deploy" in commands:
            pairs = commands["deploy"]["parameters"]["parameter_overrides"].split()
            found[stage] = dict(pair.split("=", 1) for pair in pairs)
    assert found
    return found


def environment(folder: str, parameters: dict[str, str]) -> dict[str, str]:
    """A function's environment as deployed; what only AWS can know stands as its name."""
    deployed = parameter_defaults() | parameters
    variables = functions()[folder]["Environment"]["Variables"]
    return {
        name: deployed.get(target(value), target(value)) if "Ref" in value else str(value)
        for name, value in variables.items()
    }


@cache
def workflow() -> dict[str, Any]:
    """The state machine, its substitutions standing as `${Name}`."""
    definition: dict[str, Any] = yaml.safe_load(WORKFLOW_PATH.read_text(encoding="utf-8"))
    return definition
