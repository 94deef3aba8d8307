"""The fence of the in-memory store holds on rows that nobody keeps in step, as the real one does.

Every transaction keeps slot and record in step, so that neither of the two conditions is ever
needed as long as the other holds; the fence relies on neither.
"""

from dataclasses import replace

import builders
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.slot import Slot
from nightshift_toolkit.memory import MemoryStore

DUE = builders.NOW + builders.HOUR


def admitted(store: MemoryStore) -> Slot:
    """The slot of a run that waits at the fence."""
    task = builders.task()
    store.tasks.create(task, builders.payload(task), max_tasks=9)
    admission = builders.admission(task)
    store.runs.admit(admission)
    return admission.slot


def test_a_run_that_is_over_does_not_pass_though_its_slot_is_still_there() -> None:
    """SPEC section 6, the fence: the run is not terminal."""
    store = MemoryStore()
    slot = admitted(store)
    row = store._state.runs[slot.task_id][slot.run_id]
    row.run = replace(row.run, status=RunStatus.FAILED)
    assert not store.pass_fence(slot.run_id, slot.nonce, DUE)


def test_a_run_does_not_pass_whose_slot_another_holds_though_it_is_active() -> None:
    """SPEC section 6, the fence: the slot holds this run under this nonce."""
    store = MemoryStore()
    slot = admitted(store)
    other = replace(slot, nonce="another", keys=replace(slot.keys, run_id=f"{slot.run_id}-m1"))
    store._state.slots[slot.task_id].slot = other
    assert not store.pass_fence(slot.run_id, slot.nonce, DUE)
