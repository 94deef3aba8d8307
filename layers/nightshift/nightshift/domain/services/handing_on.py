"""Handing the last success of a task on to its next run."""

from nightshift.domain.errors import CorruptRecord
from nightshift.domain.exchanged import Event, Observe
from nightshift.domain.model.previous import PreviousResult
from nightshift.domain.model.slot import Slot
from nightshift.domain.ports import RunStore


def previous_result(slot: Slot, runs: RunStore, observe: Observe) -> PreviousResult | None:
    """What an admitted run is handed of the success that its slot names; None if it asks for none.

    A record that is gone, or that cannot be read, has no result left, and keeps no run from its
    launch.
    """
    if slot.previous is None:
        return None
    run_id = slot.previous.run_id
    try:
        run = runs.get(slot.task_id, run_id) if run_id else None
    except CorruptRecord as error:
        facts = {"task_id": slot.task_id, "run_id": slot.run_id}
        observe(Event("previous_unreadable", facts, error))
        run = None
    if run is None:
        return PreviousResult(run_id=run_id)
    return PreviousResult(
        run_id=run.id,
        scheduled_for=run.scheduled_for,
        finished_at=run.finished_at,
        result=run.result,
    )
