"""The sentences of an explanation: what the rules went by, in the words of people.

Other people's tasks and runs are counted and never named (P8).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from nightshift.domain.exchanged import DueHint
from nightshift.domain.model.change import Change
from nightshift.domain.model.enums import OverlapPolicy, Rule
from nightshift.domain.model.override import PolicyInForce
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from nightshift.domain.model.words import local_text

MAX_NAMED: Final = 5
"""Most tasks or runs that one sentence names."""

_OVERLAPS: Final = {
    OverlapPolicy.SKIP: "its overlap policy is skip, so the occurrence is skipped",
    OverlapPolicy.QUEUE_ONE: "its overlap policy is queue_one, so the occurrence waits for its end",
    OverlapPolicy.CANCEL_PREVIOUS: "its overlap policy is cancel_previous, so that is cancelled"
    " and the occurrence starts when it has ended",
}


def shown(instant: datetime, task: Task) -> str:
    """An instant on the clock of the task's zone."""
    zone = task.definition.schedule.zone
    return f"{local_text(instant, zone)} {zone}"


def paused(task: Task, change: Change | None) -> str:
    """By whom, when, until when and why a task was paused, as far as that is known."""
    who = f" by {change.by}, {shown(change.at, task)}" if change else ""
    until, why = task.state.pause_until, task.state.pause_reason
    end = f", until {shown(until, task)}" if until else ""
    return f"Paused{who}{end}{': ' + why if why else '.'}"


def due(task: Task, jittered: datetime | None) -> str:
    """When the next occurrence is due, and what has put it off its time."""
    nominal, due_at = task.state.next_run_at, task.state.due_at
    if nominal is None or due_at is None:
        return "It has no next time."
    said = f"{shown(nominal, task)} is due at {shown(due_at, task)}"
    if due_at == nominal:
        return f"It is due at {shown(due_at, task)}."
    put_off = "by jitter" if due_at == jittered else "after a failure to start it"
    return f"{said}, put off {put_off}."


def stopped(in_force: PolicyInForce, task: Task) -> str:
    """Who has stopped all starts, when and why."""
    override = in_force.override
    if override is None or override.changed_by is None or override.changed_at is None:
        return "max_concurrent_runs is 0: nothing starts."
    why = f": {in_force.stop_reason}" if in_force.stop_reason else "."
    when = shown(override.changed_at, task)
    return f"All starts were stopped by {override.changed_by}, {when}{why}"


def no_place(rule: Rule, task: Task, policy: Policy, slots: Sequence[Slot], line: str) -> str:
    """Who has the places that a task would need, and who is ahead of it."""
    own = [slot.run_id for slot in slots if slot.keys.user_id == task.user_id]
    if rule is Rule.USER_LIMIT:
        limit = policy.max_concurrent_runs_per_user
        return f"Your runs at once: {len(own)} of {limit}: {named(own)}. {line}"
    return f"{seats(policy, slots)}, {_yours(own)}. {line}"


def seats(policy: Policy, slots: Sequence[Slot]) -> str:
    """How many seats of the budget are taken."""
    return f"Seats taken: {len(slots)} of {policy.max_concurrent_runs}"


def ahead(hints: Sequence[DueHint], user_id: str, *, whole: bool) -> str:
    """Who is ahead in the line; only the user's own tasks by name."""
    if not hints:
        return "Nobody is ahead of it in the line."
    own = [hint.ref.task_id for hint in hints if hint.ref.user_id == user_id]
    count = f"{len(hints)}" if whole else f"At least {len(hints)}"
    are = "task is" if count == "1" else "tasks are"
    return f"{count} due {are} ahead of it, {_yours(own)}."


def late(task: Task, now: datetime) -> str:
    """How late the latest instant that has passed is, and how late it may be."""
    limit = task.definition.max_lateness_seconds
    latest = task.folded(now).through or task.state.next_run_at or now
    if limit is None:
        return "It may start however late."
    seconds = int((now - latest).total_seconds())
    return f"It is {seconds} seconds late and may be {limit}."


def overlap(task: Task, holder: Slot, *, same: bool) -> str:
    """Which run is in the way of the next, and what the task wants then."""
    if same:
        return f"The occurrence is being started already, as {holder.run_id}."
    return f"{holder.run_id} is active; {_OVERLAPS[task.definition.overlap_policy]}."


def asks_first(holder: Slot, now: datetime, policy: Policy) -> str:
    """What the look does before it believes a holder that is old."""
    if not holder.is_old(now, policy):
        return ""
    return " Step Functions is asked first whether that run has ended."


def recorded(run: Run, at: datetime, task: Task) -> str:
    """Which run a time belongs to, and what became of that."""
    became = f"{run.status}{', ' + run.reason if run.reason else ''}"
    if run.scheduled_for is None or run.scheduled_for == at:
        return f"{run.id}: {became}."
    return f"Folded into {run.id}, which was to run at {shown(run.scheduled_for, task)}: {became}."


def named(ids: Iterable[str]) -> str:
    """The first few ids, and how many more there are."""
    names = list(ids)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _yours(ids: Sequence[str]) -> str:
    return f"{len(ids)} of them yours: {named(ids)}" if ids else "none of them yours"
