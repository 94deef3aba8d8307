"""Which notices the end of a run and a tombstone make."""

from typing import Any

from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.notice import (
    MAX_ERROR_BYTES,
    Outgoing,
    kinds_of_end,
    outgoing_notices,
)
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.run import Run, RunOutcome, bounded
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task


def notices_of_end(
    ended: Run | Slot, outcome: RunOutcome, *, announces: bool
) -> tuple[Outgoing, ...]:
    """What is to be told of the end of a run, by what its task wanted when it was admitted.

    Args:
        ended: the run, or the slot of one that was never launched.
        outcome: how it ended.
        announces: whether the operator has receivers.
    """
    streak = ended.streak
    before = streak.before if streak is not None else 0
    counts = streak is not None and outcome.outcome is Outcome.FAILED
    pauses = streak is not None and streak.pause_reason(outcome.outcome) is not None
    slot_or_run: dict[str, Any] = {
        "user_id": ended.keys.user_id if isinstance(ended, Slot) else ended.user_id,
        "task_id": ended.task_id,
        "title": ended.title,
        "run_id": outcome.run_id,
        "scheduled_for": ended.scheduled_for,
    }
    facts = slot_or_run | {
        "occurred_at": outcome.finished_at,
        "outcome": outcome.outcome.value,
        "reason": outcome.reason,
        "error": bounded(outcome.error, MAX_ERROR_BYTES),
        "failures_in_a_row": before + counts,
    }
    kinds = kinds_of_end(outcome.outcome, failures_before=before, pauses=pauses)
    return outgoing_notices(kinds, facts, ended.notify, failures_before=before, announces=announces)


def notices_of_tombstone(task: Task, tombstone: Run, *, announces: bool) -> tuple[Outgoing, ...]:
    """What is to be told of an occurrence that did not run, by what its task wants.

    Args:
        task: as it was seen by whoever skips.
        tombstone: the record of the occurrence.
        announces: whether the operator has receivers.
    """
    facts = {
        "user_id": task.user_id,
        "task_id": task.id,
        "title": task.definition.title,
        "run_id": tombstone.id,
        "occurred_at": tombstone.created_at,
        "scheduled_for": tombstone.scheduled_for,
        "outcome": tombstone.status.value,
        "reason": tombstone.reason,
        "failures_in_a_row": task.state.failures_in_a_row,
    }
    return outgoing_notices(
        (NoticeKind.MISSED,), facts, task.definition.notify, announces=announces
    )
