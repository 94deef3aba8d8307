"""The run store on DynamoDB: admission, tombstones, leases, completion and history."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import (
    completion,
    conditions,
    keys,
    outbox,
    reading,
    run_rows,
    task_rows,
    used_keys,
)
from nightshift.adapters.dynamodb.items import RunItem, SlotItem, TaskItem
from nightshift.adapters.dynamodb.operations import Operation, Put, Raw, Update, key_of
from nightshift.adapters.dynamodb.table import Refusal, Table
from nightshift.domain.errors import InvalidCursor
from nightshift.domain.exchanged import (
    Admission,
    AdmissionAnswer,
    AdmissionResult,
    Completion,
    CompletionAnswer,
    Event,
    Observe,
    Page,
)
from nightshift.domain.model.enums import RunStatus, SlotState, Trigger
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Plan, Task

_COUNT = re.compile("[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class DynamoRuns:
    """See `RunStore` for what each method promises."""

    table: Table
    observe: Observe
    slot_shards: int = 1

    # -- admission --

    def admit(self, admission: Admission) -> AdmissionResult:
        """One transaction over all keys of the run; the answer is read slot first (K3, K4)."""
        slot = admission.slot
        operations: list[Operation] = [
            Put(run_rows.slot_item(slot), conditions.ABSENT),
            Put(run_rows.run_item(admission.run), conditions.ABSENT),
            _task_update(admission),
            Put(run_rows.seat_item(slot), conditions.ABSENT),
        ]
        if slot.keys.user_seat is not None:
            own = run_rows.user_seat_item(slot, slot.keys.user_seat)
            operations.append(Put(own, conditions.ABSENT))
        if slot.keys.locked_thread_id is not None:
            lock = run_rows.thread_lock_item(slot, slot.keys.locked_thread_id)
            operations.append(Put(lock, conditions.ABSENT))
        key = admission.key
        refusals = self.table.transact(operations + ([used_keys.take(key)] if key else []))
        if refusals is None:
            return AdmissionResult(AdmissionAnswer.ADMITTED)
        if key is not None:
            *refusals, taken = refusals
            if taken is not None and taken.item is not None:
                used = used_keys.used_key_from(taken.item)
                if used.made != slot.run_id:  # ours stands there when a first answer was lost
                    return AdmissionResult(AdmissionAnswer.REPEATED, used=used)
        return _read_refusal(slot, refusals)

    def skip(
        self, tombstone: Run, seen: Task, plan: Plan, notices: Sequence[Outgoing] = ()
    ) -> bool:
        """The tombstone and the advanced task together; the task alone where one exists."""
        actions = task_rows.plan_actions(seen, plan)
        if not seen.recurring:
            actions.append(TaskItem.last_error.set(f"skipped: {tombstone.reason}"))
        task = keys.task(seen.user_id, seen.id)
        advance = Update(task, actions, conditions.as_seen(seen))
        expires_at = int((tombstone.created_at + completion.HISTORY_LIFETIME).timestamp())
        record = Put(run_rows.run_item(tombstone, expires_at=expires_at), conditions.ABSENT)
        refusals = self.table.transact([record, advance, *outbox.additions(notices)])
        if refusals is None:
            return True
        if refusals[1] is not None:
            return False
        only_plan = Update(task, task_rows.plan_actions(seen, plan), conditions.as_seen(seen))
        return self.table.write(only_plan) is None

    # -- active runs --

    def slots(self) -> Sequence[Slot]:
        """All slots of all shards; what cannot be read is told and keeps its keys."""
        found: list[Slot] = []
        for shard in range(self.slot_shards):
            rows = list(self.table.query(keys.active(shard)))
            slots, corrupt = reading.readable(rows, run_rows.slot_from)
            found += slots
            for error in corrupt:
                self.observe(Event("corrupt_slot", error=error))
        return found

    def slot(self, task_id: str, shard: int) -> Slot | None:
        """The slot of one task."""
        row = self.table.get(keys.slot(task_id, shard))
        return None if row is None else run_rows.slot_from(row)

    def take_lease(self, slot: Slot, until: datetime) -> Slot | None:
        """Own an unsettled launch; a lost answer is recognised by the lease we wrote."""
        key = keys.slot(slot.task_id, slot.keys.slot_shard)
        take = Update(key, [SlotItem.lease_until.set(until)], conditions.lease_as_seen(slot))
        refusal = self.table.write(take)
        if refusal is None or _is_leased_by_us(refusal.item, slot, until):
            return replace(slot, lease_until=until)
        return None

    def request_cancel(self, slot: Slot) -> bool:
        """Close the fence before the run, if it still holds its slot."""
        key = keys.slot(slot.task_id, slot.keys.slot_shard)
        mark = Update(
            key, [SlotItem.cancel_requested.set(True)], conditions.slot_held_by(slot.run_id)
        )
        return self.table.write(mark) is None

    def request_pause(self, run: Run, *, wanted: bool) -> bool:
        """Write the wish on the run's row, where its worker looks."""
        wish = RunItem.pause_requested
        change = Update(
            keys.run(run.task_id, run.id),
            [wish.set(True) if wanted else wish.remove()],
            conditions.pausable(run.nonce or ""),
        )
        return self.table.write(change) is None

    def complete(self, ended: Completion) -> CompletionAnswer:
        """The end of a run; see `completion.py`."""
        return completion.complete(self.table, ended)

    # -- history --

    def get(self, task_id: str, run_id: str) -> Run | None:
        """One run."""
        row = self.table.get(keys.run(task_id, run_id))
        return None if row is None else run_rows.run_from(row)

    def list(self, task_id: str, *, limit: int, after: str | None = None, keep: int) -> Page[Run]:
        """One page of the newest runs; `after` carries how many were shown before it."""
        shown, last = _position(after)
        limit = min(limit, max(keep - shown, 0))
        if not limit:
            return Page([])
        rows = self.table.query(
            keys.history(task_id),
            begins_with=keys.RUN,
            after=None if last is None else f"{keys.RUN}{last}",
            newest_first=True,
            page=limit + 1,
        )
        page = list(islice(rows, limit + 1))
        runs, corrupt = reading.readable(page[:limit], run_rows.run_from)
        more = len(page) > limit and shown + limit < keep
        following = f"{shown + limit}:{_run_id(page[limit - 1])}" if more else None
        return Page(runs, following, [error.message for error in corrupt])

    def prune(self, task_id: str, keep: int) -> int:
        """Remove ended runs beyond the newest `keep`."""
        rows = self.table.query(
            keys.history(task_id),
            begins_with=keys.RUN,
            newest_first=True,
            attributes=("pk", "sk", "status"),
        )
        beyond = [
            key_of(row)
            for row in islice(rows, keep, None)
            if not RunStatus(row["status"]["S"]).active
        ]
        self.table.delete_rows(beyond)
        return len(beyond)


