"""What the in-memory ports share: one state, one lock, and a place to interrupt them."""

import copy
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from nightshift.domain.errors import CorruptRecord, PersistenceUncertain, StorageUnavailable
from nightshift.domain.exchanged import DueHint, TaskRef, Thread
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.pause import wakes_at
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Task

if TYPE_CHECKING:
    from nightshift.domain.model.change import Change
    from nightshift.domain.model.override import Override

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")
Interruption = Callable[[], object]


@dataclass
class TaskRow:
    """A task as stored, with its entry of the due index."""

    task: Task
    entry: DueHint | None
    corrupt: str | None = None

    def read(self) -> Task:
        """A copy of the task.

        Raises:
            CorruptRecord: the row was made unreadable.
        """
        if self.corrupt is not None:
            raise CorruptRecord(self.corrupt)
        return copied(self.task)


@dataclass
class SlotRow:
    """A slot as stored."""

    slot: Slot
    corrupt: bool = False


@dataclass
class RunRow:
    """A run as stored."""

    run: Run
    corrupt: bool = False


class State:
    """All rows, and the lock that makes every port method one step.

    `calls` counts the port methods called, under names such as `tasks.read`.
    """

    def __init__(self, policy: Policy) -> None:
        self.lock = threading.RLock()
        self.policy = policy
        self.override: Override | None = None
        self.overrides: list[Override] = []
        self.tasks: dict[TaskRef, TaskRow] = {}
        self.payloads: dict[tuple[TaskRef, int], Payload] = {}
        self.threads: dict[tuple[str, str], Thread] = {}
        self.slots: dict[str, SlotRow] = {}
        self.seats: dict[int, str] = {}
        self.user_seats: dict[tuple[str, int], str] = {}
        self.thread_locks: dict[tuple[str, str], str] = {}
        self.runs: dict[str, dict[str, RunRow]] = defaultdict(dict)
        self.changes: dict[str, list[Change]] = defaultdict(list)
        self.used_keys: dict[tuple[str, str], UsedKey] = {}
        self.outbox: dict[str, Outgoing] = {}
        self.damaged_notices: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.unplugged = False
        self.loses_answers = False
        self._interruptions: dict[tuple[str, str], deque[Interruption]] = defaultdict(deque)

    def interrupt(self, moment: str, operation: str, action: Interruption) -> None:
        """Run `action` once, `before` or `after` the next call of `operation`.

        An action that raises makes the call raise: before, nothing was written; after, it was.
        """
        with self.lock:
            self._interruptions[moment, operation].append(action)

    def reach(self, moment: str, operation: str) -> None:
        """Run what waits for this moment of this operation, outside the lock."""
        with self.lock:
            if moment == "before":
                self.calls[operation] += 1
            waiting = self._interruptions[moment, operation]
            action = waiting.popleft() if waiting else None
        if action is not None:
            action()

    def put(self, task: Task) -> None:
        """Store a task together with its entry of the due index (K1)."""
        ref = TaskRef(task.user_id, task.id)
        self.tasks[ref] = TaskRow(copied(task), due_entry(task))

    def announce(self, notices: Sequence[Outgoing]) -> None:
        """Put notices into the outbox, together with whatever else is being written."""
        self.outbox.update({outgoing.notice.id: outgoing for outgoing in notices})

    def standing_use(self, key: UsedKey | None) -> UsedKey | None:
        """The use that stands in the way of this one, if it is not over by then."""
        if key is None:
            return None
        used = self.used_keys.get((key.user_id, key.name))
        return None if used is None or used.is_over(key.used_at) else used


class Port(Protocol):
    """What the two guards need to know of the object whose method it guards."""

    name: str
    state: State


Self = TypeVar("Self", bound=Port)


def reading(
    method: Callable[Concatenate[Self, Arguments], Value],
) -> Callable[Concatenate[Self, Arguments], Value]:
    """Make a port method that reads one step under the lock, with two moments of interruption."""

    @wraps(method)
    def guarded(self: Self, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        operation = f"{self.name}.{method.__name__}"
        self.state.reach("before", operation)
        with self.state.lock:
            if self.state.unplugged:
                raise StorageUnavailable
            result = method(self, *args, **kwargs)
        self.state.reach("after", operation)
        return result

    return guarded


def writing(
    method: Callable[Concatenate[Self, Arguments], Value],
) -> Callable[Concatenate[Self, Arguments], Value]:
    """The same for a method that writes: its lost answer leaves what was written."""

    @wraps(method)
    def guarded(self: Self, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        operation = f"{self.name}.{method.__name__}"
        self.state.reach("before", operation)
        with self.state.lock:
            if self.state.unplugged:
                raise StorageUnavailable
            result = method(self, *args, **kwargs)
            if self.state.loses_answers:
                raise PersistenceUncertain
        self.state.reach("after", operation)
        return result

    return guarded


def due_entry(task: Task) -> DueHint | None:
    """The entry of the due index, there exactly when the clock may start or wake the task (K1)."""
    wakes = wakes_at(task) is not None
    due_at = task.state.due_at
    if due_at is None or not (wakes or task.is_armed):
        return None
    return DueHint(TaskRef(task.user_id, task.id), task.definition.priority, due_at, wakes)


_RUN_FIELDS = tuple(field.name for field in fields(Run))
_PLAIN = frozenset({"schedule", "result"})


def copied(value: Value) -> Value:
    """A copy that shares nothing that anybody changes, as a row read from a table does."""
    match value:
        case Task():
            if not value.definition.labels:
                return value
            definition = replace(value.definition, labels=dict(value.definition.labels))
            return replace(value, definition=definition)
        case Run():
            twin = object.__new__(type(value))
            for name in _RUN_FIELDS:  # many times as fast as `replace`, and as often called
                part = getattr(value, name)
                object.__setattr__(twin, name, _plain(part) if name in _PLAIN else part)
            return twin
        case Slot():
            return value
        case _:
            return copy.deepcopy(value)


def _plain(value: object) -> object:
    """A copy of plain JSON."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
