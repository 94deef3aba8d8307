"""The rows of a simulated table, as a judge may look at them without a call of a port."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from explorer.rows import MemoryRows
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task


class SeenRows(MemoryRows):
    """The in-memory store; nothing that is read here can be changed."""

    @property
    def policy(self) -> Policy:
        """The limits in force."""
        return self._store._state.policy

    def all_tasks(self) -> Iterable[Task]:
        """Every task row; one that was written again is another object."""
        return [row.task for row in self._store._state.tasks.values()]

    def task(self, user_id: str, task_id: str) -> Task:
        """One task row."""
        return self._store._state.tasks[TaskRef(user_id, task_id)].task

    def task_ids(self) -> set[str]:
        """The ids of all tasks."""
        return {ref.task_id for ref in self._store._state.tasks}

    def runs_of(self, task_id: str) -> Mapping[str, Run]:
        """The records of a task by run id."""
        rows = self._store._state.runs.get(task_id, {})
        return {run_id: row.run for run_id, row in rows.items()}

    def slots(self) -> dict[str, Slot]:
        """The slots by task id."""
        return {task_id: row.slot for task_id, row in self._store._state.slots.items()}

    def next_due(self) -> datetime | None:
        """When the clock next has something to start."""
        entries = (row.entry for row in self._store._state.tasks.values())
        return min((entry.due_at for entry in entries if entry), default=None)
