"""All that one table holds at one moment, whatever kind of store it came from."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a seat or a thread lock; `nonce` is None where the store keeps none."""

    run_id: str
    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class DueEntry:
    """A place in the line of due tasks."""

    bucket: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything at one moment; None means that the store cannot tell, not that there is nothing.

    Args:
        tasks: every task that can be read.
        runs: every run record that can be read, of tasks that are gone as well.
        slots: every slot that can be read.
        seats: the holder of every taken seat of the global budget.
        user_seats: the same for the limits of single users, by user and number.
        thread_locks: the holder of every thread lock, by user and thread.
        payloads: whose prompts or commands there are, by task and revision.
        due: the index keys on each task's own row; no entry for a task without keys.
        index: the entries of the due index itself, which lags behind the rows.
        expiries: epoch seconds at which the store may remove a run record, by run id.
        quotas: how many tasks each user is counted to have.
        logs: the revisions of which the change log of each task tells, by task id.
        unexpiring: how many entries of each change log never expire, by task id.
        outbox: every notice on its way that can be read.
        executions: Step Functions' status of each execution that was asked for, None for one that
            does not exist.
        unreadable: the keys of rows that cannot be read.
        now: when it was taken (UTC).
    """

    tasks: Sequence[Task] = ()
    runs: Sequence[Run] = ()
    slots: Sequence[Slot] = ()
    seats: Mapping[int, Holder] = field(default_factory=dict)
    user_seats: Mapping[tuple[str, int], Holder] = field(default_factory=dict)
    thread_locks: Mapping[tuple[str, str], Holder] = field(default_factory=dict)
    payloads: frozenset[tuple[TaskRef, int]] = frozenset()
    due: Mapping[TaskRef, DueEntry] = field(default_factory=dict)
    index: Mapping[TaskRef, DueEntry] | None = None
    expiries: Mapping[str, int] | None = None
    quotas: Mapping[str, int] | None = None
    logs: Mapping[str, Collection[int]] = field(default_factory=dict)
    unexpiring: Mapping[str, int] = field(default_factory=dict)
    outbox: Sequence[Outgoing] = ()
    executions: Mapping[str, str | None] = field(default_factory=dict)
    unreadable: Sequence[str] = ()
    now: datetime | None = None

    @cached_property
    def task_of(self) -> Mapping[str, Task]:
        """The tasks by id."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def run_of(self) -> Mapping[str, Run]:
        """The run records by id."""
        return {run.id: run for run in self.runs}

    @cached_property
    def slot_of(self) -> Mapping[str, Slot]:
        """The slots by task id."""
        return {slot.task_id: slot for slot in self.slots}

    @cached_property
    def slot_of_run(self) -> Mapping[str, Slot]:
        """The slots by run id."""
        return {slot.run_id: slot for slot in self.slots}

    @cached_property
    def history_of(self) -> Mapping[str, Sequence[Run]]:
        """The run records of each task, oldest first."""
        histories: dict[str, list[Run]] = defaultdict(list)
        for run in sorted(self.runs, key=lambda run: run.id):
            histories[run.task_id].append(run)
        return histories

    @cached_property
    def tasks_owned(self) -> Mapping[str, int]:
        """How many tasks each user has."""
        return Counter(task.user_id for task in self.tasks)

    def is_active(self, run_id: str) -> bool:
        """Whether there is a record of this run that says it is active."""
        run = self.run_of.get(run_id)
        return run is not None and run.status.active
