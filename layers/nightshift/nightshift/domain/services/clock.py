"""One look of the clock: settle what is unsettled, then start what is due, as far as seats go.

Any number of looks may overlap: nothing here decides, the conditional writes do.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from nightshift.domain.errors import (
    CorruptRecord,
    ExecutionsUnavailable,
    InvalidRequest,
    LaunchImpossible,
)
from nightshift.domain.exchanged import CorruptTask, DueHint, DueLine, Event, Observe
from nightshift.domain.model.enums import DispatchExit
from nightshift.domain.model.pause import wakes_by
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.seats import Places
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import Inspector, RunStore, TaskStore
from nightshift.domain.services.admission import places_left
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.lifecycle import DispatchResult, Lifecycle
from nightshift.domain.services.rulings import Due
from nightshift.domain.services.setbacks import Setbacks
from nightshift.domain.services.turns import HasTime, batches, in_their_own_way
from nightshift.domain.services.waking import Waking


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What a tick does, once or many times within its window."""

    tasks: TaskStore
    runs: RunStore
    policies: PolicySource
    inspector: Inspector
    lifecycle: Lifecycle
    dispatch: Dispatch
    observe: Observe
    workers: int = 1

    @property
    def _setbacks(self) -> Setbacks:
        return Setbacks(tasks=self.tasks, observe=self.observe)

    @property
    def _waking(self) -> Waking:
        return Waking(tasks=self.tasks, observe=self.observe, setbacks=self._setbacks)

    def look(self, now: datetime, has_time: HasTime, *, verify: bool = True) -> None:
        """Recover, verify, repeat cancellations, then dispatch who is due.

        One task's failure is told, backed off and stops nobody; it never escapes.

        Args:
            now: the instant of this look (UTC).
            has_time: whether another admission can still be launched in time; asked before each.
            verify: whether old runs are compared with Step Functions in this look.

        Raises:
            LaunchImpossible: nothing can be launched; nothing more was admitted.
            StorageUnavailable: the table did not answer a read that everything depends on.
        """
        policy = self.policies.current()
        slots = self.runs.slots()
        look = _Look(policy=policy, now=now, has_time=has_time)
        with ThreadPoolExecutor(self.workers) as pool:
            if self._settle(slots, look, pool, verify=verify):
                slots = self.runs.slots()
            self._start(slots, look, pool)
        if look.impossible:
            raise look.impossible[0]

    # -- what is unsettled --

    def _settle(
        self, slots: Sequence[Slot], look: "_Look", pool: ThreadPoolExecutor, *, verify: bool
    ) -> bool:
        """Whether there was anything to settle, so that the slots may have changed."""
        old = {slot.run_id for slot in slots if verify and slot.is_old(look.now, look.policy)}
        suspects = self._not_listed_as_running(old)
        work: list[tuple[Slot, Callable[[], object]]] = []
        for slot in slots:
            if slot.cancel_requested:
                work.append((slot, partial(self.lifecycle.cancel_again, slot, look.now)))
            elif slot.needs_launch(look.now):
                work.append((slot, partial(self.lifecycle.recover, slot, look.policy, look.now)))
            elif slot.run_id in suspects:
                work.append((slot, partial(self.lifecycle.verify, slot, look.now)))
        list(pool.map(lambda one: self._settle_one(one[0], one[1], look), work))
        return bool(work)

    def _not_listed_as_running(self, old: set[str]) -> set[str]:
        """The old runs that one cheap list does not clear; none while the list cannot be had."""
        if not old:
            return old
        try:
            return old - self.inspector.running()
        except ExecutionsUnavailable as unanswered:
            self.observe(Event("settling_failed", error=unanswered))
            return set()

    def _settle_one(self, slot: Slot, step: Callable[[], object], look: "_Look") -> None:
        if look.impossible or not look.has_time():
            return
        try:
            step()
        except LaunchImpossible as impossible:
            look.impossible.append(impossible)
        except Exception as failure:  # noqa: BLE001 - one run's trouble stops nobody
            facts = {"task_id": slot.task_id, "run_id": slot.run_id}
            self.observe(Event("settling_failed", facts, failure))

    # -- what is due --

    def _start(self, slots: Sequence[Slot], look: "_Look", pool: ThreadPoolExecutor) -> None:
        held = {slot.task_id: slot for slot in slots}
        places = places_left(slots, look.policy)
        line = self._waking.wake_all(look.now, look.has_time, pool)
        self._measure(line, slots, look)
        met: set[str] = set()
        for batch in batches(line.hints, places, look.has_time):
            if look.impossible or not look.has_time():
                return
            met |= {hint.ref.task_id for hint in batch} & held.keys()
            self._start_batch(batch, held, places, look, pool)
        overlapping = in_their_own_way(line.first, held, met)
        if overlapping and not look.impossible:
            self._start_batch(overlapping, held, places, look, pool)

    def _start_batch(
        self,
        batch: Sequence[DueHint],
        held: dict[str, Slot],
        places: Places,
        look: "_Look",
        pool: ThreadPoolExecutor,
    ) -> None:
        rows = self.tasks.read([hint.ref for hint in batch])
        list(
            pool.map(
                lambda hint: self._start_one(hint, rows.get(hint.ref), held, places, look), batch
            )
        )

    def _start_one(
        self,
        hint: DueHint,
        row: tuple[Task, Payload | None] | CorruptTask | None,
        held: dict[str, Slot],
        places: Places,
        look: "_Look",
    ) -> None:
        if row is None or look.impossible or not look.has_time():
            return
        if isinstance(row, CorruptTask):
            self._setbacks.block(hint, row.reason, corrupt=True)
            return
        task, payload = row
        if wakes_by(task, look.now):
            self._waking.wake(hint, task, look.now)
            return
        due = Due(task=task, payload=payload, holder=held.get(task.id))
        try:
            result = self.dispatch.dispatch_due(due, places, look.policy, look.now)
        except LaunchImpossible as impossible:
            look.impossible.append(impossible)
        except InvalidRequest as refusal:
            self._setbacks.block(hint, refusal.message)
        except CorruptRecord as damage:
            self._setbacks.block(hint, damage.message, corrupt=True)
        except Exception as failure:  # noqa: BLE001 - one task's trouble stops nobody
            self._setbacks.back_off(task, look.now, failure)
        else:
            self._tell(result, task, look.now)

    def _tell(self, result: DispatchResult, task: Task, now: datetime) -> None:
        facts: dict[str, object] = {
            "task_id": result.task_id,
            "run_id": result.run_id,
            "reason": result.reason,
        }
        if result.exit is DispatchExit.LAUNCHED and task.state.due_at is not None:
            facts["lag_seconds"] = (now - task.state.due_at).total_seconds()
        self.observe(Event(f"dispatch_{result.exit.value}", facts))

    def _measure(self, line: DueLine, slots: Sequence[Slot], look: "_Look") -> None:
        """Tell how long the budget makes tasks wait; who waits for anything else says nothing."""
        held = {slot.task_id for slot in slots}
        waiting = [
            hint.due_at for hint in line.first if not hint.wakes and hint.ref.task_id not in held
        ]
        seats = look.policy.max_concurrent_runs
        facts = {
            "oldest_due_seconds": _age(waiting, look.now),
            "oldest_run_seconds": _age([slot.admitted_at for slot in slots], look.now),
            "waiting": len(waiting),
            "seats_in_use": len(slots),
            "seats": seats,
            "budget_full": int(len(slots) >= seats),
        }
        self.observe(Event("looked", facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What the steps of one look share; `impossible` stops all further admissions."""

    policy: Policy
    now: datetime
    has_time: HasTime
    impossible: list[LaunchImpossible] = field(default_factory=list)


def _age(instants: Sequence[datetime], now: datetime) -> float:
    """Seconds since the earliest of some instants; 0 if there are none."""
    return (now - min(instants)).total_seconds() if instants else 0.0
