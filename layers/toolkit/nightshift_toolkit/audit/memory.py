"""A snapshot of the in-memory store."""

from datetime import datetime

from nightshift.adapters.dynamodb import keys
from nightshift.domain.model.run_ids import task_id_of
from nightshift_toolkit.audit.snapshot import DueEntry, Holder, Snapshot
from nightshift_toolkit.memory.store import MemoryStore


def snapshot_of_memory(store: MemoryStore, *, now: datetime | None = None) -> Snapshot:
    """Everything in the store at this moment; it keeps neither expiries nor counts of tasks."""
    state = store._state
    with state.lock:
        entries = {
            ref: DueEntry(
                keys.due_bucket(row.entry.priority, row.task.due_shard),
                keys.due_key(row.entry.due_at, ref.task_id, wakes=row.entry.wakes),
            )
            for ref, row in state.tasks.items()
            if row.entry is not None
        }
        runs = [row for rows in state.runs.values() for row in rows.values()]
        return Snapshot(
            tasks=[row.task for row in state.tasks.values() if row.corrupt is None],
            runs=[row.run for row in runs if not row.corrupt],
            slots=[row.slot for row in state.slots.values() if not row.corrupt],
            seats={seat: Holder(run_id) for seat, run_id in state.seats.items()},
            user_seats={own: Holder(run_id) for own, run_id in state.user_seats.items()},
            thread_locks={lock: Holder(run_id) for lock, run_id in state.thread_locks.items()},
            payloads=frozenset(state.payloads),
            due=entries,
            logs={
                task_id: [change.revision for change in log]
                for task_id, log in state.changes.items()
            },
            outbox=[
                outgoing
                for notice_id, outgoing in state.outbox.items()
                if notice_id not in state.damaged_notices
            ],
            unreadable=[
                *(f"task {ref.task_id}" for ref, row in state.tasks.items() if row.corrupt),
                *(f"slot {task_id}" for task_id, row in state.slots.items() if row.corrupt),
                *(f"run {row.run.id} of {task_id_of(row.run.id)}" for row in runs if row.corrupt),
            ],
            now=now,
        )
