"""Runs and the keys they hold, in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from nightshift.domain.errors import CorruptRecord, InvalidCursor
from nightshift.domain.exchanged import (
    Admission,
    AdmissionAnswer,
    AdmissionResult,
    Completion,
    CompletionAnswer,
    Ended,
    Event,
    Observe,
    Page,
    TaskRef,
    Undone,
    Verdict,
)
from nightshift.domain.model.enums import RunStatus, SlotState, Trigger
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Keys, Slot
from nightshift.domain.model.task import Plan, Task
from nightshift_toolkit.memory.state import (
    RunRow,
    SlotRow,
    State,
    TaskRow,
    copied,
    reading,
    writing,
)
from nightshift_toolkit.memory.tasks import as_seen
from nightshift_toolkit.memory.verdicts import ended, skipped, told, undone


def _counts_as_seen(row: TaskRow | None, admission: Admission) -> bool:
    """Whether the task has as many failures in a row as a run that may pause it will say."""
    streak = admission.slot.streak
    if row is None or streak is None or streak.pause_after is None:
        return True
    return row.task.state.failures_in_a_row == admission.seen.state.failures_in_a_row


def _succeeded_as_seen(row: TaskRow | None, admission: Admission) -> bool:
    """Whether the last success is the one whose result the run will be handed."""
    if row is None or admission.slot.previous is None:
        return True
    return row.task.state.last_success_run_id == admission.seen.state.last_success_run_id


class MemoryRuns:
    """A `RunStore`."""

    name = "runs"

    def __init__(self, state: State, observe: Observe) -> None:
        self.state = state
        self._observe = observe

    @writing
    def admit(self, admission: Admission) -> AdmissionResult:
        """See `RunStore.admit`."""
        refusal = self._refusal(admission)
        if refusal is not None:
            return refusal
        if admission.key is not None:
            self.state.used_keys[admission.key.user_id, admission.key.name] = admission.key
        slot, run = copied(admission.slot), copied(admission.run)
        keys = slot.keys
        self.state.slots[keys.task_id] = SlotRow(slot)
        self.state.seats[keys.seat] = keys.run_id
        if keys.user_seat is not None:
            self.state.user_seats[keys.user_id, keys.user_seat] = keys.run_id
        if keys.locked_thread_id is not None:
            self.state.thread_locks[keys.user_id, keys.locked_thread_id] = keys.run_id
        self.state.runs[keys.task_id][keys.run_id] = RunRow(run)
        task = self.state.tasks[TaskRef(keys.user_id, keys.task_id)].task
        if admission.plan is not None:
            task = task.with_plan(admission.plan)
        counted = replace(
            task.state,
            active_run_id=keys.run_id,
            run_count=task.state.run_count + 1,
            scheduled_run_count=task.state.scheduled_run_count + (slot.trigger is Trigger.SCHEDULE),
        )
        self.state.put(replace(task, state=counted))
        return AdmissionResult(AdmissionAnswer.ADMITTED)

    def _refusal(self, admission: Admission) -> AdmissionResult | None:
        """What stands in the way, the slot first (K4); also that it is ours already."""
        keys = admission.slot.keys
        used = self.state.standing_use(admission.key)
        if used is not None and used.made != keys.run_id:
            return AdmissionResult(AdmissionAnswer.REPEATED, used=used)
        if keys.task_id in self.state.slots:
            return self._slot_answer(admission.slot)
        answer = None
        task = self.state.tasks.get(TaskRef(keys.user_id, keys.task_id))
        lock = (keys.user_id, keys.locked_thread_id or "")
        exact = _counts_as_seen(task, admission) and _succeeded_as_seen(task, admission)
        if as_seen(task, admission.seen) is None or not exact:
            answer = AdmissionAnswer.CHANGED
        elif keys.run_id in self.state.runs[keys.task_id]:
            answer = AdmissionAnswer.RECORDED
        elif lock in self.state.thread_locks:
            holder = self.state.thread_locks[lock]
            return AdmissionResult(AdmissionAnswer.THREAD_BUSY, thread_held_by=holder)
        elif (keys.user_id, keys.user_seat) in self.state.user_seats:
            answer = AdmissionAnswer.USER_SEAT_TAKEN
        elif keys.seat in self.state.seats:
            answer = AdmissionAnswer.SEAT_TAKEN
        return AdmissionResult(answer) if answer else None

    def _slot_answer(self, wanted: Slot) -> AdmissionResult:
        holder = copied(self.state.slots[wanted.task_id].slot)
        if holder.nonce == wanted.nonce:
            return AdmissionResult(AdmissionAnswer.ADMITTED)
        if holder.run_id == wanted.run_id:
            return AdmissionResult(AdmissionAnswer.TAKEN_ELSEWHERE, holder)
        return AdmissionResult(AdmissionAnswer.OVERLAP, holder)

    @writing
    def skip(
        self, tombstone: Run, seen: Task, plan: Plan, notices: Sequence[Outgoing] = ()
    ) -> bool:
        """See `RunStore.skip`."""
        row = as_seen(self.state.tasks.get(TaskRef(seen.user_id, seen.id)), seen)
        if row is None:
            return False
        advanced = row.task.with_plan(plan)
        if tombstone.id not in self.state.runs[seen.id]:
            self.state.runs[seen.id][tombstone.id] = RunRow(copied(tombstone))
            advanced = skipped(advanced, tombstone)
            self.state.announce(notices)
        self.state.put(advanced)
        return True

    @reading
    def slots(self) -> Sequence[Slot]:
        """See `RunStore.slots`."""
        for task_id in [task_id for task_id, row in self.state.slots.items() if row.corrupt]:
            self._observe(Event("corrupt_slot", {"task_id": task_id}))
        return [copied(row.slot) for row in self.state.slots.values() if not row.corrupt]

    @reading
    def slot(self, task_id: str, shard: int) -> Slot | None:
        """See `RunStore.slot`."""
        row = self.state.slots.get(task_id)
        if row is None or row.slot.keys.slot_shard != shard:
            return None
        if row.corrupt:
            raise CorruptRecord
        return copied(row.slot)

    @writing
    def take_lease(self, slot: Slot, until: datetime) -> Slot | None:
        """See `RunStore.take_lease`."""
        row = self.state.slots.get(slot.task_id)
        if row is None or row.corrupt or row.slot.cancel_requested:
            return None
        if row.slot.state is not SlotState.QUEUED or row.slot.nonce != slot.nonce:
            return None
        if row.slot.run_id != slot.run_id or row.slot.lease_until != slot.lease_until:
            return None
        row.slot = replace(row.slot, lease_until=until)
        return copied(row.slot)

    @writing
    def request_cancel(self, slot: Slot) -> bool:
        """See `RunStore.request_cancel`."""
        row = self.state.slots.get(slot.task_id)
        if row is None or row.slot.run_id != slot.run_id:
            return False
        row.slot = replace(row.slot, cancel_requested=True)
        return True

    @writing
    def request_pause(self, run: Run, *, wanted: bool) -> bool:
        """See `RunStore.request_pause`."""
        row = self.state.runs[run.task_id].get(run.id)
        if row is None or row.run.status is not RunStatus.RUNNING or not row.run.can_pause:
            return False
        if row.run.nonce != run.nonce:
            return False
        row.run = replace(row.run, pause_requested=wanted)
        return True

    @writing
    def complete(self, completion: Completion) -> CompletionAnswer:
        """See `RunStore.complete`."""
        keys = completion.keys
        ref = TaskRef(keys.user_id, keys.task_id)
        task_row = self.state.tasks.get(ref)
        run_row = self.state.runs[keys.task_id].get(keys.run_id)
        started = run_row is not None and run_row.run.status is RunStatus.RUNNING
        if started and completion.outcome.unlaunched:
            return CompletionAnswer(recorded=False)
        recorded = run_row is not None and run_row.run.status.active
        if run_row is not None and recorded:
            run_row.run = ended(run_row.run, completion.outcome)
        if task_row is None:
            if recorded:
                del self.state.runs[keys.task_id][keys.run_id]
            if self._releases(keys) and completion.payload_revision is not None:
                self.state.payloads.pop((ref, completion.payload_revision), None)
        elif task_row.task.state.active_run_id == keys.run_id:
            new = recorded or run_row is None
            self._tell(task_row.task, keys.run_id, completion.verdict if new else None)
        if recorded and task_row is not None:
            self._announce(task_row.task, completion)
        self._release(keys)
        return CompletionAnswer(recorded=recorded)

    def _announce(self, before: Task, completion: Completion) -> None:
        """All that came true: a task may not have needed its pause any more."""
        after = self.state.tasks[TaskRef(before.user_id, before.id)].task
        paused = after.state.status is not before.state.status
        told = [
            outgoing
            for outgoing in completion.notices
            if paused or outgoing.notice.kind is not NoticeKind.AUTO_PAUSED
        ]
        self.state.announce(told)

    def _releases(self, keys: Keys) -> bool:
        slot = self.state.slots.get(keys.task_id)
        return slot is not None and slot.slot.run_id == keys.run_id

    def _release(self, keys: Keys) -> None:
        slot = self.state.slots.get(keys.task_id)
        if slot is not None and slot.slot.run_id == keys.run_id:
            del self.state.slots[keys.task_id]
        if self.state.seats.get(keys.seat) == keys.run_id:
            del self.state.seats[keys.seat]
        if keys.user_seat is not None:
            own = (keys.user_id, keys.user_seat)
            if self.state.user_seats.get(own) == keys.run_id:
                del self.state.user_seats[own]
        if keys.locked_thread_id is not None:
            lock = (keys.user_id, keys.locked_thread_id)
            if self.state.thread_locks.get(lock) == keys.run_id:
                del self.state.thread_locks[lock]

    def _tell(self, task: Task, run_id: str, verdict: Verdict | None) -> None:
        if isinstance(verdict, Undone):
            task = undone(task, verdict)
        elif isinstance(verdict, Ended):
            task = told(task, run_id, verdict)
        self.state.put(replace(task, state=replace(task.state, active_run_id=None)))

    @reading
    def get(self, task_id: str, run_id: str) -> Run | None:
        """See `RunStore.get`."""
        row = self.state.runs[task_id].get(run_id)
        if row is None:
            return None
        if row.corrupt:
            raise CorruptRecord
        return copied(row.run)

    @reading
    def list(self, task_id: str, *, limit: int, after: str | None = None, keep: int) -> Page[Run]:
        """See `RunStore.list`."""
        if after is not None and task_id_of(after) != task_id:
            raise InvalidCursor
        kept = self._newest_first(task_id)[:keep]
        following = [run_id for run_id in kept if after is None or run_id < after]
        page = following[:limit]
        rows = self.state.runs[task_id]
        return Page(
            items=[copied(rows[run_id].run) for run_id in page if not rows[run_id].corrupt],
            next=page[-1] if len(following) > limit else None,
            corrupt=[run_id for run_id in page if rows[run_id].corrupt],
        )

    @writing
    def prune(self, task_id: str, keep: int) -> int:
        """See `RunStore.prune`."""
        rows = self.state.runs[task_id]
        beyond = self._newest_first(task_id)[keep:]
        old = [run_id for run_id in beyond if not rows[run_id].run.status.active]
        for run_id in old:
            del rows[run_id]
        return len(old)

    def _newest_first(self, task_id: str) -> Sequence[str]:
        return sorted(self.state.runs[task_id], reverse=True)
