"""Tasks, their payloads and the due index, in memory."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nightshift.domain.errors import (
    CorruptRecord,
    InvalidCursor,
    QuotaExceeded,
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.exchanged import CorruptTask, DueHint, DueLine, Page, TaskRef
from nightshift.domain.model.change import Change, creation_of, deletion_of, edit_of, switch_of
from nightshift.domain.model.crowd import MINUTE, crowd_of
from nightshift.domain.model.enums import SlotState, TaskStatus
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Plan, Task
from nightshift_toolkit.memory.state import State, TaskRow, copied, reading, writing

FIRST_PAGE = 100
"""How many entries of a bucket of the due index are read at once."""


def as_seen(row: TaskRow | None, seen: Task) -> TaskRow | None:
    """The row if it is there, readable and still as it was read; what dispatch goes by (K3)."""
    if row is None or row.corrupt is not None:
        return None
    now, before = row.task, seen
    same = (
        now.revision == before.revision
        and now.state.status is before.state.status
        and now.state.next_run_at == before.state.next_run_at
        and (now.state.blocked_reason is None) == (before.state.blocked_reason is None)
    )
    return row if same else None


class MemoryTasks:
    """A `TaskStore`."""

    name = "tasks"

    def __init__(self, state: State) -> None:
        self.state = state

    @writing
    def create(
        self, task: Task, payload: Payload, *, max_tasks: int, key: UsedKey | None = None
    ) -> UsedKey | None:
        """See `TaskStore.create`."""
        used = self.state.standing_use(key)
        if used is not None:
            return used
        owned = sum(ref.user_id == task.user_id for ref in self.state.tasks)
        if owned >= max_tasks:
            raise QuotaExceeded
        self._ensure_own_thread(task)
        self.state.put(task)
        self._put_payload(payload)
        self._log(creation_of(task))
        if key is not None:
            self.state.used_keys[key.user_id, key.name] = key
        return None

    @reading
    def recall(self, user_id: str, key: str, now: datetime) -> UsedKey | None:
        """See `TaskStore.recall`."""
        used = self.state.used_keys.get((user_id, key))
        return None if used is None or used.is_over(now) else used

    @reading
    def changes(self, task_id: str, *, limit: int, after: str | None = None) -> Page[Change]:
        """See `TaskStore.changes`."""
        if after is not None and not (after.isascii() and after.isdigit()):
            raise InvalidCursor
        log = reversed(self.state.changes[task_id])
        following = [entry for entry in log if after is None or entry.revision < int(after)]
        page = following[:limit]
        return Page(page, str(page[-1].revision) if len(following) > limit else None)

    @reading
    def get(self, ref: TaskRef) -> Task | None:
        """See `TaskStore.get`."""
        row = self.state.tasks.get(ref)
        return row.read() if row else None

    @reading
    def list(self, user_id: str, *, limit: int, after: str | None = None) -> Page[Task]:
        """See `TaskStore.list`."""
        following = sorted(
            ref.task_id
            for ref in self.state.tasks
            if ref.user_id == user_id and (after is None or ref.task_id > after)
        )
        page = following[:limit]
        rows = {task_id: self.state.tasks[TaskRef(user_id, task_id)] for task_id in page}
        return Page(
            items=[row.read() for row in rows.values() if row.corrupt is None],
            next=page[-1] if len(following) > limit else None,
            corrupt=[task_id for task_id, row in rows.items() if row.corrupt is not None],
        )

    @reading
    def payload(self, ref: TaskRef, revision: int) -> Payload | None:
        """See `TaskStore.payload`."""
        return self.state.payloads.get((ref, revision))

    @writing
    def replace(
        self,
        seen: Task,
        changed: Task,
        payload: Payload | None = None,
        *,
        cancel: Slot | None = None,
    ) -> bool:
        """See `TaskStore.replace`."""
        row = as_seen(self._row(seen), seen)
        if row is None:
            return False
        slot = self.state.slots.get(seen.id)
        if slot is not None and slot.slot.state is SlotState.QUEUED:
            raise TaskNotMutable
        self._ensure_own_thread(changed)
        if not self._cancel(cancel):
            return False
        self.state.put(_with_definition_and_plan(row.task, changed))
        self._log(edit_of(seen, changed))
        if payload is not None:
            ref = TaskRef(seen.user_id, seen.id)
            self.state.payloads.pop((ref, seen.definition.payload_revision), None)
            self._put_payload(payload)
        return True

    @writing
    def switch(self, seen: Task, changed: Task, *, cancel: Slot | None = None) -> bool:
        """See `TaskStore.switch`."""
        row = as_seen(self._row(seen), seen)
        if row is None or not self._cancel(cancel):
            return False
        kept = replace(changed, definition=row.task.definition)
        switched = _with_definition_and_plan(row.task, kept)
        if switched.state.status is TaskStatus.ENABLED:
            switched = replace(switched, state=replace(switched.state, failures_in_a_row=0))
        self.state.put(switched)
        self._log(switch_of(seen, changed))
        return True

    @writing
    def delete(self, seen: Task, at: datetime, *, cancel: Slot | None = None) -> bool:
        """See `TaskStore.delete`."""
        ref = TaskRef(seen.user_id, seen.id)
        row = as_seen(self._row(seen), seen)
        if row is None or row.task.state.active_run_id != seen.state.active_run_id:
            return False
        if not self._cancel(cancel):
            return False
        del self.state.tasks[ref]
        self._log(deletion_of(seen, at))
        runs = self.state.runs.pop(seen.id, {})
        active = {run_id: kept for run_id, kept in runs.items() if kept.run.status.active}
        if active:
            self.state.runs[seen.id] = active
        slot = self.state.slots.get(seen.id)
        needed = None
        if slot is not None and slot.slot.state is SlotState.QUEUED:
            needed = slot.slot.payload_revision
        for key in [key for key in self.state.payloads if key[0] == ref and key[1] != needed]:
            del self.state.payloads[key]
        return True

    @writing
    def discard(self, ref: TaskRef) -> bool:
        """See `TaskStore.discard`."""
        if self.state.tasks.pop(ref, None) is None:
            return False
        runs = self.state.runs.pop(ref.task_id, {})
        active = {run_id: kept for run_id, kept in runs.items() if kept.run.status.active}
        if active:
            self.state.runs[ref.task_id] = active
        for key in [key for key in self.state.payloads if key[0] == ref]:
            del self.state.payloads[key]
        return True

    @reading
    def due(self, now: datetime) -> DueLine:
        """See `TaskStore.due`."""
        buckets: dict[tuple[int, int], list[DueHint]] = defaultdict(list)
        for row in self.state.tasks.values():
            if row.entry is not None and row.entry.due_at <= now:
                buckets[row.entry.priority, row.task.due_shard].append(row.entry)
        for bucket in buckets.values():
            bucket.sort(key=lambda hint: hint.place)
        first = [hint for bucket in buckets.values() for hint in bucket[:FIRST_PAGE]]
        everybody = [hint for bucket in buckets.values() for hint in bucket]
        return DueLine(first=first, hints=iter(sorted(everybody, key=lambda hint: hint.place)))

    @reading
    def crowd(self, since: datetime, minutes: int, *, besides: str, limit: int) -> Sequence[int]:
        """See `TaskStore.crowd`."""
        buckets: dict[tuple[int, int], list[tuple[datetime, bool]]] = defaultdict(list)
        for row in self.state.tasks.values():
            hint = row.entry
            if hint is not None and since <= hint.due_at < since + minutes * MINUTE:
                counted = not hint.wakes and hint.ref.task_id != besides
                buckets[hint.priority, row.task.due_shard].append((hint.due_at, counted))
        return crowd_of(map(sorted, buckets.values()), since, minutes, limit=limit)

    @reading
    def read(
        self, refs: Sequence[TaskRef]
    ) -> Mapping[TaskRef, tuple[Task, Payload | None] | CorruptTask]:
        """See `TaskStore.read`."""
        found: dict[TaskRef, tuple[Task, Payload | None] | CorruptTask] = {}
        for ref in refs:
            row = self.state.tasks.get(ref)
            if row is None:
                continue
            try:
                task = row.read()
            except CorruptRecord as corrupt:
                found[ref] = CorruptTask(ref, corrupt.message)
            else:
                revision = task.definition.payload_revision
                found[ref] = (task, self.state.payloads.get((ref, revision)))
        return found

    @writing
    def advance(self, seen: Task, plan: Plan) -> bool:
        """See `TaskStore.advance`."""
        row = as_seen(self._row(seen), seen)
        if row is None:
            return False
        self.state.put(row.task.with_plan(plan))
        return True

    @writing
    def wake(self, seen: Task, woken: Task) -> bool:
        """See `TaskStore.wake`."""
        row = as_seen(self._row(seen), seen)
        if row is None:
            return False
        self.state.put(_with_definition_and_plan(row.task, woken))
        return True

    @writing
    def back_off(self, seen: Task, until: datetime) -> bool:
        """See `TaskStore.back_off`."""
        row = as_seen(self._row(seen), seen)
        if row is None or row.entry is None:
            return False
        self.state.put(replace(row.task, state=replace(row.task.state, due_at=until)))
        return True

    @writing
    def block(self, ref: TaskRef, reason: str, *, due_at: datetime) -> bool:
        """See `TaskStore.block`."""
        row = self.state.tasks.get(ref)
        if row is None or row.entry is None or row.entry.due_at != due_at:
            return False
        state = replace(row.task.state, blocked_reason=reason, due_at=None)
        row.task = replace(row.task, state=state)
        row.entry = None
        return True

    def _cancel(self, slot: Slot | None) -> bool:
        """Request the cancellation that comes with a change; False when the slot is another's."""
        if slot is None:
            return True
        row = self.state.slots.get(slot.task_id)
        if row is None or row.slot.run_id != slot.run_id:
            return False
        row.slot = replace(row.slot, cancel_requested=True)
        return True

    def _row(self, task: Task) -> TaskRow | None:
        return self.state.tasks.get(TaskRef(task.user_id, task.id))

    def _log(self, change: Change) -> None:
        self.state.changes[change.task_id].append(copied(change))

    def _put_payload(self, payload: Payload) -> None:
        ref = TaskRef(payload.user_id, payload.task_id)
        self.state.payloads[ref, payload.revision] = payload

    def _ensure_own_thread(self, task: Task) -> None:
        thread_id = task.definition.thread_id
        if thread_id is not None and (task.user_id, thread_id) not in self.state.threads:
            raise ThreadNotFound


def _with_definition_and_plan(stored: Task, changed: Task) -> Task:
    """What people may change, on top of what dispatch and completion wrote meanwhile (P19)."""
    theirs = changed.state
    state = replace(
        stored.state,
        status=theirs.status,
        next_run_at=theirs.next_run_at,
        due_at=theirs.due_at,
        tzdata_version=theirs.tzdata_version,
        planned_from=theirs.planned_from,
        blocked_reason=theirs.blocked_reason,
        pause_reason=theirs.pause_reason,
        pause_until=theirs.pause_until,
    )
    return replace(
        stored,
        definition=copied(changed.definition),
        state=state,
        revision=changed.revision,
        updated_at=changed.updated_at,
    )
