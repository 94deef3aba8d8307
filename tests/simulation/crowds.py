"""What owners ask of all their tasks at once, and what should become of each of them."""

from copy import copy
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nightshift.domain.commands import PauseTasks, ResumeTasks
from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.instants import format_instant
from simulation.judge import Wrong
from simulation.life import Life
from simulation.model import Expected

if TYPE_CHECKING:
    from nightshift.domain.services.pausing import ChangedTasks

FINISHED = ("completed", "failed", "cancelled")
Refusal = type[NightshiftError] | None


def pause_all(life: Life, user_id: str, clock: datetime, until: datetime | None) -> None:
    """Pause all tasks of a user; none is paused for less than it was (P3)."""

    def expect(task: Expected) -> Refusal:
        sleeps = task.status == "paused"
        beyond = sleeps and (task.until is None or (until is not None and until <= task.until))
        return None if task.status in FINISHED or beyond else task.pause(clock, until)

    end = None if until is None else format_instant(until)
    command = PauseTasks(user_id=user_id, until=end)
    _of_all(life, user_id, clock, expect, lambda: life.pausing.pause_tasks(command, clock))


def resume_all(life: Life, user_id: str, clock: datetime) -> None:
    """Resume whatever of a user's tasks is paused, and nothing else (P3)."""

    def expect(task: Expected) -> Refusal:
        return task.resume(clock) if task.status == "paused" else None

    command = ResumeTasks(user_id=user_id)
    _of_all(life, user_id, clock, expect, lambda: life.pausing.resume_tasks(command, clock))


def _of_all(life: Life, user_id: str, clock: datetime, expect: Any, action: Any) -> None:
    """Ask it; each task is as it should be, or as it was where the request did not come through."""
    wanted: dict[str, tuple[Expected, Refusal]] = {}
    for task in life.judge.expected.values():
        if task.user_id == user_id:
            after = copy(task)
            wanted[task.task_id] = (after, expect(after))
    answers: list[ChangedTasks] = []
    failure = life.tried(lambda: answers.append(action()))
    told = {refused.task_id: refused.code for answer in answers for refused in answer.refused}
    for task_id, (after, refusal) in wanted.items():
        if failure is None and told.get(task_id) != (refusal.code if refusal else None):
            raise Wrong(f"{task_id}: {told.get(task_id)}, should be {refusal} ({after})")
        row = life.rows.task(user_id, task_id)
        if refusal is None and (failure is None or not after.differences(row)):
            life.judge.expected[task_id] = after
    life.judge.compare(clock)
