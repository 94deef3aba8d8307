"""Steps that contract tests have in common, on any implementation."""

from datetime import datetime
from typing import Any

import builders
from builders import MINUTE, ref
from contract.backends import Stores
from nightshift.domain.exchanged import AdmissionAnswer, Completion, Ended, Verdict
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.status import status_after_completion
from nightshift.domain.model.task import Task


def created(stores: Stores, task: Task | None = None, *, max_tasks: int = 1000) -> Task:
    """A task that is stored with its payload."""
    made = task or builders.task()
    stores.tasks.create(made, builders.payload(made), max_tasks=max_tasks)
    return made


def read(stores: Stores, task: Task) -> Task:
    """The task as it is stored now."""
    stored = stores.tasks.get(ref(task))
    assert stored is not None
    return stored


def admitted(stores: Stores, task: Task, **options: Any) -> Slot:
    """The slot of a run that was admitted for the task's next occurrence, or a trigger."""
    admission = builders.admission(task, **options)
    assert stores.runs.admit(admission).answer is AdmissionAnswer.ADMITTED
    return admission.slot


def completion(
    slot: Slot,
    *,
    outcome: Outcome = Outcome.SUCCESS,
    reason: str | None = None,
    error: str | None = None,
    result: dict[str, Any] | None = None,
    finished_at: datetime | None = None,
    started_at: datetime | None = None,
    verdict: Verdict | None = None,
    notices: tuple[Outgoing, ...] = (),
) -> Completion:
    """The completion of an admitted run, with the verdict that the status rule gives."""
    told = verdict or Ended(
        outcome=outcome,
        status=status_after_completion(outcome, once=slot.consumes_once),
        last_run_at=started_at,
        last_thread_id=slot.thread_id,
        error=error,
        streak=slot.streak,
    )
    return Completion(
        outcome=RunOutcome(
            run_id=slot.run_id,
            outcome=outcome,
            finished_at=finished_at or slot.admitted_at + 2 * MINUTE,
            reason=reason,
            error=error,
            result=result,
        ),
        keys=slot.keys,
        payload_revision=slot.payload_revision,
        verdict=told,
        notices=notices,
    )


def ended(stores: Stores, slot: Slot, **news: Any) -> None:
    """End an active run."""
    assert stores.runs.complete(completion(slot, **news)).recorded


def completed(stores: Stores, task: Task, **options: Any) -> Slot:
    """The slot of a run that was admitted, passed the fence and ended in success."""
    held = admitted(stores, task, **options)
    assert stores.pass_fence(held, held.admitted_at)
    ended(stores, held)
    return held
