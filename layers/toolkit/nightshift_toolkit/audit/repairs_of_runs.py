"""Repairs of runs and their keys. Each is one conditional write, so dying in one leaves nothing."""

from dataclasses import dataclass
from datetime import datetime

from pynamodb.expressions.condition import Or
from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import conditions, keys, run_rows
from nightshift.adapters.dynamodb.completion import HISTORY_LIFETIME
from nightshift.adapters.dynamodb.items import RunItem
from nightshift.adapters.dynamodb.operations import Check, Delete, Operation, Put, Update
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.model.enums import Outcome, RunStatus
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Slot
from nightshift.domain.ports import Inspector
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift_toolkit.audit.attempts import may_be_asked_to_pause, may_be_paused
from nightshift_toolkit.audit.snapshot import Holder, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRepairs:
    """What can be put right about runs. Each method says what it did, or None if nothing."""

    table: Table
    inspector: Inspector
    lifecycle: Lifecycle
    snapshot: Snapshot
    now: datetime

    def settle(self, run_id: str) -> str | None:
        """End a run whose execution ended or cannot come any more; one that runs is left alone."""
        slot = self.snapshot.slot_of_run.get(run_id)
        if slot is not None:
            freed = self.lifecycle.verify(slot, self.now)
            return "ended the run as its execution did and freed its keys" if freed else None
        execution = self.inspector.describe(run_id, self.now)
        if execution is not None and execution.outcome is None:
            return None
        outcome = (execution.outcome if execution else None) or RunOutcome(
            run_id=run_id,
            outcome=Outcome.FAILED,
            reason="not_launched",
            error="The run held no slot and Step Functions knows no execution of it.",
            finished_at=self.now,
        )
        return "ended the run" if self.lifecycle.record_outcome(outcome) else None

    def settle_slot_of(self, task_id: str) -> str | None:
        """End the run that holds the slot of a task, or free the slot of one that is over."""
        slot = self.snapshot.slot_of.get(task_id)
        return self.settle(slot.run_id) if slot else None

    def free(self, subject: str) -> str | None:
        """Free a seat or thread lock that is held by a run which is not active."""
        key, holder = self._held(subject)
        if self.snapshot.is_active(holder.run_id):
            return None
        over = Or(conditions.ABSENT, RunItem.status.is_in(*_TERMINAL))
        run = keys.run(task_id_of(holder.run_id), holder.run_id)
        freed = self._write(Delete(key, conditions.held_by(holder.run_id)), Check(run, over))
        return f"freed it from {holder.run_id}" if freed else None

    def _held(self, subject: str) -> tuple[keys.Key, Holder]:
        kind, _, name = subject.rpartition(" ")
        if kind == "seat":
            return keys.seat(int(name)), self.snapshot.seats[int(name)]
        user_id, _, last = name.rpartition("/")
        if kind == "thread":
            key = keys.thread_lock(user_id, last)
            return key, self.snapshot.thread_locks[user_id, last]
        key = keys.user_seat(user_id, int(last))
        return key, self.snapshot.user_seats[user_id, int(last)]

    def take_missing_keys(self, run_id: str) -> str | None:
        """Take the seat and the thread lock that an active run should hold, if they are free."""
        slot = self.snapshot.slot_of_run.get(run_id)
        if slot is None or not self.snapshot.is_active(run_id):
            return None
        held = Check(keys.slot(slot.task_id, slot.keys.slot_shard), conditions.slot_held_by(run_id))
        missing = self._missing(slot)
        taken = bool(missing) and self._write(*missing, held)
        return "took the missing keys of the active run" if taken else None

    def _missing(self, slot: Slot) -> list[Operation]:
        missing: list[Operation] = []
        if slot.keys.seat not in self.snapshot.seats:
            missing.append(Put(run_rows.seat_item(slot), conditions.ABSENT))
        thread_id = slot.keys.locked_thread_id
        lock = (slot.keys.user_id, thread_id or "")
        if thread_id is not None and lock not in self.snapshot.thread_locks:
            missing.append(Put(run_rows.thread_lock_item(slot, thread_id), conditions.ABSENT))
        return missing

    def date(self, run_id: str) -> str | None:
        """Give a terminal run its end and its expiry; take both from an active one."""
        run = self.snapshot.run_of[run_id]
        key = keys.run(run.task_id, run.id)
        if run.status.active:
            actions: list[Action] = [RunItem.finished_at.remove(), RunItem.expires_at.remove()]
            done = self._write(Update(key, actions, conditions.not_terminal()))
            return "took end and expiry from the active run" if done else None
        ended = _ended(run)
        actions = [
            RunItem.finished_at.set(ended),
            RunItem.expires_at.set(int((ended + HISTORY_LIFETIME).timestamp())),
        ]
        unchanged = conditions.EXISTS & (RunItem.status == run.status.value)
        return "dated the ended run" if self._write(Update(key, actions, unchanged)) else None

    def let_go_on(self, run_id: str) -> str | None:
        """Take a pause, or the wish for one, from a run that nobody can pause."""
        run = self.snapshot.run_of[run_id]
        actions: list[Action] = []
        if not may_be_asked_to_pause(run):
            actions.append(RunItem.pause_requested.remove())
        if not may_be_paused(run):
            actions.append(RunItem.paused_at.remove())
        if run.picked_up_attempt is None:
            actions.append(RunItem.paused_seconds.remove())
        unchanged = (RunItem.status == run.status.value) & (RunItem.attempt == run.attempt)
        key = keys.run(run.task_id, run.id)
        done = bool(actions) and self._write(Update(key, actions, unchanged))
        return "took a pause from a run that cannot be paused" if done else None

    def forget(self, task_id: str) -> str | None:
        """Remove the ended runs of a task that is gone."""
        removed = 0
        for run in self.snapshot.history_of[task_id]:
            ended = RunItem.status.is_in(*_TERMINAL)
            delete = Delete(keys.run(task_id, run.id), ended)
            gone = Check(keys.task(run.user_id, task_id), conditions.ABSENT)
            removed += not run.status.active and self._write(delete, gone)
        return f"removed {removed} records of a task that is gone" if removed else None

    def _write(self, *operations: Operation) -> bool:
        return self.table.transact(operations) is None


_TERMINAL = [status.value for status in RunStatus if not status.active]


def _ended(run: Run) -> datetime:
    """When a terminal run ended, or the last instant that is known of it."""
    return run.finished_at or run.started_at or run.created_at
