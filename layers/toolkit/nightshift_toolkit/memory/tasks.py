"""Tasks, their payloads and the due index, in memory."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nightshift.domain.errors import (
    CorruptRecord,
    QuotaExceeded,
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.model.enums import SlotState
from nightshift.domain.model.task import Payload, Plan, Task
from nightshift.domain.ports import CorruptTask, DueHint, DueLine, Page, TaskRef
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
    def create(self, task: Task, payload: Payload, *, max_tasks: int) -> None:
        """See `TaskStore.create`."""
        owned = sum(ref.user_id == task.user_id for ref in self.state.tasks)
        if owned >= max_tasks:
            raise QuotaExceeded
        self._ensure_own_thread(task)
        self.state.put(task)
        self._put_payload(payload)

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
    def replace(self, seen: Task, changed: Task, payload: Payload | None = None) -> bool:
        """See `TaskStore.replace`."""
        row = as_seen(self._row(seen), seen)
        if row is None:
            return False
        slot = self.state.slots.get(seen.id)
        if slot is not None and slot.slot.state is SlotState.QUEUED:
            raise TaskNotMutable
        self._ensure_own_thread(changed)
        self.state.put(_with_definition_and_plan(row.task, changed))
        if payload is not None:
            ref = TaskRef(seen.user_id, seen.id)
            self.state.payloads.pop((ref, seen.definition.payload_revision), None)
            self._put_payload(payload)
        return True

    @writing
    def pause(self, seen: Task, changed: Task) -> bool:
        """See `TaskStore.pause`."""
        row = as_seen(self._row(seen), seen)
        if row is None:
            return False
        kept = replace(changed, definition=row.task.definition)
        self.state.put(_with_definition_and_plan(row.task, kept))
        return True

    @writing
    def delete(self, seen: Task) -> bool:
        """See `TaskStore.delete`."""
        ref = TaskRef(seen.user_id, seen.id)
        row = as_seen(self._row(seen), seen)
        if row is None or row.task.state.active_run_id != seen.state.active_run_id:
            return False
        del self.state.tasks[ref]
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

    @reading
    def due(self, now: datetime) -> DueLine:
        """See `TaskStore.due`."""
        buckets: dict[tuple[int, int], list[DueHint]] = defaultdict(list)
        for row in self.state.tasks.values():
            if row.entry is not None and row.entry.due_at <= now:
                buckets[row.entry.priority, row.task.due_shard].append(row.entry)
        for bucket in buckets.values():
            bucket.sort(key=_place_in_line)
        first = [hint for bucket in buckets.values() for hint in bucket[:FIRST_PAGE]]
        everybody = [hint for bucket in buckets.values() for hint in bucket]
        return DueLine(first=first, hints=iter(sorted(everybody, key=_place_in_line)))

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

    def _row(self, task: Task) -> TaskRow | None:
        return self.state.tasks.get(TaskRef(task.user_id, task.id))

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
    )
    return replace(
        stored,
        definition=copied(changed.definition),
        state=state,
        revision=changed.revision,
        updated_at=changed.updated_at,
    )


def _place_in_line(hint: DueHint) -> tuple[int, datetime, str]:
    return (-hint.priority, hint.due_at, hint.ref.task_id)
