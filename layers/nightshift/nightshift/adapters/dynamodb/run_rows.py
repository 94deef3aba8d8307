"""Runs and the keys they hold, as rows."""

from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import AttemptItem, HolderItem, RunItem, SlotItem
from nightshift.adapters.dynamodb.operations import Raw
from nightshift.adapters.dynamodb.reading import guarded_reader, integer
from nightshift.domain.model.enums import RunStatus, SlotState, TaskStatus, Trigger
from nightshift.domain.model.instants import format_instant, parse_instant
from nightshift.domain.model.notify import notify_from_dict, notify_to_dict
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.retry import FailedAttempt, retry_from_dict, retry_to_dict
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Keys, Overwritten, Slot
from nightshift.domain.model.streak import Streak


@guarded_reader
def slot_from(row: Raw) -> Slot:
    """The slot of a row."""
    item = SlotItem.from_raw_data(dict(row))
    before = item.overwritten
    return Slot(
        keys=Keys(
            run_id=item.run_id,
            task_id=item.sk,
            user_id=item.user_id,
            slot_shard=int(item.pk.removeprefix("ACTIVE#")),
            seat=int(item.seat),
            user_seat=integer(item.user_seat),
            locked_thread_id=item.locked_thread_id,
        ),
        nonce=item.nonce,
        state=SlotState(item.state),
        trigger=Trigger(item.trigger),
        scheduled_for=item.scheduled_for,
        thread_id=item.thread_id,
        assistant_id=item.assistant_id,
        title=item.title,
        timeout_seconds=int(item.timeout_seconds),
        retry=retry_from_dict(item.retry),
        notify=notify_from_dict(item.notify),
        streak=_streak_from(item),
        previous=_previous_from(item),
        payload_revision=int(item.payload_revision),
        admitted_at=item.admitted_at,
        lease_until=item.lease_until,
        launch_deadline=item.launch_deadline,
        consumes_once=item.consumes_once,
        overwritten=Overwritten(
            status=TaskStatus(before["status"]),
            next_run_at=parse_instant(before["next_run_at"]) if before["next_run_at"] else None,
            due_at=parse_instant(before["due_at"]) if before["due_at"] else None,
            tzdata_version=before["tzdata_version"],
            priority=before["priority"],
            due_shard=before["due_shard"],
        ),
        started_at=item.started_at,
        cancel_requested=bool(item.cancel_requested),
    )


def slot_item(slot: Slot) -> SlotItem:
    """The row of a slot that is being taken."""
    before = slot.overwritten
    item: SlotItem = SlotItem.at(
        keys.slot(slot.task_id, slot.keys.slot_shard),
        run_id=slot.run_id,
        nonce=slot.nonce,
        state=slot.state.value,
        user_id=slot.keys.user_id,
        seat=slot.keys.seat,
        user_seat=slot.keys.user_seat,
        locked_thread_id=slot.keys.locked_thread_id,
        trigger=slot.trigger.value,
        scheduled_for=slot.scheduled_for,
        thread_id=slot.thread_id,
        assistant_id=slot.assistant_id,
        title=slot.title,
        timeout_seconds=slot.timeout_seconds,
        retry=retry_to_dict(slot.retry),
        notify=notify_to_dict(slot.notify),
        **_streak_attributes(slot.streak),
        previous=_previous_attribute(slot.previous),
        payload_revision=slot.payload_revision,
        admitted_at=slot.admitted_at,
        lease_until=slot.lease_until,
        launch_deadline=slot.launch_deadline,
        consumes_once=slot.consumes_once,
        overwritten={
            "status": before.status.value,
            "next_run_at": format_instant(before.next_run_at) if before.next_run_at else None,
            "due_at": format_instant(before.due_at) if before.due_at else None,
            "tzdata_version": before.tzdata_version,
            "priority": before.priority,
            "due_shard": before.due_shard,
        },
    )
    return item


def seat_item(slot: Slot) -> HolderItem:
    """The row of the seat that a slot's run takes."""
    item: HolderItem = HolderItem.at(
        keys.seat(slot.keys.seat), run_id=slot.run_id, nonce=slot.nonce
    )
    return item


def user_seat_item(slot: Slot, number: int) -> HolderItem:
    """The row of the user's own seat that a slot's run takes."""
    key = keys.user_seat(slot.keys.user_id, number)
    item: HolderItem = HolderItem.at(key, run_id=slot.run_id, nonce=slot.nonce)
    return item


