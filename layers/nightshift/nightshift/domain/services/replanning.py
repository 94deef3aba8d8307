"""After a release of zone rules: every plan that older rules made is made anew, a page at a time.

A task that is due is re-planned by its dispatch. The sweep finds the others, also those that newer
rules let run earlier and that no look would meet in time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nightshift.domain.exchanged import Event, Observe, Page
from nightshift.domain.model.replanning import Sweep, planned_by_older_rules, replanned
from nightshift.domain.model.task import Plan, Task
from nightshift.domain.model.zones import tzdata_version
from nightshift.domain.ports import SweepStore, TaskStore

PAGE = 50
"""Tasks read, and at most so many updated, by one step of the sweep."""


@dataclass(frozen=True, slots=True)
class Move:
    """A task, and the plan that the zone rules in use give it."""

    task: Task
    plan: Plan

    @property
    def moves(self) -> bool:
        """Whether the task is to run at another time than it was."""
        return self.plan.next_run_at != self.task.state.next_run_at

    @property
    def seconds(self) -> float | None:
        """How much later it is to run, negative for earlier; None when it is not to run again."""
        before, after = self.task.state.next_run_at, self.plan.next_run_at
        return None if before is None or after is None else (after - before).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replanning:
    """Makes plans anew that older zone rules made."""

    tasks: TaskStore
    sweeps: SweepStore
    observe: Observe

    def sweep_a_page(self) -> bool:
        """Take one step of the sweep; whether nothing is left to do for these rules.

        Passes follow each other until one meets no older plan, since a function from before the
        deploy may have written one behind the pass. A failure is told, escapes nowhere and ends
        the sweep for this tick. Any number of ticks may be at it: every write is conditional.
        """
        try:
            return self._step()
        except Exception as failure:  # noqa: BLE001 - whoever is due is re-planned all the same
            self.observe(Event("replanning_failed", error=failure))
            return True

    def _step(self) -> bool:
        seen = self.sweeps.progress()
        version = tzdata_version()
        if seen is not None and (
            seen.tzdata_version > version or (seen.tzdata_version == version and seen.done)
        ):
            return True
        at = seen if seen is not None and seen.tzdata_version == version else Sweep(version)
        page = self.sweeps.planned(limit=PAGE, after=at.cursor)
        older = [self.apply(move) for move in self._moves(page)]
        reached = replace(at, cursor=page.next, found=at.found or bool(older))
        if page.next is None:
            reached = replace(reached, found=False, done=not reached.found)
        self.sweeps.record(seen, reached)
        return reached.done

    def all_moves(self) -> Iterator[Move]:
        """Every plan that older rules made, with the one to take its place; writes nothing."""
        after: str | None = None
        while True:
            page = self.sweeps.planned(limit=PAGE, after=after)
            yield from self._moves(page)
            if (after := page.next) is None:
                return

    def apply(self, move: Move) -> bool:
        """Give the task its new plan; False when it changed meanwhile, and needs none any more."""
        done = self.tasks.advance(move.task, move.plan)
        if done and move.moves:
            facts = {"task_id": move.task.id, "moved_seconds": move.seconds}
            self.observe(Event("task_replanned", facts))
        return done

    def _moves(self, page: Page[Task]) -> Iterator[Move]:
        for task in page.items:
            if not planned_by_older_rules(task):
                continue
            try:
                move = Move(task, replanned(task))
            except Exception as failure:  # noqa: BLE001 - one task's trouble stops nobody
                self.observe(Event("replanning_failed", {"task_id": task.id}, failure))
            else:
                yield move
