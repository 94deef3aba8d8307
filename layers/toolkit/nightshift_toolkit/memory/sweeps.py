"""How far the tasks have been gone through for newer zone rules, in memory."""

from nightshift.domain.errors import CorruptRecord
from nightshift.domain.exchanged import Page, TaskRef
from nightshift.domain.model.replanning import Sweep
from nightshift.domain.model.task import Task
from nightshift_toolkit.memory.state import State, reading, writing


class MemorySweeps:
    """A `SweepStore`."""

    name = "sweeps"

    def __init__(self, state: State) -> None:
        self.state = state
        self._sweep: Sweep | None = None

    @reading
    def progress(self) -> Sweep | None:
        """See `SweepStore.progress`."""
        return self._sweep

    @writing
    def record(self, seen: Sweep | None, reached: Sweep) -> bool:
        """See `SweepStore.record`."""
        if self._sweep != seen:
            return False
        self._sweep = reached
        return True

    @reading
    def planned(self, *, limit: int, after: str | None = None) -> Page[Task]:
        """See `SweepStore.planned`."""
        places = sorted(
            (f"{9 - row.entry.priority} {row.entry.due_at.isoformat()} {ref.task_id}", ref)
            for ref, row in self.state.tasks.items()
            if row.entry is not None
        )
        following = [(place, ref) for place, ref in places if after is None or place > after]
        tasks, corrupt = self._read([ref for _, ref in following[:limit]])
        last = following[limit - 1][0] if len(following) > limit else None
        return Page(tasks, last, corrupt)

    def _read(self, refs: list[TaskRef]) -> tuple[list[Task], list[str]]:
        tasks: list[Task] = []
        corrupt: list[str] = []
        for ref in refs:
            try:
                tasks.append(self.state.tasks[ref].read())
            except CorruptRecord as error:
                corrupt.append(error.message)
        return tasks, corrupt
