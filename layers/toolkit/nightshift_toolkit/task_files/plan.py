"""What has to be done so that the tasks of a label are those of a file, and nothing more."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nightshift_toolkit.resources import Task
from nightshift_toolkit.task_files.document import NAME_LABEL
from nightshift_toolkit.task_files.entries import Wanted

_TIMES = frozenset({"schedule_spec", "timezone", "starts_at", "ends_at", "max_runs"})


@dataclass(frozen=True, slots=True)
class Change:
    """A task that differs: its fields as they are and as the file wants them."""

    task: Task
    wanted: Wanted
    fields: Mapping[str, tuple[Any, Any]]

    @property
    def body(self) -> dict[str, Any]:
        """What an edit sends: the new value of every field that differs."""
        return {name: new for name, (_, new) in self.fields.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """The way from what is there to what a file wants."""

    create: Sequence[Wanted]
    change: Sequence[Change]
    delete: Sequence[Task]
    unchanged: Sequence[Task]

    @property
    def empty(self) -> bool:
        """Whether everything is as the file wants it."""
        return not (self.create or self.change or self.delete)


def plan_of(wanted: Sequence[Wanted], existing: Iterable[Task], now: datetime) -> Plan:
    """Compare a file with the tasks that its label owns.

    Of two tasks with the same name the older one is kept. What is to be created, and a schedule
    that changes, must be one that could be submitted now.

    Args:
        wanted: the tasks of the file.
        existing: those of its label, whole, oldest first.
        now: when it would be done.

    Raises:
        FaultyFileError: a schedule could not be submitted now.
    """
    named: dict[str, Task] = {}
    delete = []
    names = {one.name for one in wanted}
    for task in existing:
        name = task["labels"].get(NAME_LABEL, "")
        if name in names and name not in named:
            named[name] = task
        else:
            delete.append(task)
    create = [one for one in wanted if one.name not in named]
    compared = [
        Change(named[one.name], one, _differences(named[one.name], one))
        for one in wanted
        if one.name in named
    ]
    change = [one for one in compared if one.fields]
    moved = [one.wanted for one in change if one.fields.keys() & _TIMES]
    for one in [*create, *moved]:
        one.ensure_can_be_submitted(now)
    return Plan(create, change, delete, [one.task for one in compared if not one.fields])


def _differences(task: Task, wanted: Wanted) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    for name, new in wanted.shown.items():
        old = task[name]  # type: ignore[literal-required]
        if name == "schedule_spec" and "anchor" not in new:
            old = {part: value for part, value in old.items() if part != "anchor"}
        if old != new:
            found[name] = (old, new)
    return found