def thread_lock_item(slot: Slot, thread_id: str) -> HolderItem:
    """The row of the thread lock that a slot's run takes."""
    key = keys.thread_lock(slot.keys.user_id, thread_id)
    item: HolderItem = HolderItem.at(key, run_id=slot.run_id, nonce=slot.nonce)
    return item


@guarded_reader
def run_from(row: Raw) -> Run:
    """The run of a row."""
    item = RunItem.from_raw_data(dict(row))
    task_id = item.pk.removeprefix("TASK#")
    held = None
    if item.seat is not None and item.slot_shard is not None:
        held = Keys(
            run_id=item.run_id,
            task_id=task_id,
            user_id=item.user_id,
            slot_shard=int(item.slot_shard),
            seat=int(item.seat),
            user_seat=integer(item.user_seat),
            locked_thread_id=item.locked_thread_id,
        )
    return Run(
        id=item.run_id,
        task_id=task_id,
        user_id=item.user_id,
        trigger=Trigger(item.trigger),
        status=RunStatus(item.status),
        created_at=item.created_at,
        schedule=item.schedule,
        timezone=item.timezone,
        scheduled_for=item.scheduled_for,
        thread_id=item.thread_id,
        reason=item.reason,
        error=item.error,
        result=item.result,
        attempt=int(item.attempt),
        attempts=tuple(map(_attempt_from, item.attempts or ())),
        folded=int(item.folded),
        folded_through=item.folded_through,
        folded_cut=item.folded_cut,
        started_at=item.started_at,
        finished_at=item.finished_at,
        picked_up_attempt=integer(item.picked_up_attempt),
        can_pause=bool(item.can_pause),
        pause_requested=bool(item.pause_requested),
        paused_at=item.paused_at,
        paused_seconds=integer(item.paused_seconds) or 0,
        nonce=item.nonce,
        keys=held,
        payload_revision=integer(item.payload_revision),
        notify=notify_from_dict(item.notify),
        title=item.title,
        consumes_once=item.consumes_once,
        streak=_streak_from(item),
        previous=_previous_from(item),
    )


def _streak_from(item: SlotItem | RunItem) -> Streak | None:
    if item.failures_before is None:
        return None
    return Streak(int(item.failures_before), integer(item.pause_after_failures))


def _streak_attributes(streak: Streak | None) -> dict[str, int | None]:
    if streak is None:
        return {}
    return {"failures_before": streak.before, "pause_after_failures": streak.pause_after}


def _previous_from(item: SlotItem | RunItem) -> Previous | None:
    return None if item.previous is None else Previous(item.previous["run_id"])


def _previous_attribute(previous: Previous | None) -> dict[str, str | None] | None:
    return None if previous is None else {"run_id": previous.run_id}


def _attempt_from(item: AttemptItem) -> FailedAttempt:
    return FailedAttempt(
        attempt=int(item.attempt),
        reason=item.reason,
        exit_code=integer(item.exit_code),
        finished_at=item.finished_at,
    )


def run_item(run: Run, *, expires_at: int | None = None) -> RunItem:
    """The row of a run that is being recorded; a tombstone expires, an active run never does."""
    item: RunItem = RunItem.at(
        keys.run(run.task_id, run.id),
        run_id=run.id,
        user_id=run.user_id,
        trigger=run.trigger.value,
        status=run.status.value,
        created_at=run.created_at,
        schedule=dict(run.schedule),
        timezone=run.timezone,
        scheduled_for=run.scheduled_for,
        thread_id=run.thread_id,
        reason=run.reason,
        error=run.error,
        attempt=run.attempt,
        # The workflow sets the elements by their place, which needs a list that is there.
        attempts=[],
        folded=run.folded,
        folded_through=run.folded_through,
        folded_cut=run.folded_cut,
        finished_at=run.finished_at,
        nonce=run.nonce,
        slot_shard=run.keys.slot_shard if run.keys else None,
        seat=run.keys.seat if run.keys else None,
        user_seat=run.keys.user_seat if run.keys else None,
        locked_thread_id=run.keys.locked_thread_id if run.keys else None,
        payload_revision=run.payload_revision,
        notify=notify_to_dict(run.notify),
        title=run.title,
        consumes_once=run.consumes_once,
        **_streak_attributes(run.streak),
        previous=_previous_attribute(run.previous),
        expires_at=expires_at,
    )
    return item
