"""Where a play keeps its rows: the in-memory store, and what the explorer asks of any store."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from nightshift.domain.model.policy import Policy
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import RunStore, TaskStore, ThreadStore
from nightshift_toolkit.audit import Snapshot, snapshot_of_memory
from nightshift_toolkit.memory import MemoryStore
from nightshift_toolkit.memory.work import MemoryWork


class Rows(Protocol):
    """The four ports of one store, and the hands that no port has."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    work: MemoryWork

    def pass_fence(self, run_id: str, nonce: str, at: datetime) -> bool:
        """Do what the workflow's first state does; whether it passed."""

    def snapshot(self, now: datetime) -> Snapshot:
        """Everything that is stored."""

    def fingerprint(self) -> str | None:
        """A text that is equal for equal contents; None if that is dear to tell."""


class MemoryRows:
    """The in-memory store."""

    def __init__(self, policy: Policy) -> None:
        self._store = MemoryStore(policy)
        self.tasks: TaskStore = self._store.tasks
        self.runs: RunStore = self._store.runs
        self.threads: ThreadStore = self._store.threads
        self.policies: PolicySource = self._store.policies
        self.work = self._store.work

    def set_policy(self, policy: Policy) -> None:
        """Change what is deployed."""
        self._store.set_policy(policy)

    def pass_fence(self, run_id: str, nonce: str, at: datetime) -> bool:
        """See `Rows.pass_fence`."""
        return self._store.pass_fence(run_id, nonce, at)

    def snapshot(self, now: datetime) -> Snapshot:
        """See `Rows.snapshot`."""
        return snapshot_of_memory(self._store, now=now)

    def fingerprint(self) -> str:
        """See `Rows.fingerprint`; keys are sorted, since the order of writing is no content."""
        state = self._store._state
        tables: tuple[Mapping[object, object], ...] = (
            state.tasks,
            state.slots,
            state.seats,
            state.user_seats,
            state.thread_locks,
            state.payloads,
            state.runs,
        )  # type: ignore[assignment]
        rows = [sorted(f"{key}={row}" for key, row in table.items()) for table in tables]
        return f"{rows}{state.policy}{state.override}"
