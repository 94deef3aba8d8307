"""A pause that ends by itself: when it may be asked for, and what its end makes of the task.

A task that is paused until a time keeps an entry in the due index for that time, and no next time:
that is how the clock tells a pause to end from an occurrence to start (K1).
"""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.domain.errors import NeverFires, NotInFuture
from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.instants import MILLISECOND
from nightshift.domain.model.policy import Policy

if TYPE_CHECKING:
    from nightshift.domain.model.spec import Schedule
    from nightshift.domain.model.task import Task


def paused(task: "Task", reason: str | None, until: datetime | None, now: datetime) -> "Task":
    """A task out of the clock's reach (P3), until a time or, without one, until it is resumed.

    A paused one is paused anew, for the reason it has if none is given; one that stays as it is
    comes back itself. A blocked one does not wake by itself (P20).

    Raises:
        TaskNotMutable: a `once` task is running, or the task is finished.
        NotInFuture: the end is not in the future.
        NeverFires: the schedule has no time at or after the end.
    """
    task.ensure_switchable("paused", "has nothing to pause; give it a new schedule first.")
    state = task.state
    if state.status is TaskStatus.PAUSED:
        reason = state.pause_reason if reason is None else reason
        if (reason, until) == (state.pause_reason, state.pause_until):
            return task
    if until is not None:
        ensure_in_future(until, now)
        ensure_leaves_a_time(task.definition.schedule, until)
    wakes_at = until if state.blocked_reason is None else None
    plan = replace(task.plan(TaskStatus.PAUSED, now), due_at=wakes_at)
    planned = task.with_plan(plan, pause_reason=reason, pause_until=until)
    return replace(planned, revision=task.revision + 1, updated_at=now)


def ensure_in_future(until: datetime, now: datetime) -> None:
    """Refuse a pause that would be over before it began; raises NotInFuture."""
    if until <= now:
        raise NotInFuture("A pause ends in the future.", field="until")


def ensure_leaves_a_time(schedule: "Schedule", until: datetime) -> None:
    """Refuse a pause whose end would not bring the task back (P3).

    Args:
        schedule: the schedule that is to go on.
        until: the end of the pause (UTC); an occurrence at this very instant is to run.

    Raises:
        NeverFires: the schedule has no time at or after the end.
    """
    if schedule.next_after(until - MILLISECOND) is None:
        raise NeverFires("The schedule has no time from the end of the pause on.", field="until")


def wakes_at(task: "Task") -> datetime | None:
    """When the clock ends the pause of this task; None where it does not.

    At the end of the pause, or later after a failure, never for a blocked task (P20).
    """
    waits = task.state.status is TaskStatus.PAUSED and task.state.blocked_reason is None
    return task.state.due_at if waits else None


def wakes_by(task: "Task", now: datetime) -> bool:
    """Whether the clock may end the pause of this task at `now`."""
    end = wakes_at(task)
    return end is not None and end <= now


def woken(task: "Task") -> "Task":
    """A task whose pause is over, as the clock goes on with it (P3, P15).

    The next time is the first at or after the end of the pause, however late the clock comes to
    it, so that nothing that was asked for is lost. A recurring task of which no time is left
    becomes completed; a `once` whose time lies before the end stays paused, now without an end.
    The revision stays: it was the owner who decided this, when they paused it.

    Raises:
        ValueError: it is not paused until a time.
    """
    until = task.state.pause_until
    if task.state.status is not TaskStatus.PAUSED or until is None:
        raise ValueError("only a task that is paused until a time wakes")
    plan = task.plan(TaskStatus.ENABLED, until - MILLISECOND)
    if plan.status is TaskStatus.ENABLED and plan.next_run_at is None:
        return replace(task, state=replace(task.state, pause_until=None, due_at=None))
    return task.with_plan(plan, pause_reason=None, pause_until=None)


# -- all tasks of a user at once --


def paused_with_all(
    task: "Task", reason: str | None, until: datetime | None, now: datetime
) -> "Task":
    """A task as a pause of all tasks leaves it: out of the clock's reach for at least as long.

    A finished one, and one that is paused for longer or for good, comes back itself: its owner has
    said so of this very task.

    Raises:
        TaskNotMutable: a `once` task is running.
        NeverFires: the schedule has no time at or after the end.
    """
    if _is_finished(task) or _sleeps_beyond(task, until):
        return task
    return paused(task, reason, until, now)


def resumed_with_all(task: "Task", now: datetime, policy: Policy) -> "Task":
    """A task as a resumption of all leaves it; one that is not paused comes back itself.

    Raises:
        TimePassed: no time of its schedule is left.
        TooFrequent: the floor was raised meanwhile.
    """
    return task.resumed(now, policy) if task.state.status is TaskStatus.PAUSED else task


def _is_finished(task: "Task") -> bool:
    return task.state.status in (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED)


def _sleeps_beyond(task: "Task", until: datetime | None) -> bool:
    ends = task.state.pause_until
    beyond = ends is None or (until is not None and until <= ends)
    return task.state.status is TaskStatus.PAUSED and beyond
