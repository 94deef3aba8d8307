"""What becomes of a task that the clock could not deal with; it stops nobody else (P20)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightshift.domain.errors import PersistenceUncertain, StorageUnavailable
from nightshift.domain.exchanged import DueHint, Event, Observe
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.task import Task
from nightshift.domain.ports import TaskStore

SHORTEST_BACK_OFF = timedelta(seconds=60)
LONGEST_BACK_OFF = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setbacks:
    """Takes a task out of the line or puts it further back. Nothing here raises."""

    tasks: TaskStore
    observe: Observe

    def block(self, hint: DueHint, reason: str, *, corrupt: bool = False) -> None:
        """Take a task that cannot be read, planned or allowed out of the line, reason shown.

        `corrupt` says that something stored cannot be read.
        """
        facts: dict[str, object] = {"task_id": hint.ref.task_id, "reason": reason}
        if corrupt:
            facts["corrupt_rows"] = 1
        try:
            if self.tasks.block(hint.ref, reason, due_at=hint.due_at):
                self.observe(Event("task_blocked", facts))
        except Exception as failure:  # noqa: BLE001 - it stays due and is met again next look
            self.observe(Event("dispatch_failed", facts, failure))

    def back_off(self, task: Task, now: datetime, failure: Exception) -> None:
        """Let the task wait about as long again as it has waited, so that others get their turn.

        A table that gave no answer says nothing about the task: it waits a moment only.
        """
        facts = {"task_id": task.id, "run_id": _occurrence(task)}
        self.observe(Event("dispatch_failed", facts, failure))
        waited = now - (task.state.next_run_at or now)
        delay = min(max(waited, SHORTEST_BACK_OFF), LONGEST_BACK_OFF)
        if isinstance(failure, StorageUnavailable | PersistenceUncertain):
            delay = SHORTEST_BACK_OFF
        try:
            self.tasks.back_off(task, now + delay)
        except Exception as second:  # noqa: BLE001 - it stays due and is met again next look
            self.observe(Event("dispatch_failed", facts, second))


def _occurrence(task: Task) -> str | None:
    """The run that the task is due for; none when nothing is planned."""
    planned = task.state.next_run_at
    return None if planned is None else occurrence_run_id(task.id, planned)
