"""The in-memory store: six ports on one state, and the hands of those who write beside them."""

from dataclasses import replace
from datetime import datetime

from nightshift.domain.errors import InvalidCursor
from nightshift.domain.exchanged import Event, Observe, Page, TaskRef, Thread
from nightshift.domain.model.enums import RunStatus, SlotState
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Slot
from nightshift_toolkit.memory.outbox import MemoryOutbox
from nightshift_toolkit.memory.runs import MemoryRuns
from nightshift_toolkit.memory.state import Interruption, State, reading, writing
from nightshift_toolkit.memory.sweeps import MemorySweeps
from nightshift_toolkit.memory.tasks import MemoryTasks
from nightshift_toolkit.memory.work import MemoryWork, picked_up


def unobserved(_event: Event) -> None:
    """An observer that tells nobody."""


class MemoryThreads:
    """A `ThreadStore`."""

    name = "threads"

    def __init__(self, state: State) -> None:
        self.state = state

    @writing
    def register(self, thread: Thread) -> Thread:
        """See `ThreadStore.register`."""
        return self.state.threads.setdefault((thread.user_id, thread.id), thread)

    @reading
    def get(self, user_id: str, thread_id: str) -> Thread | None:
        """See `ThreadStore.get`."""
        return self.state.threads.get((user_id, thread_id))


class MemoryPolicy:
    """A `PolicySource` whose policy can be changed at any time."""

    name = "policies"

    def __init__(self, state: State) -> None:
        self.state = state

    @reading
    def current(self) -> Policy:
        """See `PolicySource.current`."""
        return PolicyInForce(self.state.policy, self.state.override).policy

    @reading
    def in_force(self) -> PolicyInForce:
        """See `PolicySource.in_force`."""
        return PolicyInForce(self.state.policy, self.state.override)

    @writing
    def change(self, override: Override) -> bool:
        """See `PolicySource.change`."""
        seen = self.state.override
        if override.revision - 1 != (seen.revision if seen else 0):
            return False
        self.state.override = override
        self.state.overrides.insert(0, override)
        return True

    @reading
    def changes(self, *, limit: int, after: str | None = None) -> Page[Override]:
        """See `PolicySource.changes`."""
        log = self.state.overrides
        places = {str(entry.revision): place for place, entry in enumerate(log, start=1)}
        if after is not None and after not in places:
            raise InvalidCursor
        start = 0 if after is None else places[after]
        items = log[start : start + limit]
        more = len(log) > start + limit
        return Page(items, str(items[-1].revision) if more else None)


