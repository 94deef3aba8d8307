"""The end of a pause that has an end: the clock puts the task back, its owner need not (P3)."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from nightshift.domain.errors import InvalidRequest
from nightshift.domain.exchanged import CorruptTask, DueHint, DueLine, Event, Observe, TaskRef
from nightshift.domain.model.pause import wakes_by, woken
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.ports import TaskStore
from nightshift.domain.services.setbacks import Setbacks

Rows = Mapping[TaskRef, tuple[Task, Payload | None] | CorruptTask]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waking:
    """Ends the pauses that are over, before the line of due tasks is gone through."""

    tasks: TaskStore
    observe: Observe
    setbacks: Setbacks

    def wake_all(
        self, now: datetime, has_time: Callable[[], bool], pool: ThreadPoolExecutor
    ) -> DueLine:
        """Who is due at `now`, once all whose pause is over are back in their own place.

        Whoever wakes needs no place. What waits behind more than a page of due tasks is woken
        when its turn comes.
        """
        line = self.tasks.due(now)
        met: set[str] = set()
        while batch := [hint for hint in line.first if hint.wakes and hint.ref.task_id not in met]:
            if not has_time():
                break
            met |= {hint.ref.task_id for hint in batch}
            rows = self.tasks.read([hint.ref for hint in batch])
            list(pool.map(partial(self._wake_row, rows, now), batch))
            line = self.tasks.due(now)
        return line

    def _wake_row(self, rows: Rows, now: datetime, hint: DueHint) -> None:
        row = rows.get(hint.ref)
        if isinstance(row, CorruptTask):
            self.setbacks.block(hint, row.reason, corrupt=True)
        elif row is not None and wakes_by(row[0], now):
            self.wake(hint, row[0], now)

    def wake(self, hint: DueHint, task: Task, now: datetime) -> None:
        """End the pause of one task; whoever changed it meanwhile has the last word.

        One conditional write, so that it can be met by any number of looks. An occurrence that is
        due by then is met by the same look if the line shows it already, by the next otherwise.
        """
        try:
            if self.tasks.wake(task, woken(task)):
                self.observe(Event("task_woken", {"task_id": task.id}))
        except InvalidRequest as refusal:
            self.setbacks.block(hint, refusal.message)
        except Exception as failure:  # noqa: BLE001 - one task's trouble stops nobody
            self.setbacks.back_off(task, now, failure)
