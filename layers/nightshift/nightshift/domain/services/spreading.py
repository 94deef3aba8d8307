"""Where in its window a task with `jitter: auto` starts: in the least crowded minute.

The place is chosen once, when the task is written, and kept in its definition until its times or
its window change. So a task stays where its owner has seen it, and nothing is counted when it runs.
"""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from nightshift.domain.model.crowd import MINUTE
from nightshift.domain.model.jitter import share_of, widest_jitter
from nightshift.domain.model.task import Definition
from nightshift.domain.ports import TaskStore

ENTRIES: Final = 200
"""How many entries of each bucket of the due index one look counts."""
LOOKS: Final = 3
"""How often a window is looked at where the first look did not reach its end."""
_DAY: Final = timedelta(days=1)
_MINUTE_SECONDS: Final = 60


def placed(
    tasks: TaskStore, task_id: str, definition: Definition, before: Definition | None, now: datetime
) -> Definition:
    """The definition with its place, chosen anew where the schedule's times or the window changed.

    Args:
        tasks: whose due index is counted.
        task_id: whose definition it is; it does not count itself, and decides between equals.
        definition: as it is to be written; without `jitter: auto` it is returned as it is.
        before: as it was; None for a new task.
        now: the instant from which the next time is computed (UTC).
    """
    if definition.jitter_place is None or (before and _keeps_place(definition, before)):
        return definition
    nominal = definition.schedule.next_after(now)
    if nominal is None:
        return definition
    following = definition.schedule.next_after(nominal)
    widest = widest_jitter(definition.jitter_seconds, nominal, following)
    minutes = max(1, (widest + 1) // _MINUTE_SECONDS)
    minute = _least_crowded(tasks, task_id, nominal, minutes, now)
    second = share_of(task_id, min(_MINUTE_SECONDS, widest + 1), salt="second")
    return replace(definition, jitter_place=minute * _MINUTE_SECONDS + second)


def _keeps_place(definition: Definition, before: Definition) -> bool:
    return (
        before.jitter_place is not None
        and definition.jitter_seconds == before.jitter_seconds
        and definition.schedule.same_times_as(before.schedule)
    )


def _least_crowded(
    tasks: TaskStore, task_id: str, nominal: datetime, minutes: int, now: datetime
) -> int:
    """The first of the emptiest minutes, counted from the task's own minute on.

    The index holds the next time of each task alone. So the window is counted on its own day and,
    where that is further off, within the coming one: there daily tasks are seen as well.
    """
    own = share_of(task_id, minutes)
    windows = {nominal, nominal - (nominal - now) // _DAY * _DAY}
    found = [_counted(tasks, task_id, window, minutes, own) for window in sorted(windows)]
    known = set.intersection(*(set(counts) for counts in found)) or {own}
    crowd = sum((Counter(counts) for counts in found), Counter[int]())
    return min(known, key=lambda minute: (crowd[minute], (minute - own) % minutes))


def _counted(
    tasks: TaskStore, task_id: str, window: datetime, minutes: int, own: int
) -> dict[int, int]:
    """How many tasks are due in the minutes of a window, those that a few bounded looks reach.

    Where the first look ends early, the others begin at the task's own minute, so that different
    tasks come to know different parts of a full window.
    """
    counts: dict[int, int] = {}
    start = 0
    for _ in range(LOOKS):
        since = window + start * MINUTE
        seen = tasks.crowd(since, minutes - start, besides=task_id, limit=ENTRIES)
        counts |= dict(enumerate(seen, start=start))
        if start + len(seen) >= minutes:
            break
        start = max(own, start + max(1, len(seen)))
        if start >= minutes:
            break
    return counts
