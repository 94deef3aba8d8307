"""What every use case of the owner of tasks begins and ends with (P8)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from nightshift.domain.commands import DeleteTask, EditTask, PauseTask, TaskCommand
from nightshift.domain.errors import ConcurrentUpdate, PreconditionFailed, TaskNotFound
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import SlotState
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.ports import RunStore, TaskStore
from nightshift.domain.services.lifecycle import Lifecycle

ATTEMPTS = 3
"""How often a change is decided anew when its task changes under it (then 409)."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as people see it; `payload` is None in lists, which do not read prompts."""

    task: Task
    payload: Payload | None
    dispatching: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedTasks:
    """The tasks of whoever asks: found, shown, and changed under the conditions they were sent."""

    tasks: TaskStore
    runs: RunStore
    lifecycle: Lifecycle

    def task(self, user_id: str, task_id: str) -> Task:
        """The task as it is now.

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        task = self.tasks.get(TaskRef(user_id, task_id))
        if task is None:
            raise TaskNotFound
        return task

    def to_cancel(self, task: Task, command: EditTask | PauseTask | DeleteTask) -> Slot | None:
        """The active run that is to be cancelled together with a change of its task."""
        if not command.cancel_active or task.state.active_run_id is None:
            return None
        return self.runs.slot(task.id, task.slot_shard)

    def cancel(self, slot: Slot | None) -> None:
        """Cancel the run in `slot`, if there is one, where nothing else is written."""
        if slot is not None:
            self.lifecycle.cancel(slot)

    def stop(self, slot: Slot | None) -> None:
        """Stop the run in `slot`, if there is one, whose cancellation a change has written."""
        if slot is not None:
            self.lifecycle.stop_cancelled(slot)

    def view(self, task: Task) -> TaskView:
        """The task with its prompt or command, as its owner sees it."""
        ref = TaskRef(task.user_id, task.id)
        payload = self.tasks.payload(ref, task.definition.payload_revision)
        return TaskView(task, payload, self.is_dispatching(task))

    def is_dispatching(self, task: Task) -> bool:
        """Whether a run of the task is admitted and not yet past the fence."""
        if task.state.active_run_id is None:
            return False
        slot = self.runs.slot(task.id, task.slot_shard)
        return slot is not None and slot.state is SlotState.QUEUED

    def retried(self, command: TaskCommand, attempt: Callable[[Task], Value | None]) -> Value:
        """What the change came to, decided on the task as it is, and on no other than expected.

        Args:
            command: whose task is changed, and the revisions at which it may be.
            attempt: decides and writes; None when the task changed meanwhile.

        Raises:
            TaskNotFound: there is no such task of this user.
            PreconditionFailed: the task is not at a revision that was expected.
            ConcurrentUpdate: it kept changing.
        """
        for _ in range(ATTEMPTS):
            task = self.task(command.user_id, command.task_id)
            if command.expected is not None and task.revision not in command.expected:
                raise PreconditionFailed
            result = attempt(task)
            if result is not None:
                return result
        raise ConcurrentUpdate
