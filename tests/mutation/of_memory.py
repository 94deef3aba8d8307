"""Conditions of the in-memory store, dropped one at a time."""

from typing import Final

from mutation.breaks import EXPLORER, MEMORY_CONTRACT, WALKS, Break, Suite

_RUNS: Final = "layers/toolkit/nightshift_toolkit/memory/runs.py"
_TASKS: Final = "layers/toolkit/nightshift_toolkit/memory/tasks.py"
_STORE: Final = "layers/toolkit/nightshift_toolkit/memory/store.py"
_BOTH: Final[tuple[Suite, ...]] = (WALKS, MEMORY_CONTRACT, EXPLORER)


def _runs(name: str, before: str, after: str) -> Break:
    return Break(f"memory: {name}", _RUNS, before, after, _BOTH)


def _tasks(name: str, before: str, after: str) -> Break:
    return Break(f"memory: {name}", _TASKS, before, after, _BOTH)


def _fence(name: str, before: str, after: str) -> Break:
    return Break(f"memory: the fence {name}", _STORE, before, after, _BOTH)


BREAKS: Final = (
    # -- the task as it was seen --
    _tasks(
        "a changed task is admitted (revision)",
        "now.revision == before.revision\n        and ",
        "",
    ),
    _tasks(
        "a changed task is admitted (status)",
        "        and now.state.status is before.state.status\n",
        "",
    ),
    _tasks(
        "an advanced task is admitted again (next time)",
        "        and now.state.next_run_at == before.state.next_run_at\n",
        "",
    ),
    _tasks(
        "a task that was blocked meanwhile is admitted",
        "        and (now.state.blocked_reason is None) == (before.state.blocked_reason is None)\n",
        "",
    ),
    _tasks(
        "an edit is allowed while a run is dispatched",
        "if slot is not None and slot.slot.state is SlotState.QUEUED:\n            raise",
        "if False:\n            raise",
    ),
    _tasks(
        "a deletion does not see a run that was admitted meanwhile",
        "if row is None or row.task.state.active_run_id != seen.state.active_run_id:",
        "if row is None:",
    ),
    _tasks(
        "a deletion takes the payload of a launch under way",
        "needed = slot.slot.payload_revision",
        "needed = None",
    ),
    _tasks(
        "a block hits an entry that is not the one that was read",
        " or row.entry.due_at != due_at:",
        ":",
    ),
    _tasks(
        "a pause ends of a task that changed meanwhile",
        "row = as_seen(self._row(seen), seen)\n        if row is None:\n            return False\n"
        "        self.state.put(_with_definition_and_plan(row.task, woken))",
        "row = self._row(seen)\n        if row is None:\n            return False\n"
        "        self.state.put(_with_definition_and_plan(row.task, woken))",
    ),
    _tasks(
        "a thread of another user can be reused",
        "if thread_id is not None and (task.user_id, thread_id) not in self.state.threads:",
        "if False:",
    ),
    # -- admission --
    _runs(
        "a taken slot is taken again",
        "if keys.task_id in self.state.slots:\n            return",
        "if False:\n            return",
    ),
    _runs(
        "an occurrence is recorded twice",
        "elif keys.run_id in self.state.runs[keys.task_id]:",
        "elif False:",
    ),
    _runs(
        "a taken thread is taken again",
        "elif lock in self.state.thread_locks:",
        "elif False:",
    ),
    _runs(
        "a taken seat of the user's own is taken again",
        "elif (keys.user_id, keys.user_seat) in self.state.user_seats:",
        "elif False:",
    ),
    _runs("a taken seat is taken again", "elif keys.seat in self.state.seats:", "elif False:"),
    _runs(
        "the nonce is ignored when a refused admission is read",
        "if holder.nonce == wanted.nonce:",
        "if holder.run_id == wanted.run_id:",
    ),
    _runs(
        "any holder of the slot is taken for oneself",
        "if holder.nonce == wanted.nonce:",
        "if True:",
    ),
    # -- tombstones --
    _runs(
        "a task that changed is skipped",
        "        if row is None:\n            return False\n        advanced",
        "        row = self.state.tasks[TaskRef(seen.user_id, seen.id)]\n        advanced",
    ),
    _runs(
        "a tombstone replaces the record of a run",
        "if tombstone.id not in self.state.runs[seen.id]:",
        "if True:",
    ),
    # -- leases and cancellations --
    _runs(
        "a launch that is being cancelled is leased",
        "if row is None or row.corrupt or row.slot.cancel_requested:",
        "if row is None or row.corrupt:",
    ),
    _runs(
        "a run past the fence is leased",
        "if row.slot.state is not SlotState.QUEUED or row.slot.nonce != slot.nonce:",
        "if row.slot.nonce != slot.nonce:",
    ),
    _runs(
        "a lease is taken twice",
        "if row.slot.run_id != slot.run_id or row.slot.lease_until != slot.lease_until:",
        "if row.slot.run_id != slot.run_id:",
    ),
    _runs(
        "another run's launch is leased",
        "if row.slot.state is not SlotState.QUEUED or row.slot.nonce != slot.nonce:\n"
        "            return None\n"
        "        if row.slot.run_id != slot.run_id or row.slot.lease_until != slot.lease_until:",
        "if row.slot.state is not SlotState.QUEUED:",
    ),
    _runs(
        "a cancellation hits the next run",
        "if row is None or row.slot.run_id != slot.run_id:\n            return False",
        "if row is None:\n            return False",
    ),
    # -- completion --
    _runs(
        "a terminal run is ended again",
        "recorded = run_row is not None and run_row.run.status.active",
        "recorded = run_row is not None",
    ),
    _runs(
        "a run past the fence is written off as never launched",
        "if started and completion.outcome.unlaunched:",
        "if False:",
    ),
    _runs(
        "a completion frees the next run's slot",
        "if slot is not None and slot.slot.run_id == keys.run_id:\n            del",
        "if slot is not None:\n            del",
    ),
    _runs(
        "a completion frees the next run's seat",
        "if self.state.seats.get(keys.seat) == keys.run_id:",
        "if keys.seat in self.state.seats:",
    ),
    _runs(
        "a completion frees the next run's thread",
        "if self.state.thread_locks.get(lock) == keys.run_id:",
        "if lock in self.state.thread_locks:",
    ),
    _runs(
        "a completion speaks to a task that runs something else",
        "elif task_row.task.state.active_run_id == keys.run_id:",
        "else:",
    ),
    _runs(
        "a repeated completion takes the payload of the next run",
        "if self._releases(keys) and completion.payload_revision is not None:",
        "if completion.payload_revision is not None:",
    ),
    _runs(
        "history is pruned with its active run",
        "if not rows[run_id].run.status.active]\n        for",
        "if True]\n        for",
    ),
    # -- the fence --
    _fence(
        "is gone",
        "            if slot_row is None or run_row is None or not run_row.run.status.active:\n"
        "                return False\n",
        "            if True:\n                return True\n",
    ),
    _fence(
        "lets a run pass that is over",
        " or not run_row.run.status.active:",
        ":",
    ),
    _fence(
        "ignores the nonce",
        "if (slot.run_id, slot.nonce, run.nonce) != (run_id, nonce, nonce):",
        "if slot.run_id != run_id:",
    ),
    _fence(
        "ignores who holds the slot",
        "if (slot.run_id, slot.nonce, run.nonce) != (run_id, nonce, nonce):",
        "if run.nonce != nonce:",
    ),
    _fence(
        "ignores a cancellation",
        "            if slot.cancel_requested:\n                return False\n",
        "",
    ),
)
