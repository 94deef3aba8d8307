"""From a due occurrence or a manual trigger to an admitted, launched run: the four exits.

Decisions are taken from what was read, admission decides: its one transaction takes all of a
run's keys or none, so any number of ticks and triggers may be in here at once (K3, K4).
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from nightshift.domain.errors import (
    ActiveRun,
    ConcurrentUpdate,
    CorruptRecord,
    InvalidRequest,
    LaunchFailed,
    TaskNotFound,
    ThreadBusy,
)
from nightshift.domain.exchanged import Admission, AdmissionAnswer, AdmissionResult, TaskRef
from nightshift.domain.model.enums import (
    DispatchExit,
    Rule,
    SkipReason,
    Trigger,
)
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.occasions import notices_of_tombstone
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.replanning import by_zone_rules_in_use
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import manual_run_id, occurrence_run_id
from nightshift.domain.model.seats import Places
from nightshift.domain.model.slot import Slot, slot_for
from nightshift.domain.model.spec import Folded
from nightshift.domain.model.status import status_after_launch, status_after_skip
from nightshift.domain.model.task import Payload, Plan, Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import Ids, RunStore, TaskStore
from nightshift.domain.services.admission import (
    as_holder,
    budget_full,
    ensure_allowed,
    places_left,
    put_rest_back,
)
from nightshift.domain.services.lifecycle import DispatchResult, Lifecycle
from nightshift.domain.services.repetition import once_by_key
from nightshift.domain.services.rulings import (
    PAYLOAD_MISSING,
    Act,
    Due,
    Ruling,
    before_keys,
    on_key,
)

if TYPE_CHECKING:
    from nightshift.domain.commands import TriggerTask

ATTEMPTS = 3
"""How often a manual trigger is decided anew when its task changes under it."""
_REFUSALS: Final = {Rule.PERMISSION: InvalidRequest, Rule.PAYLOAD: CorruptRecord}
"""What a dispatch raises where a task is to be blocked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Turns due occurrences and triggers into runs; `announces` is that of `Lifecycle`."""

    tasks: TaskStore
    runs: RunStore
    lifecycle: Lifecycle
    policies: PolicySource
    ids: Ids
    announces: bool = False

    # -- by the clock --

    def dispatch_due(
        self, due: Due, places: Places, policy: Policy, now: datetime
    ) -> DispatchResult:
        """Deal with one due occurrence: launch it, skip it with its tombstone, or leave it.

        Returns:
            `conflict` with the reason `budget_full` when no place is left, for anybody or for this
            user; the task stays due.

        Raises:
            CorruptRecord: the task's prompt or command is missing.
            InvalidRequest: the policy forbids the task now (P20).
            LaunchImpossible: nothing can be launched at all.
        """
        task = self._by_zone_rules_in_use(due.task, now)
        if not task.is_due(now) or task.state.next_run_at is None:
            return _conflict(task, "not_due")
        for _, ruling in before_keys(Due(task, due.payload, due.holder), policy, now):
            if ruling is not None:
                return self._carried_out(ruling, task, now)
        if due.payload is None:
            raise CorruptRecord(PAYLOAD_MISSING)
        run_id = occurrence_run_id(task.id, task.state.next_run_at)
        if due.holder is not None:
            seen = AdmissionResult(as_holder(due.holder, run_id), due.holder)
            result = self._stopped(task, seen, policy, now)
            if result is not None:
                return result
        return self._admit_due(task, due.payload, run_id, places, policy, now)

    def _by_zone_rules_in_use(self, task: Task, now: datetime) -> Task:
        """The task as newer zone rules plan it, if older ones made it due.

        What stands in the table is put right first. Should that be refused, somebody else was at
        the task, and the admission finds out what they left.
        """
        plan = by_zone_rules_in_use(task, now)
        if plan is None:
            return task
        self.tasks.advance(task, plan)
        return task.with_plan(plan)

    def _admit_due(
        self,
        task: Task,
        payload: Payload,
        run_id: str,
        places: Places,
        policy: Policy,
        now: datetime,
    ) -> DispatchResult:
        launched = status_after_launch(Trigger.SCHEDULE, once=not task.recurring)
        plan = task.plan_after_dispatch(launched, now, counted=True)
        folded = task.folded(now)
        while (place := places.take(task.user_id)) is not None:
            slot = slot_for(
                task,
                run_id=run_id,
                trigger=Trigger.SCHEDULE,
                nonce=self.ids.nonce(),
                place=place,
                now=now,
                policy=policy,
            )
            result = self._admit(task, slot, plan, folded)
            if result.answer is AdmissionAnswer.ADMITTED:
                return self.lifecycle.launch(slot, payload, now)
            if put_rest_back(result.answer, place, places):
                continue
            places.put_back(place)
            stopped = self._stopped(task, result, policy, now)
            if stopped is not None:
                return stopped
        return _conflict(task, "budget_full", run_id)

    def _admit(
        self,
        task: Task,
        slot: Slot,
        plan: Plan | None,
        folded: Folded | None,
        key: UsedKey | None = None,
    ) -> AdmissionResult:
        run = Run.admitted(task, slot, folded, announces=self.announces)
        return self.runs.admit(Admission(slot=slot, run=run, seen=task, plan=plan, key=key))

    def _stopped(
        self, task: Task, result: AdmissionResult, policy: Policy, now: datetime
    ) -> DispatchResult | None:
        """The exit of an occurrence that was not admitted; None when its way is free after all.

        Whoever waits for the run that holds its key does not ask whether that has ended, since
        every look does so for all.
        """
        ruling = on_key(task, result.answer)
        if ruling.act in (Act.SKIP, Act.CANCEL_HOLDER):
            holder = result.holder or self._slot_of(result.thread_held_by)
            if self._has_ended(holder, policy, now):
                return None
            if ruling.act is Act.CANCEL_HOLDER and holder and self.lifecycle.give_way(holder, now):
                return None
        return self._carried_out(ruling, task, now)

    def _carried_out(self, ruling: Ruling, task: Task, now: datetime) -> DispatchResult:
        """Do what the rules say of an occurrence that does not start now."""
        match ruling.act:
            case Act.BLOCK:
                raise _REFUSALS[ruling.rule](ruling.reason)
            case Act.SKIP:
                return self._skip(task, SkipReason(ruling.reason), now)
            case Act.ADVANCE:
                passed = status_after_skip(once=not task.recurring)
                self.tasks.advance(task, task.plan_after_dispatch(passed, now, counted=False))
        return _conflict(task, ruling.reason)

    def _has_ended(self, holder: Slot | None, policy: Policy, now: datetime) -> bool:
        """Whether an old holder turns out to have ended unheard, so that its keys are free now."""
        if holder is None or not holder.is_old(now, policy):
            return False
        return self.lifecycle.verify(holder, now)

    def _slot_of(self, run_id: str | None) -> Slot | None:
        if run_id is None:
            return None
        return next((slot for slot in self.runs.slots() if slot.run_id == run_id), None)

    def _skip(self, task: Task, reason: SkipReason, now: datetime) -> DispatchResult:
        skipped = status_after_skip(once=not task.recurring)
        plan = task.plan_after_dispatch(skipped, now, counted=False)
        tombstone = Run.tombstone(task, reason, now, task.folded(now))
        notices = notices_of_tombstone(task, tombstone, announces=self.announces)
        if not self.runs.skip(tombstone, task, plan, notices):
            return _conflict(task, "changed", tombstone.id)
        return DispatchResult(DispatchExit.SKIPPED, task.id, tombstone.id, reason.value)

    # -- by hand --

    def trigger_task(self, command: "TriggerTask", now: datetime) -> Run:
        """Run a task now, whatever its schedule says; never queued (P4).

        Sent again under the same key it is the run that it made, as that is now.

        Returns:
            The run; still `queued` when the launch may or may not have happened.

        Raises:
            IdempotencyMismatch: the key was used for another request.
            TaskNotFound: there is no such task of this user.
            RunNotFound: what was made under this key is no longer in the history.
            ActiveRun, ThreadBusy, BudgetFull: it cannot run now; nothing was written.
            ConcurrentUpdate: the task kept changing under the trigger.
            LaunchFailed: the launch was refused; the task is as it was.
        """
        trigger = partial(self._trigger, command, now)
        return once_by_key(self.tasks, self.runs, command, now, trigger)

    def _trigger(self, command: "TriggerTask", now: datetime) -> Run:
        policy = self.policies.current()
        for _ in range(ATTEMPTS):
            task = self.tasks.get(TaskRef(command.user_id, command.task_id))
            if task is None:
                raise TaskNotFound
            ensure_allowed(task, policy)
            ref = TaskRef(task.user_id, task.id)
            payload = self.tasks.payload(ref, task.definition.payload_revision)
            if payload is None:
                raise CorruptRecord(PAYLOAD_MISSING)
            run = self._trigger_once(command, task, payload, policy, now)
            if run is not None:
                return run
        raise ConcurrentUpdate

    def _trigger_once(
        self, command: "TriggerTask", task: Task, payload: Payload, policy: Policy, now: datetime
    ) -> Run | None:
        slots = self.runs.slots()
        holder = next((slot for slot in slots if slot.task_id == task.id), None)
        if holder is not None:
            if self._has_ended(holder, policy, now):
                return None
            raise ActiveRun
        launched = status_after_launch(Trigger.MANUAL, once=not task.recurring)
        plan = task.plan(launched, now) if launched else None
        run_id = manual_run_id(task.id, now, self.ids.suffix())
        key = command.key.used(task.user_id, run_id, now) if command.key else None
        places = places_left(slots, policy)
        while (place := places.take(task.user_id)) is not None:
            slot = slot_for(
                task,
                run_id=run_id,
                trigger=Trigger.MANUAL,
                nonce=self.ids.nonce(),
                place=place,
                now=now,
                policy=policy,
            )
            result = self._admit(task, slot, plan, None, key)
            match result.answer:
                case AdmissionAnswer.ADMITTED:
                    return self._launch_manual(task, slot, payload, now)
                case AdmissionAnswer.SEAT_TAKEN | AdmissionAnswer.USER_SEAT_TAKEN:
                    put_rest_back(result.answer, place, places)
                case AdmissionAnswer.CHANGED:
                    return None
                case AdmissionAnswer.THREAD_BUSY:
                    if self._has_ended(self._slot_of(result.thread_held_by), policy, now):
                        return None
                    raise ThreadBusy
                case _:
                    raise ActiveRun
        raise budget_full(task.user_id, places, policy, self.policies)

    def _launch_manual(self, task: Task, slot: Slot, payload: Payload, now: datetime) -> Run:
        result = self.lifecycle.launch(slot, payload, now)
        if result.exit is DispatchExit.FAILED:
            raise LaunchFailed
        return Run.admitted(task, slot, None)


def _conflict(task: Task, reason: str, run_id: str | None = None) -> DispatchResult:
    return DispatchResult(DispatchExit.CONFLICT, task.id, run_id, reason)
