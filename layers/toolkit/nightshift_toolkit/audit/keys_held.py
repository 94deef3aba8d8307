"""Invariants of the keys that runs hold: slots, seats, user seats and thread locks (SPEC 4)."""

from collections import Counter
from collections.abc import Iterator

from nightshift.domain.model.slot import Slot
from nightshift_toolkit.audit.finding import Broken, always, at_rest
from nightshift_toolkit.audit.snapshot import Holder, Snapshot


@always
def slot_has_active_run(snapshot: Snapshot) -> Broken:
    """Every slot names a run of its task whose record is active under the same nonce (P13, K3)."""
    for slot in snapshot.slots:
        run = snapshot.run_of.get(slot.run_id)
        if run is None:
            yield slot.task_id, f"its slot names {slot.run_id}, which has no record"
        elif not run.status.active:
            yield slot.task_id, f"its slot names {slot.run_id}, which is {run.status}"
        elif run.nonce != slot.nonce:
            yield slot.task_id, f"its slot and {slot.run_id} differ in their nonce"
        elif run.task_id != slot.task_id:
            yield slot.task_id, f"its slot names {slot.run_id}, a run of another task"


@always
def active_run_has_slot(snapshot: Snapshot) -> Broken:
    """Every active run holds its task's slot, so that a task has at most one (P13)."""
    for run in snapshot.runs:
        if run.status.active and run.id not in snapshot.slot_of_run:
            yield run.id, f"it is {run.status} without a slot"


@always
def slot_and_run_agree_on_the_fence(snapshot: Snapshot) -> Broken:
    """A slot and its run are both before the fence or both past it."""
    for slot in snapshot.slots:
        run = snapshot.run_of.get(slot.run_id)
        if run is not None and run.status.active and run.status.value != slot.state.value:
            yield slot.run_id, f"the slot says {slot.state}, the record {run.status}"


@always
def seats_are_held_by_active_runs(snapshot: Snapshot) -> Broken:
    """Every taken seat is held by an active run whose slot names that seat (P14)."""
    for seat, holder in snapshot.seats.items():
        slot = snapshot.slot_of_run.get(holder.run_id)
        yield from _misheld(f"seat {seat}", holder, slot, snapshot)
        if slot is not None and slot.keys.seat != seat:
            yield f"seat {seat}", f"{holder.run_id} holds it besides seat {slot.keys.seat}"


@always
def user_seats_are_held_by_active_runs(snapshot: Snapshot) -> Broken:
    """Every taken seat of a user's own limit is held by an active run of that user."""
    for (user_id, seat), holder in snapshot.user_seats.items():
        subject = f"user seat {user_id}/{seat}"
        slot = snapshot.slot_of_run.get(holder.run_id)
        yield from _misheld(subject, holder, slot, snapshot)
        if slot is not None and slot.keys.user_id != user_id:
            yield subject, f"{holder.run_id} of another user holds it"


@always
def thread_locks_are_held_by_active_runs(snapshot: Snapshot) -> Broken:
    """Every thread lock is held by an active run whose slot names that thread."""
    for (user_id, thread_id), holder in snapshot.thread_locks.items():
        subject = f"thread {user_id}/{thread_id}"
        slot = snapshot.slot_of_run.get(holder.run_id)
        yield from _misheld(subject, holder, slot, snapshot)
        if slot is None:
            continue
        if (slot.keys.user_id, slot.keys.locked_thread_id) != (user_id, thread_id):
            yield subject, f"{holder.run_id} holds it, but its slot does not name it"


@always
def slots_hold_all_their_keys(snapshot: Snapshot) -> Broken:
    """The run of every slot holds the seat and the thread lock that its slot names (K3)."""
    for slot in snapshot.slots:
        keys = slot.keys
        seated = snapshot.seats.get(keys.seat)
        if seated is None or seated.run_id != slot.run_id:
            held_by = seated.run_id if seated else "nobody"
            yield slot.run_id, f"its seat {keys.seat} is held by {held_by}"
        if keys.locked_thread_id is None:
            continue
        locked = snapshot.thread_locks.get((keys.user_id, keys.locked_thread_id))
        if locked is None or locked.run_id != slot.run_id:
            held_by = locked.run_id if locked else "nobody"
            yield slot.run_id, f"its thread {keys.locked_thread_id} is held by {held_by}"


@always
def no_seat_is_shared(snapshot: Snapshot) -> Broken:
    """No two active runs sit on one seat, and none runs in a thread of another (P14)."""
    seats = Counter(slot.keys.seat for slot in snapshot.slots)
    for seat, runs in seats.items():
        if runs > 1:
            yield f"seat {seat}", f"{runs} active runs name it"
    threads = Counter(
        (slot.keys.user_id, slot.keys.locked_thread_id)
        for slot in snapshot.slots
        if slot.keys.locked_thread_id is not None
    )
    for (user_id, thread_id), runs in threads.items():
        if runs > 1:
            yield f"thread {user_id}/{thread_id}", f"{runs} active runs name it"


@at_rest
def launches_are_settled(snapshot: Snapshot) -> Broken:
    """No run is left queued past its launch deadline: the clock has asked what became of it."""
    for slot in snapshot.slots:
        queued = slot.started_at is None
        if queued and snapshot.now is not None and slot.launch_is_over(snapshot.now):
            yield slot.run_id, f"it is queued past its launch deadline {slot.launch_deadline}"


def _misheld(
    subject: str, holder: Holder, slot: Slot | None, snapshot: Snapshot
) -> Iterator[tuple[str, str]]:
    if not snapshot.is_active(holder.run_id):
        yield subject, f"{holder.run_id} holds it and is not active"
    elif slot is not None and holder.nonce is not None and holder.nonce != slot.nonce:
        yield subject, f"{holder.run_id} holds it under another nonce than its slot"


ABOUT_KEYS = (
    slot_has_active_run,
    active_run_has_slot,
    slot_and_run_agree_on_the_fence,
    seats_are_held_by_active_runs,
    user_seats_are_held_by_active_runs,
    thread_locks_are_held_by_active_runs,
    slots_hold_all_their_keys,
    no_seat_is_shared,
    launches_are_settled,
)
