"""What people do with tasks and runs: each is theirs or does not exist (P8)."""

import zlib
from dataclasses import dataclass, replace
from datetime import datetime

from nightshift.domain.commands import (
    Action,
    CreateTask,
    DeleteTask,
    EditTask,
    Unset,
)
from nightshift.domain.errors import (
    CorruptRecord,
    RunNotFound,
    TaskNotFound,
    TaskNotMutable,
)
from nightshift.domain.exchanged import Page, TaskRef
from nightshift.domain.model.change import Change
from nightshift.domain.model.enums import SlotState
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.notify import ensure_may_lead
from nightshift.domain.model.run import Run
from nightshift.domain.model.task import State, Task
from nightshift.domain.model.webhook import WebhookTargets
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import Ids
from nightshift.domain.services.admission import ensure_allowed
from nightshift.domain.services.definition import edited_definition, new_definition, new_payload
from nightshift.domain.services.owned import OwnedTasks, TaskView
from nightshift.domain.services.spreading import placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Management:
    """The use cases of the owner of tasks."""

    owned: OwnedTasks
    policies: PolicySource
    ids: Ids
    due_shards: int = 1
    slot_shards: int = 1
    webhook_targets: WebhookTargets = WebhookTargets.PUBLIC

    # -- tasks --

    def create_task(self, command: CreateTask, now: datetime) -> TaskView:
        """Create a task, enabled and with its first time (P1).

        Sent again under the same key it returns what it made, as that is now; nothing is decided
        anew, so that a `once` may be repeated when its time has come.

        Raises:
            IdempotencyMismatch: the key was used for another request.
            TaskNotFound: what was made under this key has been deleted since.
            InvalidRequest: a field, the schedule or the policy forbids it; nothing was written.
            ThreadNotFound: the thread to reuse is not this user's.
            QuotaExceeded: the user has as many tasks as the policy allows.
        """
        if command.key is not None:
            used = self.owned.tasks.recall(command.user_id, command.key.name, now)
            if used is not None:
                return self._made_before(command, used)
        policy = self.policies.current()
        task_id = self.ids.task_id(now)
        definition = new_definition(command, policy, now)
        ensure_may_lead(definition.notify, self.webhook_targets)
        definition = placed(self.owned.tasks, task_id, definition, None, now)
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
        key = command.key.used(command.user_id, task.id, now) if command.key else None
        used = self.owned.tasks.create(task, payload, max_tasks=policy.max_tasks_per_user, key=key)
        if used is not None:
            return self._made_before(command, used)
        return TaskView(task, payload, dispatching=False)

    def _made_before(self, command: CreateTask, used: UsedKey) -> TaskView:
        task_id = command.key.made_by(used) if command.key else used.made
        return self.get_task(command.user_id, task_id)

    def get_task(self, user_id: str, task_id: str) -> TaskView:
        """One task with its prompt or command.

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        return self.owned.view(self.owned.task(user_id, task_id))

    def list_tasks(self, user_id: str, *, limit: int, after: str | None) -> Page[TaskView]:
        """The user's tasks, oldest first, without their prompts; corrupt rows are passed over."""
        page = self.owned.tasks.list(user_id, limit=limit, after=after)
        views = [TaskView(task, None, self.owned.is_dispatching(task)) for task in page.items]
        return Page(views, page.next, page.corrupt)

    def edit_task(self, command: EditTask, now: datetime) -> TaskView:
        """Change the fields that were sent, and only those (P2).

        An edit that changes nothing writes nothing, so that the revision stays.

        Raises:
            TaskNotFound: there is no such task of this user.
            PreconditionFailed: the task is not at a revision that was expected.
            TaskNotMutable: a run is being dispatched, or the `once` task is running.
            InvalidRequest: the result would not be a valid task; nothing was written.
            ConcurrentUpdate: the task kept changing meanwhile.
        """
        policy = self.policies.current()

        def attempt(task: Task) -> TaskView | None:
            old = task.definition
            definition = edited_definition(task, command, policy, now)
            definition = placed(self.owned.tasks, task.id, definition, old, now)
            if definition.notify != old.notify:
                ensure_may_lead(definition.notify, self.webhook_targets)
            changed = task.edited(definition, now, policy)
            payload = None
            new_text = self._is_new(task, command.action)
            ensure_allowed(changed, policy)
            cancel = self.owned.to_cancel(task, command)
            if not new_text and definition == task.definition and not task.state.blocked_reason:
                if cancel is not None and cancel.state is SlotState.QUEUED:
                    raise TaskNotMutable
                self.owned.cancel(cancel)
                return self.owned.view(task)
            if new_text and not isinstance(command.action, Unset):
                definition = replace(definition, payload_revision=changed.revision)
                changed = replace(changed, definition=definition)
                payload = new_payload(changed, command.action)
            if not self.owned.tasks.replace(task, changed, payload, cancel=cancel):
                return None
            self.owned.stop(cancel)
            return self.owned.view(changed)

        return self.owned.retried(command, attempt)

    def delete_task(self, command: DeleteTask, now: datetime) -> None:
        """Delete a task in any state; a run goes on unless cancelled, its result is dropped (P5).

        A task whose row cannot be read is deleted as well.

        Raises:
            TaskNotFound: there is no such task of this user.
            PreconditionFailed: the task is not at a revision that was expected.
        """

        def attempt(task: Task) -> bool | None:
            cancel = self.owned.to_cancel(task, command)
            if not self.owned.tasks.delete(task, now, cancel=cancel):
                return None
            self.owned.stop(cancel)
            return True

        try:
            self.owned.retried(command, attempt)
        except CorruptRecord:
            if not self.owned.tasks.discard(TaskRef(command.user_id, command.task_id)):
                raise TaskNotFound from None

    def list_changes(
        self, user_id: str, task_id: str, *, limit: int, after: str | None
    ) -> Page[Change]:
        """What was done to a task, by whom and when, newest first; never a prompt's text.

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        self.owned.task(user_id, task_id)
        return self.owned.tasks.changes(task_id, limit=limit, after=after)

    # -- runs --

    def list_runs(self, user_id: str, task_id: str, *, limit: int, after: str | None) -> Page[Run]:
        """The newest runs of a task, newest first, as far back as the policy keeps them (P6, K10).

        Raises:
            TaskNotFound: there is no such task of this user.
        """
        self.owned.task(user_id, task_id)
        keep = self.policies.current().max_history_entries_per_task
        return self.owned.runs.list(task_id, limit=limit, after=after, keep=keep)

    def get_run(self, user_id: str, task_id: str, run_id: str) -> Run:
        """One run of a task.

        Raises:
            TaskNotFound, RunNotFound: it does not exist or is not this user's.
        """
        self.owned.task(user_id, task_id)
        run = self.owned.runs.get(task_id, run_id)
        if run is None or run.user_id != user_id:
            raise RunNotFound
        return run

    # -- shared steps --

    def _is_new(self, task: Task, action: Action | Unset) -> bool:
        """Whether an edit brings another prompt or command than the task has."""
        if isinstance(action, Unset):
            return False
        ref = TaskRef(task.user_id, task.id)
        stored = self.owned.tasks.payload(ref, task.definition.payload_revision)
        return stored is None or (stored.kind, stored.text) != (action.kind, action.text)


def shard_of(task_id: str, shards: int) -> int:
    """A stable shard for a task, the same on every machine (K1)."""
    return zlib.crc32(task_id.encode()) % shards