def _is_leased_by_us(met: Raw | None, slot: Slot, until: datetime) -> bool:
    """Whether the refusal met our own write, whose answer was lost (B48)."""
    if met is None:
        return False
    found = run_rows.slot_from(met)
    ours = found.nonce == slot.nonce and found.lease_until == until
    return ours and found.state is SlotState.QUEUED and not found.cancel_requested


def _task_update(admission: Admission) -> Update:
    """Advance and count; a manual run of a recurring task leaves its times alone (P4)."""
    seen = admission.seen
    actions: list[Action] = [
        TaskItem.active_run_id.set(admission.run.id),
        TaskItem.run_count.add(1),
    ]
    if admission.plan is not None:
        actions += task_rows.plan_actions(seen, admission.plan)
    if admission.slot.trigger is Trigger.SCHEDULE:
        actions.append(TaskItem.scheduled_run_count.add(1))
    condition = conditions.as_seen(seen)
    streak = admission.slot.streak
    if streak is not None and streak.pause_after is not None:
        condition &= conditions.counts_as_seen(seen)
    if admission.slot.previous is not None:
        condition &= conditions.succeeded_as_seen(seen)
    return Update(keys.task(seen.user_id, seen.id), actions, condition)


def _read_refusal(slot: Slot, refusals: Sequence[Refusal | None]) -> AdmissionResult:
    held, recorded, changed, seat, *others = refusals
    own = others.pop(0) if slot.keys.user_seat is not None else None
    lock = others.pop(0) if slot.keys.locked_thread_id is not None else None
    if held is not None and held.item is not None:
        return _read_holder(slot, run_rows.slot_from(held.item))
    if changed is not None:
        return AdmissionResult(AdmissionAnswer.CHANGED)
    if recorded is not None:
        return AdmissionResult(AdmissionAnswer.RECORDED)
    if lock is not None:
        return AdmissionResult(AdmissionAnswer.THREAD_BUSY, thread_held_by=_holder(lock))
    if own is not None:
        return AdmissionResult(AdmissionAnswer.USER_SEAT_TAKEN)
    if seat is not None:
        return AdmissionResult(AdmissionAnswer.SEAT_TAKEN)
    raise AssertionError("a refused admission names the operation that was refused")


def _holder(refusal: Refusal) -> str | None:
    return None if refusal.item is None else str(refusal.item["run_id"]["S"])


def _read_holder(slot: Slot, holder: Slot) -> AdmissionResult:
    """Our nonce: the first answer was lost. Our run elsewhere: somebody is at it (K4)."""
    if holder.nonce == slot.nonce:
        return AdmissionResult(AdmissionAnswer.ADMITTED, holder)
    same_run = holder.run_id == slot.run_id
    answer = AdmissionAnswer.TAKEN_ELSEWHERE if same_run else AdmissionAnswer.OVERLAP
    return AdmissionResult(answer, holder)


def _position(after: str | None) -> tuple[int, str | None]:
    if after is None:
        return 0, None
    shown, colon, run_id = after.partition(":")
    if not (_COUNT.fullmatch(shown) and colon and run_id):
        raise InvalidCursor
    return int(shown), run_id


def _run_id(row: Raw) -> str:
    return str(row["sk"]["S"]).removeprefix(keys.RUN)
