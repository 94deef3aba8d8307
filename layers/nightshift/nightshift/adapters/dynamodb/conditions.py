"""The named conditions of every conditional write, each with the race that it closes."""

from datetime import datetime
from functools import reduce
from typing import TypeVar

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import And, Condition, Or

from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import (
    HolderItem,
    Item,
    PolicyItem,
    QuotaItem,
    RunItem,
    SlotItem,
    SweepItem,
    TaskItem,
    UsedKeyItem,
)
from nightshift.domain.model.enums import RunStatus, SlotState, TaskStatus
from nightshift.domain.model.replanning import Sweep
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.streak import Streak
from nightshift.domain.model.task import Task

Value = TypeVar("Value")

ABSENT: Condition = Item.pk.does_not_exist()
"""Put if absent: of two that take one key, one gets it."""

EXISTS: Condition = Item.pk.exists()
"""Nothing recreates a row that was deleted meanwhile (K7)."""


def as_seen(task: Task) -> Condition:
    """The task is still the one the decision was made on.

    Closes: a user's edit, pause or delete between read and write; two ticks that advance one
    task; a stale entry of the index.
    """
    state = task.state
    return _all(
        EXISTS,
        TaskItem.revision == task.revision,
        TaskItem.status == state.status.value,
        _is_or_absent(TaskItem.next_run_at, state.next_run_at),
        TaskItem.blocked_reason.does_not_exist()
        if state.blocked_reason is None
        else TaskItem.blocked_reason.exists(),
    )


def policy_as_seen(revision: int) -> Condition:
    """The limits in force are still those that were read; a row written by hand has no revision.

    Closes: of two operators who change different limits at once, one undoing the other's.
    """
    return _is_or_absent(PolicyItem.revision, revision or None)


def same_active_run(task: Task) -> Condition:
    """No run was admitted or ended since the read.

    Closes: a delete that misses the payload or the keys of a run admitted in between.
    """
    return _is_or_absent(TaskItem.active_run_id, task.state.active_run_id)


def names_run(run_id: str) -> Condition:
    """The task still calls this run its active one.

    Closes: the end of run N written over run N+1 (B90).
    """
    return _all(EXISTS, TaskItem.active_run_id == run_id)


def counts_as_seen(task: Task) -> Condition:
    """As many failures in a row as the run will say that it found.

    Closes: the end of the previous run between read and admission, whose failure would be left out
    when this run's own decides whether to pause.
    """
    return _counts(task.state.failures_in_a_row)


def succeeded_as_seen(task: Task) -> Condition:
    """The last success is the one whose result the run will be handed.

    Closes: the success of the previous run between read and admission, whose result would be left
    out.
    """
    return _is_or_absent(TaskItem.last_success_run_id, task.state.last_success_run_id)


def gives_up(run_id: str, streak: Streak) -> Condition:
    """The task names this run, is enabled, and counts and gives up as when the run was admitted.

    Closes: a pause for failures over what its owner did meanwhile: a pause of their own, a resume
    that started a new count, another number or none.
    """
    return _all(
        names_run(run_id),
        TaskItem.status == TaskStatus.ENABLED.value,
        _is_or_absent(TaskItem.pause_after_failures, streak.pause_after),
        _counts(streak.before),
    )


def _counts(failures: int) -> Condition:
    return _is_or_absent(TaskItem.failures_in_a_row, failures or None)


def still_due(due_at: datetime, task_id: str) -> Condition:
    """The index entry is the one that was read, of an occurrence or of the end of a pause.

    Closes: blocking a task that was edited or dispatched meanwhile.
    """
    entries = [keys.due_key(due_at, task_id, wakes=wakes) for wakes in (False, True)]
    return _all(EXISTS, TaskItem.due_key.is_in(*entries))


def slot_held_by(run_id: str) -> Condition:
    """The slot is this run's.

    Closes: a late or doubled completion that frees the next run's slot (K6).
    """
    condition: Condition = SlotItem.run_id == run_id
    return condition


def held_by(run_id: str) -> Condition:
    """The seat or thread lock is this run's (K6)."""
    condition: Condition = HolderItem.run_id == run_id
    return condition


def pausable(nonce: str) -> Condition:
    """The run is at work under this admission, with a worker that can pause it.

    Closes: a wish that outlives its run, or meets a worker that does not know of it.
    """
    at_work = RunItem.status == RunStatus.RUNNING.value
    return _all(EXISTS, at_work, RunItem.nonce == nonce, RunItem.can_pause == True)  # noqa: E712


def not_terminal() -> Condition:
    """The run is still active.

    Closes: a terminal state that changes; a completion counted twice.
    """
    active = [status.value for status in RunStatus if status.active]
    return _all(EXISTS, RunItem.status.is_in(*active))


def before_the_fence() -> Condition:
    """The run is still queued.

    Closes: a launch that arrives just when its run is written off as never launched (P18).
    """
    return _all(EXISTS, RunItem.status == RunStatus.QUEUED.value)


def not_dispatching() -> Condition:
    """No run of the task is between admission and fence (K7).

    Closes: an edit that changes what a repeated launch would send.
    """
    return Or(ABSENT, SlotItem.state != SlotState.QUEUED.value)


def held_past_the_fence(run_id: str) -> Condition:
    """The slot is this run's, and no launch of it is under way.

    Closes: an edit that cancels a run and changes what its repeated launch would send (K7).
    """
    return _all(SlotItem.run_id == run_id, SlotItem.state != SlotState.QUEUED.value)


def lease_as_seen(slot: Slot) -> Condition:
    """The launch is still unsettled and owned as read.

    Closes: two ticks that recover one launch; recovery of a run that passed the fence or is
    being cancelled.
    """
    return _all(
        SlotItem.run_id == slot.run_id,
        SlotItem.nonce == slot.nonce,
        SlotItem.state == SlotState.QUEUED.value,
        SlotItem.lease_until == slot.lease_until,
        SlotItem.cancel_requested.does_not_exist(),
    )


def below(limit: int) -> Condition:
    """The user has fewer than `limit` tasks.

    Closes: concurrent creates that together exceed the quota.
    """
    few: Condition = QuotaItem.tasks < limit
    return Or(ABSENT, few) if limit > 0 else few


def sweep_as_seen(sweep: Sweep | None) -> Condition:
    """The sweep stands where it stood.

    Closes: of two ticks at one page, the slower one that takes the sweep back.
    """
    if sweep is None:
        return ABSENT
    return _all(
        SweepItem.tzdata_version == sweep.tzdata_version,
        _is_or_absent(SweepItem.cursor, sweep.cursor),
        SweepItem.found == sweep.found,
        SweepItem.done == sweep.done,
    )


def free_or_over(taken_at: datetime) -> Condition:
    """Nobody used the key, or that use is over by `taken_at`.

    Closes: twins of one request that would each make a thing.
    """
    over: Condition = UsedKeyItem.expires_at <= int(taken_at.timestamp())
    return Or(ABSENT, over)


def _all(*conditions: Condition) -> Condition:
    return reduce(And, conditions)


def _is_or_absent(attribute: Attribute[Value], value: Value | None) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition
