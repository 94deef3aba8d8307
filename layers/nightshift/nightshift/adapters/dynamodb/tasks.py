"""The task store on DynamoDB: definitions, plans, payloads and the due index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import (
    change_rows,
    conditions,
    due_line,
    keys,
    reading,
    task_rows,
    used_keys,
)
from nightshift.adapters.dynamodb.items import QuotaItem, SlotItem
from nightshift.adapters.dynamodb.operations import (
    Check,
    Delete,
    Operation,
    Put,
    Raw,
    Update,
    key_of,
)
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import (
    InvalidCursor,
    QuotaExceeded,
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.exchanged import CorruptTask, DueLine, Page, TaskRef
from nightshift.domain.model.change import Change, creation_of, deletion_of, edit_of, switch_of
from nightshift.domain.model.enums import ContextMode, RunStatus, SlotState
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Plan, Task


@dataclass(frozen=True, slots=True)
class DynamoTasks:
    """See `TaskStore` for what each method promises."""

    table: Table
    due_shards: int = 1

    # -- definitions --

    def create(
        self, task: Task, payload: Payload, *, max_tasks: int, key: UsedKey | None = None
    ) -> UsedKey | None:
        """Write task, payload, count, log and key together."""
        count = Update(
            keys.quota(task.user_id),
            [QuotaItem.tasks.add(1)],
            conditions.below(max_tasks),
        )
        operations: list[Operation] = [
            count,
            Put(task_rows.new_task_item(task), conditions.ABSENT),
            Put(task_rows.payload_item(payload), conditions.ABSENT),
            change_rows.entry(creation_of(task)),
        ]
        taken: list[Operation] = [] if key is None else [used_keys.take(key)]
        refusals = self.table.transact(operations + taken + _thread_check(task))
        if refusals is None or refusals[1] is not None:
            return None  # only our own row can stand under a fresh id: a first answer was lost
        used = refusals[len(operations)] if taken else None
        if used is not None and used.item is not None:
            return used_keys.used_key_from(used.item)
        if refusals[0] is not None:
            raise QuotaExceeded
        raise ThreadNotFound

    def get(self, ref: TaskRef) -> Task | None:
        """One task, strongly consistent."""
        row = self.table.get(keys.task(ref.user_id, ref.task_id))
        return None if row is None else task_rows.task_from(row)

    def list(self, user_id: str, *, limit: int, after: str | None = None) -> Page[Task]:
        """One page of a user's tasks by creation."""
        rows = list(
            islice(
                self.table.query(
                    keys.user(user_id),
                    begins_with=keys.TASK,
                    after=None if after is None else f"{keys.TASK}{after}",
                    page=limit + 1,
                ),
                limit + 1,
            )
        )
        tasks, corrupt = reading.readable(rows[:limit], task_rows.task_from)
        last = task_rows.task_id_from(rows[limit - 1]) if len(rows) > limit else None
        return Page(tasks, last, [error.message for error in corrupt])

    def payload(self, ref: TaskRef, revision: int) -> Payload | None:
        """The payload of one revision."""
        row = self.table.get(keys.payload(ref.user_id, ref.task_id, revision))
        return None if row is None else task_rows.payload_from(row)

    def replace(
        self,
        seen: Task,
        changed: Task,
        payload: Payload | None = None,
        *,
        cancel: Slot | None = None,
    ) -> bool:
        """Write an edit under the condition that nothing it was decided on has changed."""
        settled: Operation = Check(
            keys.slot(seen.id, seen.slot_shard), conditions.not_dispatching()
        )
        if cancel is not None:
            settled = _cancellation(cancel, conditions.held_past_the_fence(cancel.run_id))
        operations: list[Operation] = [
            settled,
            Update(_key(seen), task_rows.definition_actions(changed), conditions.as_seen(seen)),
        ]
        if payload is not None:
            old = keys.payload(seen.user_id, seen.id, seen.definition.payload_revision)
            operations += [Put(task_rows.payload_item(payload), conditions.ABSENT), Delete(old)]
        operations.append(change_rows.entry(edit_of(seen, changed)))
        thread_check = _thread_check(changed)
        refusals = self.table.transact(operations + thread_check)
        if refusals is None:
            return True
        if refusals[0] is not None and _is_queued(refusals[0].item):
            raise TaskNotMutable
        if thread_check and refusals[-1] is not None:
            raise ThreadNotFound
        return False

    def switch(self, seen: Task, changed: Task, *, cancel: Slot | None = None) -> bool:
        """Write another status and plan, also while a launch is under way."""
        operations: list[Operation] = [
            Update(_key(seen), task_rows.switch_actions(changed), conditions.as_seen(seen)),
            change_rows.entry(switch_of(seen, changed)),
        ]
        if cancel is not None:
            operations.append(_cancellation(cancel, conditions.slot_held_by(cancel.run_id)))
        return self.table.transact(operations) is None

    def delete(self, seen: Task, at: datetime, *, cancel: Slot | None = None) -> bool:
        """Remove the task and what only it needs; an active run keeps its keys."""
        slot = self.table.get(keys.slot(seen.id, seen.slot_shard))
        payload = keys.payload(seen.user_id, seen.id, seen.definition.payload_revision)
        operations: list[Operation] = [
            Delete(_key(seen), conditions.as_seen(seen) & conditions.same_active_run(seen)),
            Update(keys.quota(seen.user_id), [QuotaItem.tasks.add(-1)], conditions.EXISTS),
            change_rows.entry(deletion_of(seen, at)),
        ]
        settled = not _is_queued(slot)
        if settled:
            operations.append(Delete(payload))
        if cancel is not None:
            held = conditions.held_past_the_fence if settled else conditions.slot_held_by
            operations.append(_cancellation(cancel, held(cancel.run_id)))
        elif settled:
            in_the_way = Check(keys.slot(seen.id, seen.slot_shard), conditions.not_dispatching())
            operations.append(in_the_way)
        if self.table.transact(operations) is not None:
            return False
        self._forget_history(seen.id)
        for row in self.table.query(keys.history(seen.id), begins_with=keys.CHANGE):
            if "expires_at" not in row:
                self.table.write(change_rows.farewell(row, at))
        return True

    def discard(self, ref: TaskRef) -> bool:
        """Remove an unreadable task by its key, then what belongs to it."""
        gone: list[Operation] = [
            Delete(keys.task(ref.user_id, ref.task_id), conditions.EXISTS),
            Update(keys.quota(ref.user_id), [QuotaItem.tasks.add(-1)], conditions.EXISTS),
        ]
        if self.table.transact(gone) is not None:
            return False
        payloads = self.table.query(
            keys.user(ref.user_id),
            begins_with=keys.payloads(ref.task_id),
            attributes=("pk", "sk"),
        )
        self.table.delete_rows([key_of(row) for row in payloads])
        self._forget_history(ref.task_id)
        return True

    def changes(self, task_id: str, *, limit: int, after: str | None = None) -> Page[Change]:
        """One page of a task's change log from its end."""
        if after is not None and not (after.isascii() and after.isdigit()):
            raise InvalidCursor
        read = self.table.query(
            keys.history(task_id),
            begins_with=keys.CHANGE,
            after=None if after is None else keys.change(task_id, int(after)).sk,
            newest_first=True,
            page=limit + 1,
        )
        rows = list(islice(read, limit + 1))
        changes, corrupt = reading.readable(rows[:limit], change_rows.change_from)
        last = change_rows.revision_from(rows[limit - 1]) if len(rows) > limit else None
        return Page(changes, last, [error.message for error in corrupt])

    def recall(self, user_id: str, key: str, now: datetime) -> UsedKey | None:
        """The use of a key, if it still counts."""
        row = self.table.get(keys.used_key(user_id, key))
        used = None if row is None else used_keys.used_key_from(row)
        return None if used is None or used.is_over(now) else used

    def _forget_history(self, task_id: str) -> None:
        """Remove the ended runs; an active one goes when it ends, what a crash leaves by TTL."""
        rows = self.table.query(
            keys.history(task_id), begins_with=keys.RUN, attributes=("pk", "sk", "status")
        )
        ended = [key_of(row) for row in rows if not RunStatus(row["status"]["S"]).active]
        self.table.delete_rows(ended)

    # -- the clock --

    def due(self, now: datetime) -> DueLine:
        """The line of who is due, merged over the shards."""
        return due_line.line_of(self.table, now, shards=self.due_shards)

    def crowd(self, since: datetime, minutes: int, *, besides: str, limit: int) -> Sequence[int]:
        """How many are due in each minute, over all buckets."""
        return due_line.crowd_of(
            self.table, since, minutes, besides=besides, limit=limit, shards=self.due_shards
        )

    def read(
        self, refs: Sequence[TaskRef]
    ) -> Mapping[TaskRef, tuple[Task, Payload | None] | CorruptTask]:
        """Tasks in one batch, their payloads in a second."""
        return due_line.rows_of(self.table, refs)

    def advance(self, seen: Task, plan: Plan) -> bool:
        """Give a task another plan."""
        return self._update(seen, task_rows.plan_actions(seen, plan))

    def wake(self, seen: Task, woken: Task) -> bool:
        """End a pause that has an end."""
        return self._update(seen, task_rows.wake_actions(woken))

    def back_off(self, seen: Task, until: datetime) -> bool:
        """Move a task back in its line; its occurrence stays what it is."""
        due_key = keys.due_key(until, seen.id, wakes=seen.state.next_run_at is None)
        return self._update(seen, task_rows.assign({"due_at": until, "due_key": due_key}))

    def block(self, ref: TaskRef, reason: str, *, due_at: datetime) -> bool:
        """Take a task out of the line, whatever state its row is in."""
        removed = {"due_bucket": None, "due_key": None, "due_at": None}
        actions = task_rows.assign({"blocked_reason": reason} | removed)
        condition = conditions.still_due(due_at, ref.task_id)
        key = keys.task(ref.user_id, ref.task_id)
        return self.table.write(Update(key, actions, condition)) is None

    def _update(self, seen: Task, actions: Sequence[Action]) -> bool:
        condition = conditions.as_seen(seen)
        return self.table.write(Update(_key(seen), actions, condition)) is None


def _cancellation(slot: Slot, condition: Condition) -> Update:
    """The request that closes the fence before a run, as one operation of a larger change."""
    key = keys.slot(slot.task_id, slot.keys.slot_shard)
    return Update(key, [SlotItem.cancel_requested.set(True)], condition)


def _is_queued(slot: Raw | None) -> bool:
    return slot is not None and slot["state"]["S"] == SlotState.QUEUED.value


def _key(task: Task) -> keys.Key:
    return keys.task(task.user_id, task.id)


def _thread_check(task: Task) -> list[Operation]:
    """The thread to reuse exists and is this user's, in the same transaction (P1)."""
    thread_id = task.definition.thread_id
    if task.definition.context_mode is not ContextMode.REUSE_THREAD or thread_id is None:
        return []
    return [Check(keys.thread(task.user_id, thread_id), conditions.EXISTS)]