class MemoryStore:
    """All that production keeps in the table: `tasks`, `runs`, `threads`, `policies`, `sweeps`,
    `outbox`.

    Each port method is one step under one lock, and rows are copies, so nobody's value changes
    behind their back. The methods of the store itself are the hands of others: the workflow's
    fence, the worker's pickup, the operator, and whatever damages rows; `work` are those of the
    workflow and the worker of a run at work.
    """

    def __init__(self, policy: Policy | None = None, observe: Observe = unobserved) -> None:
        self._state = State(policy or Policy())
        self.tasks = MemoryTasks(self._state)
        self.runs = MemoryRuns(self._state, observe)
        self.threads = MemoryThreads(self._state)
        self.policies = MemoryPolicy(self._state)
        self.sweeps = MemorySweeps(self._state)
        self.outbox = MemoryOutbox(self._state)
        self.work = MemoryWork(self._state)

    # -- what others do --

    def set_policy(self, policy: Policy) -> None:
        """Change the limits in force, as an operator does without a deploy."""
        with self._state.lock:
            self._state.policy = policy

    def pass_fence(self, run_id: str, nonce: str, at: datetime) -> bool:
        """What the workflow's first state does: both rows become running, or nothing happens.

        False: the keys are not held by this run under this nonce, its cancellation was requested,
        or it is over. Passing again under the same nonce is no error.
        """
        with self._state.lock:
            slot_row = self._state.slots.get(task_id_of(run_id))
            run_row = self._state.runs[task_id_of(run_id)].get(run_id)
            if slot_row is None or run_row is None or not run_row.run.status.active:
                return False
            slot, run = slot_row.slot, run_row.run
            if (slot.run_id, slot.nonce, run.nonce) != (run_id, nonce, nonce):
                return False
            if slot.cancel_requested:
                return False
            slot_row.slot = replace(slot, state=SlotState.RUNNING, started_at=slot.started_at or at)
            run_row.run = replace(run, status=RunStatus.RUNNING, started_at=run.started_at or at)
            return True

    def pick_up(self, run_id: str) -> None:
        """What a worker does when it wins the run."""
        with self._state.lock:
            row = self._state.runs[task_id_of(run_id)][run_id]
            row.run = picked_up(row.run, row.run.attempt)

    # -- what goes wrong --

    def unplug(self) -> None:
        """Stop answering: from now on every call raises `StorageUnavailable`."""
        self._state.unplugged = True

    def lose_answers(self, *, lost: bool = True) -> None:
        """Write what is asked, but let no answer to a write arrive."""
        self._state.loses_answers = lost

    def before(self, operation: str, action: Interruption) -> None:
        """Run `action` once, just before the next call of an operation such as `runs.admit`.

        An action that raises makes the call raise, and nothing is written.
        """
        self._state.interrupt("before", operation, action)

    def after(self, operation: str, action: Interruption) -> None:
        """Run `action` once, just after the next call of an operation; its write has happened."""
        self._state.interrupt("after", operation, action)

    def calls(self, operation: str) -> int:
        """How often an operation such as `tasks.read` was called."""
        return self._state.calls[operation]

    def all_calls(self) -> dict[str, int]:
        """How often each operation was called."""
        return dict(self._state.calls)

    def forget_calls(self) -> None:
        """Count from zero again."""
        self._state.calls.clear()

    def corrupt_task(self, ref: TaskRef, reason: str = "the schedule cannot be read") -> None:
        """Make a task row unreadable; its entry of the due index stays."""
        with self._state.lock:
            self._state.tasks[ref].corrupt = reason

    def corrupt_slot(self, task_id: str) -> None:
        """Make a slot unreadable; its keys stay held."""
        with self._state.lock:
            self._state.slots[task_id].corrupt = True

    def corrupt_run(self, run_id: str) -> None:
        """Make a run's record unreadable."""
        with self._state.lock:
            self._state.runs[task_id_of(run_id)][run_id].corrupt = True

    def announce(self, *notices: Outgoing) -> None:
        """Put notices into the outbox without the fact that they tell of."""
        with self._state.lock:
            self._state.announce(notices)

    def corrupt_notice(self, notice_id: str) -> None:
        """Make the row of a notice unreadable."""
        with self._state.lock:
            self._state.damaged_notices.add(notice_id)

    def lose_payload(self, ref: TaskRef, revision: int) -> None:
        """Remove the prompt or command of one revision."""
        with self._state.lock:
            del self._state.payloads[ref, revision]

    def lose_run(self, run_id: str) -> None:
        """Remove a run's record, though its keys may still be held."""
        with self._state.lock:
            del self._state.runs[task_id_of(run_id)][run_id]

    # -- what is held --

    def next_due(self) -> datetime | None:
        """When the clock next has something to start, without a call of a port."""
        with self._state.lock:
            rows = self._state.tasks.values()
            return min((row.entry.due_at for row in rows if row.entry is not None), default=None)

    def held_keys(self) -> dict[str, str]:
        """Every key that is taken, by its name, and the run that holds it."""
        with self._state.lock:
            slots = {f"slot {task}": row.slot.run_id for task, row in self._state.slots.items()}
            seats = {f"seat {seat}": run_id for seat, run_id in self._state.seats.items()}
            locks = {
                f"thread {user}/{thread}": run_id
                for (user, thread), run_id in self._state.thread_locks.items()
            }
            own = {
                f"user seat {user}/{seat}": run_id
                for (user, seat), run_id in self._state.user_seats.items()
            }
            return slots | seats | own | locks

    def notices(self) -> list[Outgoing]:
        """Every notice on its way, without a call of a port."""
        with self._state.lock:
            return sorted(self._state.outbox.values(), key=lambda row: row.notice.id)

    def active_slots(self) -> list[Slot]:
        """The slots as they are, without a call of a port."""
        with self._state.lock:
            return [row.slot for row in self._state.slots.values()]
