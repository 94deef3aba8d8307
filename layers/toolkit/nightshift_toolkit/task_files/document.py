"""The file itself: a label that owns, and named tasks, each with the line it begins at.

label: managed-by=tickets
tasks:
  morning:
    when: every weekday at 9 in New York
    prompt: Summarise yesterday's tickets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from nightshift_toolkit.yaml_text import TextLoader

NAME_LABEL: Final = "name"
"""The label by which a task is found again; its value is the task's name in the file."""
_KEYS: Final = ("label", "tasks")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at one line, counted from 1."""

    line: int
    message: str


class FaultyFileError(ValueError):
    """A file that cannot be used; `faults` are all that were found, by line."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = sorted(faults, key=lambda fault: fault.line)
        super().__init__("\n".join(f"line {fault.line}: {fault.message}" for fault in self.faults))


@dataclass(frozen=True, slots=True)
class Entry:
    """One task of a file, as written; `lines` are those of its fields."""

    name: str
    line: int
    fields: Mapping[str, Any]
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file; `owner` is the label whose tasks are this file's and nobody else's."""

    owner: tuple[str, str]
    entries: Sequence[Entry]


def read_document(text: str) -> Document:
    """The file of a YAML or JSON text.

    Raises:
        FaultyFileError: it is not of the form that is described above.
    """
    try:
        loader = TextLoader(text)
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FaultyFileError([Fault(line, error.problem or "this is not YAML")]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise FaultyFileError([Fault(1, "this is not YAML")]) from error
    if not isinstance(root, yaml.MappingNode):
        raise FaultyFileError([Fault(1, "the file must have a label and tasks.")])
    parts = _pairs(root, loader)
    faults = [
        Fault(key.start_mark.line + 1, f"{name} is no part of the file; it has label and tasks.")
        for name, (key, _) in parts.items()
        if name not in _KEYS
    ]
    faults += [Fault(1, f"{name} is missing.") for name in _KEYS if name not in parts]
    if faults:
        raise FaultyFileError(faults)
    return Document(_owner(parts["label"][1], loader), _entries(parts["tasks"][1], loader))


_Pairs = dict[str, tuple[yaml.Node, yaml.Node]]


def _pairs(node: yaml.MappingNode, loader: TextLoader) -> _Pairs:
    """The keys of a mapping with their nodes; a key that is there twice is a fault."""
    found: _Pairs = {}
    for key, value in node.value:
        name = _built(key, loader)
        line = key.start_mark.line + 1
        if not isinstance(name, str):
            raise FaultyFileError([Fault(line, "a name must be text; put it in quotes.")])
        if name in found:
            raise FaultyFileError([Fault(line, f"{name} is there twice.")])
        found[name] = (key, value)
    return found


def _built(node: yaml.Node, loader: TextLoader) -> Any:
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:
        line = node.start_mark.line + 1
        raise FaultyFileError([Fault(line, "this value cannot be read.")]) from error


def _owner(node: yaml.Node, loader: TextLoader) -> tuple[str, str]:
    value = _built(node, loader)
    key, equals, name = value.partition("=") if isinstance(value, str) else ("", "", "")
    if not (key and equals and name) or key == NAME_LABEL:
        line = node.start_mark.line + 1
        wanted = f"label must be key=value, with another key than {NAME_LABEL}."
        raise FaultyFileError([Fault(line, wanted)])
    return key, name


def _entries(node: yaml.Node, loader: TextLoader) -> list[Entry]:
    if isinstance(node, yaml.ScalarNode) and _built(node, loader) is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        line = node.start_mark.line + 1
        raise FaultyFileError([Fault(line, "tasks must be named: a name, then its fields.")])
    entries, faults = [], []
    for name, (key, value) in _pairs(node, loader).items():
        line = key.start_mark.line + 1
        if not isinstance(value, yaml.MappingNode):
            faults.append(Fault(line, f"{name} must have fields."))
            continue
        try:
            fields = _pairs(value, loader)
            built = {field: _built(of, loader) for field, (_, of) in fields.items()}
        except FaultyFileError as error:
            faults += error.faults
            continue
        lines = {field: at.start_mark.line + 1 for field, (at, _) in fields.items()}
        entries.append(Entry(name, line, built, lines))
    if faults:
        raise FaultyFileError(faults)
    return entries
