"""The life of an admitted run: launch, recovery, verification, cancellation, completion.

Every end of a run, whoever brings the news, goes through `record_outcome`.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nightshift.domain.errors import (
    ExecutionsUnavailable,
    RunNotFound,
    RunNotPausable,
    TaskNotFound,
)
from nightshift.domain.exchanged import (
    Completion,
    Ended,
    Event,
    LaunchAnswer,
    Observe,
    TaskRef,
    Undone,
    Verdict,
)
from nightshift.domain.model.enums import DispatchExit, Outcome, SlotState, Trigger
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.occasions import notices_of_end
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Keys, LaunchOrder, Slot
from nightshift.domain.model.status import status_after_completion, status_after_failure
from nightshift.domain.model.task import Payload
from nightshift.domain.ports import Inspector, Launcher, RunStore, TaskStore
from nightshift.domain.services.handing_on import previous_result

if TYPE_CHECKING:
    from nightshift.domain.commands import CancelRun, PauseRun, ResumeRun


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """How a dispatch ended; `reason` says why where it is not a confirmed launch."""

    exit: DispatchExit
    task_id: str
    run_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Brings every admitted run to exactly one end.

    `announces` says that the operator has receivers, who hear of every end.
    """

    tasks: TaskStore
    runs: RunStore
    launcher: Launcher
    inspector: Inspector
    observe: Observe
    announces: bool = False

    def launch(self, slot: Slot, payload: Payload, now: datetime) -> DispatchResult:
        """Ask for the execution of an admitted run; repeating it repeats the same request.

        An unknown answer leaves the run queued with its keys; recovery settles it. A run is only
        called failed when Step Functions refused it for certain (P18).

        Raises:
            LaunchImpossible: nothing can be launched at all; the run stays queued.
        """
        previous = previous_result(slot, self.runs, self.observe)
        answer = self.launcher.launch(LaunchOrder(slot=slot, payload=payload, previous=previous))
        if answer.answer is LaunchAnswer.REFUSED:
            self._refuse(slot, answer.reason or "the launch was refused", now)
            return DispatchResult(DispatchExit.FAILED, slot.task_id, slot.run_id, answer.reason)
        if answer.answer is LaunchAnswer.UNKNOWN:
            self._tell("launch_unknown", slot, reason=answer.reason)
        return DispatchResult(DispatchExit.LAUNCHED, slot.task_id, slot.run_id, answer.reason)

    def recover(self, slot: Slot, policy: Policy, now: datetime) -> None:
        """Settle a launch whose lease is over: again under the same name, or by asking (SPEC 6).

        A run whose cancellation was requested is never launched.
        """
        if slot.cancel_requested or slot.launch_is_over(now):
            self.verify(slot, now)
            return
        lease = timedelta(seconds=policy.launch_lease_seconds)
        held = self.runs.take_lease(slot, now + lease)
        if held is None:
            return
        ref = TaskRef(slot.keys.user_id, slot.task_id)
        payload = self.tasks.payload(ref, slot.payload_revision)
        if payload is None:
            self._tell("payload_missing", slot)
            self.verify(held, now)
            return
        self._tell("launch_recovered", slot)
        self.launch(held, payload, now)

    def verify(self, slot: Slot, now: datetime) -> bool:
        """Compare an active run with Step Functions and record its end if it has one.

        RUNNING is left alone, however old. An execution that does not exist ends the run only
        when none can come any more: past the launch deadline, or cancelled before its launch.

        Returns:
            Whether the run's keys are free now.
        """
        execution = self.inspector.describe(slot.run_id, now)
        if execution is not None and execution.outcome is None:
            return False
        if execution is not None and execution.outcome is not None:
            self._tell("run_verified", slot)
            self.record_outcome(execution.outcome, slot)
            return True
        unlaunched = slot.state is SlotState.QUEUED
        if slot.cancel_requested:
            never = RunOutcome(
                run_id=slot.run_id,
                outcome=Outcome.INTERRUPTED,
                reason="cancelled",
                finished_at=now,
                unlaunched=unlaunched,
            )
        elif slot.launch_is_over(now):
            never = RunOutcome(
                run_id=slot.run_id,
                outcome=Outcome.FAILED,
                reason="not_launched" if unlaunched else "execution_lost",
                error="Step Functions knows no execution of this run.",
                finished_at=now,
                unlaunched=unlaunched,
            )
        else:
            return False
        self.record_outcome(never, slot)
        return not self._is_held(slot)

    def _is_held(self, slot: Slot) -> bool:
        """Whether the run still holds its slot: a launch may have arrived just now (P18)."""
        holder = self.runs.slot(slot.task_id, slot.keys.slot_shard)
        return holder is not None and holder.run_id == slot.run_id

    def cancel_run(self, command: "CancelRun") -> Run:
        """Ask for an active run to be stopped; its keys are free when that is confirmed (P7).

        A run that had already ended keeps its outcome and is returned as it is.

        Raises:
            TaskNotFound: there is no such task of this user.
            RunNotFound: the task has no such run.
        """
        if self.tasks.get(TaskRef(command.user_id, command.task_id)) is None:
            raise TaskNotFound
        run = self.runs.get(command.task_id, command.run_id)
        if run is None or run.user_id != command.user_id:
            raise RunNotFound
        if run.status.active and run.keys is not None:
            slot = self.runs.slot(run.task_id, run.keys.slot_shard)
            if slot is not None and slot.run_id == run.id:
                self.cancel(slot)
        return self.runs.get(command.task_id, command.run_id) or run

    def give_way(self, slot: Slot, now: datetime) -> bool:
        """Cancel a run because the next occurrence of its task wants to run (P13).

        Returns:
            Whether its keys are free now; if not, every look stops it again.
        """
        if slot.cancel_requested:
            return False
        if not self.cancel(slot):
            return True
        return self.verify(replace(slot, cancel_requested=True), now)

    def cancel(self, slot: Slot) -> bool:
        """Close the fence before a run and stop it; False when it no longer holds its slot."""
        if not self.runs.request_cancel(slot):
            return False
        self.stop_cancelled(slot)
        return True

    def stop_cancelled(self, slot: Slot) -> None:
        """Stop a run whose cancellation stands on its slot; every look asks again (P7)."""
        self._tell("cancel_requested", slot)
        self._stop(slot)

    def pause_run(self, command: "PauseRun") -> Run:
        """Ask the worker of a run to have it stand still; it does so with its next heartbeat.

        Raises:
            TaskNotFound, RunNotFound: it does not exist or is not this user's.
            RunNotPausable: it is not at work, or its worker cannot pause it.
        """
        return self._hold(command, wanted=True)

    def resume_run(self, command: "ResumeRun") -> Run:
        """Ask the worker of a paused run to let it go on; raises what `pause_run` raises."""
        return self._hold(command, wanted=False)

    def _hold(self, command: "PauseRun | ResumeRun", *, wanted: bool) -> Run:
        if self.tasks.get(TaskRef(command.user_id, command.task_id)) is None:
            raise TaskNotFound
        run = self.runs.get(command.task_id, command.run_id)
        if run is None or run.user_id != command.user_id:
            raise RunNotFound
        if not self.runs.request_pause(run, wanted=wanted):
            raise RunNotPausable
        return self.runs.get(command.task_id, command.run_id) or run

    def cancel_again(self, slot: Slot, now: datetime) -> None:
        """Repeat the stop of a run whose cancellation was requested, or record its end."""
        if not self.verify(slot, now):
            self._stop(slot)

    def _stop(self, slot: Slot) -> None:
        """Ask Step Functions; the request stands on the slot, so the next tick asks again."""
        try:
            self.launcher.stop(slot.run_id)
        except ExecutionsUnavailable as unanswered:
            self.observe(Event("stop_unanswered", {"run_id": slot.run_id}, unanswered))

    def record_outcome(self, outcome: RunOutcome, holder: Slot | None = None) -> bool:
        """Write down how a run ended and free its keys; safe to repeat at any time (K6).

        Args:
            outcome: the news. That of an execution which is no run of ours changes nothing.
            holder: the slot the news was asked for, which frees the keys of a run whose record
                is gone or already terminal.

        Returns:
            Whether this call made the run terminal.
        """
        run = self.runs.get(task_id_of(outcome.run_id), outcome.run_id)
        keys = (run.keys if run else None) or (holder.keys if holder else None)
        if keys is None or (run is not None and not run.status.active and holder is None):
            return False
        seen = outcome.seen_with(run) if run else outcome
        once = run.consumes_once if run else holder is not None and holder.consumes_once
        verdict = Ended(
            outcome=seen.outcome,
            status=status_after_completion(seen.outcome, once=once),
            last_run_at=run.started_at if run else None,
            last_thread_id=run.thread_id if run else None,
            error=seen.error or seen.reason,
            streak=run.streak if run else holder.streak if holder else None,
        )
        revision = run.payload_revision if run else holder.payload_revision if holder else None
        notices = notices_of_end(run, seen, announces=self.announces) if run else ()
        return self._complete(seen, keys, revision, verdict, notices)

    def _refuse(self, slot: Slot, reason: str, now: datetime) -> None:
        """Record a launch that was refused for certain; a manual one leaves the task as it was."""
        before = slot.overwritten
        status = status_after_failure(slot.trigger, once=slot.consumes_once, before=before.status)
        verdict: Verdict = Ended(
            outcome=Outcome.FAILED,
            status=status,
            last_run_at=None,
            last_thread_id=slot.thread_id,
            error=reason,
            streak=slot.streak,
        )
        if slot.trigger is Trigger.MANUAL:
            verdict = Undone(restore=before if slot.consumes_once else None)
        outcome = RunOutcome(
            run_id=slot.run_id,
            outcome=Outcome.FAILED,
            reason="launch_failed",
            error=reason,
            finished_at=now,
            unlaunched=True,
        )
        notices = notices_of_end(slot, outcome, announces=self.announces)
        self._complete(outcome, slot.keys, slot.payload_revision, verdict, notices)

    def _complete(
        self,
        outcome: RunOutcome,
        keys: Keys,
        revision: int | None,
        verdict: Verdict,
        notices: tuple[Outgoing, ...],
    ) -> bool:
        answer = self.runs.complete(
            Completion(
                outcome=outcome,
                keys=keys,
                payload_revision=revision,
                verdict=verdict,
                notices=notices,
            )
        )
        facts = {
            "task_id": keys.task_id,
            "run_id": outcome.run_id,
            "outcome": outcome.outcome.value,
            "reason": outcome.reason,
        }
        self.observe(Event("run_completed" if answer.recorded else "completion_repeated", facts))
        return answer.recorded

    def _tell(self, action: str, slot: Slot, **facts: object) -> None:
        self.observe(Event(action, {"task_id": slot.task_id, "run_id": slot.run_id} | facts))
