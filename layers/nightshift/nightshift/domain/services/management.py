"""What people do with tasks, runs and threads: each is theirs or does not exist (P8)."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from nightshift.domain.commands import (
    CreateTask,
    DeleteTask,
    EditTask,
    PauseTask,
    RegisterThread,
    ResumeTask,
    Unset,
)
from nightshift.domain.errors import (
    ConcurrentUpdate,
    RunNotFound,
    TaskNotFound,
    ThreadNotFound,
)
from nightshift.domain.model.enums import SlotState
from nightshift.domain.model.run import Run
from nightshift.domain.model.task import Payload, State, Task
from nightshift.domain.ports import (
    Ids,
    Page,
    PolicySource,
    RunStore,
    TaskRef,
    TaskStore,
    Thread,
    ThreadStore,
)
from nightshift.domain.services.definition import edited_definition, new_definition, new_payload
from nightshift.domain.services.dispatch import ensure_allowed

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
class Management:
    """The use cases of the owner of tasks."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    ids: Ids
    due_shards: int = 1
    slot_shards: int = 1

    # -- tasks --

    def create_task(self, command: CreateTask, now: datetime) -> TaskView:
        """Create a task, enabled and with its first time (P1).

        Raises:
            InvalidRequest: a field, the schedule or the policy forbids it; nothing was written.
            ThreadNotFound: the thread to reuse is not this user's.
            QuotaExceeded: the user has as many tasks as the policy allows.
        """
        policy = self.policies.current()
        task_id = self.ids.task_id(now)
        definition = new_definition(command, policy, now)
        draft = Task(
            id=task_id,
            user_id=command.user_id,
            definition=definition,
            state=State(),
            revision=1,
            created_at=now,
            updated_at=now,
            due_shard=shard_of(task_id, self.due_shards),
            slot_shard=shard_of(task_id, self.slot_shards),
        )
        ensure_allowed(draft, policy)
        task = draft.armed(now, policy)
        payload = new_payload(task, command.action)
        self.tasks.create(task, payload, max_tasks=policy.max_tasks_per_user)
        return TaskView(task, payload, dispatching=False)

    def get_task(self, user_id: str, task_id: str) -> TaskView:
        """One task with its prompt or command.

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        return self._view(self._task(user_id, task_id))

    def list_tasks(self, user_id: str, *, limit: int, after: str | None) -> Page[TaskView]:
        """The user's tasks, oldest first, without their prompts; corrupt rows are passed over."""
        page = self.tasks.list(user_id, limit=limit, after=after)
        views = [TaskView(task, None, self._is_dispatching(task)) for task in page.items]
        return Page(views, page.next, page.corrupt)

    def edit_task(self, command: EditTask, now: datetime) -> TaskView:
        """Change the fields that were sent, and only those (P2).

        Raises:
            TaskNotFound: there is no such task of this user.
            TaskNotMutable: a run is being dispatched, or the `once` task is running.
            InvalidRequest: the result would not be a valid task; nothing was written.
            ConcurrentUpdate: the task kept changing meanwhile.
        """
        policy = self.policies.current()

        def attempt(task: Task) -> TaskView | None:
            definition = edited_definition(task, command, policy, now)
            changed = task.edited(definition, now, policy)
            payload = None
            if not isinstance(command.action, Unset):
                definition = replace(definition, payload_revision=changed.revision)
                changed = replace(changed, definition=definition)
                payload = new_payload(changed, command.action)
            ensure_allowed(changed, policy)
            if not self.tasks.replace(task, changed, payload):
                return None
            return self._view(changed)

        return self._retried(command.user_id, command.task_id, attempt)

    def pause_task(self, command: PauseTask, now: datetime) -> TaskView:
        """Take a task out of the clock's reach; a run in flight goes on (P3).

        Raises:
            TaskNotFound: there is no such task of this user.
            TaskNotMutable: a `once` task is running, or the task is finished.
        """

        def attempt(task: Task) -> TaskView | None:
            changed = task.paused(command.reason, now)
            return self._view(changed) if self.tasks.pause(task, changed) else None

        return self._retried(command.user_id, command.task_id, attempt)

    def resume_task(self, command: ResumeTask, now: datetime) -> TaskView:
        """Put a paused or blocked task back, next strictly after now (P3, P20).

        Raises:
            TaskNotFound: there is no such task of this user.
            TimePassed: no time of its schedule is left.
            TaskNotMutable: the task is running or finished.
        """
        policy = self.policies.current()

        def attempt(task: Task) -> TaskView | None:
            ensure_allowed(task, policy)
            changed = task.resumed(now, policy)
            if changed is task or self.tasks.pause(task, changed):
                return self._view(changed)
            return None

        return self._retried(command.user_id, command.task_id, attempt)

    def delete_task(self, command: DeleteTask) -> None:
        """Delete a task in any state; a run in flight goes on and its result is dropped (P5).

        Raises:
            TaskNotFound: there is no such task of this user.
        """

        def attempt(task: Task) -> bool | None:
            return self.tasks.delete(task) or None

        self._retried(command.user_id, command.task_id, attempt)

    # -- runs --

    def list_runs(self, user_id: str, task_id: str, *, limit: int, after: str | None) -> Page[Run]:
        """The newest runs of a task, newest first, as far back as the policy keeps them (P6, K10).

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        self._task(user_id, task_id)
        keep = self.policies.current().max_history_entries_per_task
        return self.runs.list(task_id, limit=limit, after=after, keep=keep)

    def get_run(self, user_id: str, task_id: str, run_id: str) -> Run:
        """One run of a task.

        Raises:
            TaskNotFound, RunNotFound: it does not exist or is not this user's.
        """
        self._task(user_id, task_id)
        run = self.runs.get(task_id, run_id)
        if run is None or run.user_id != user_id:
            raise RunNotFound
        return run

    # -- threads --

    def register_thread(self, command: RegisterThread, now: datetime) -> Thread:
        """Make a thread exist that is this user's; registering it again changes nothing."""
        return self.threads.register(Thread(command.thread_id, command.user_id, now))

    def get_thread(self, user_id: str, thread_id: str) -> Thread:
        """One thread.

        Raises:
            ThreadNotFound: it does not exist or is not this user's.
        """
        thread = self.threads.get(user_id, thread_id)
        if thread is None:
            raise ThreadNotFound
        return thread

    # -- shared steps --

    def _task(self, user_id: str, task_id: str) -> Task:
        task = self.tasks.get(TaskRef(user_id, task_id))
        if task is None:
            raise TaskNotFound
        return task

    def _view(self, task: Task) -> TaskView:
        ref = TaskRef(task.user_id, task.id)
        payload = self.tasks.payload(ref, task.definition.payload_revision)
        return TaskView(task, payload, self._is_dispatching(task))

    def _is_dispatching(self, task: Task) -> bool:
        if task.state.active_run_id is None:
            return False
        slot = self.runs.slot(task.id, task.slot_shard)
        return slot is not None and slot.state is SlotState.QUEUED

    def _retried(
        self, user_id: str, task_id: str, attempt: Callable[[Task], Value | None]
    ) -> Value:
        for _ in range(ATTEMPTS):
            result = attempt(self._task(user_id, task_id))
            if result is not None:
                return result
        raise ConcurrentUpdate


def shard_of(task_id: str, shards: int) -> int:
    """A stable shard for a task, the same on every machine (K1)."""
    return zlib.crc32(task_id.encode()) % shards
