"""One table, one Step Functions, and several processes that do things at the very same time."""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import builders
from crash.asl import StateError
from crash.faults import Killed
from crash.harness import LIMIT, Process, Stage
from crash.machine import SUCCESS
from crash.promises import about_occurrences, about_work, is_waiting
from nightshift.domain.errors import NightshiftError
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.task import Task
from nightshift.domain.services.admission import places_left
from nightshift.domain.services.rulings import Due
from nightshift_toolkit.audit import check
from nightshift_toolkit.local_cloud.engine import Engine

PROCESSES = 6

Deed = Callable[[Process], object]


class Arena(Stage):
    """A stage with a crowd; each process has its own clients and acts in its own thread."""

    def __init__(self, engine: Engine, table: str) -> None:
        self.crowd: list[Process] = []
        super().__init__(engine, table)
        self.crowd = [
            Process(f"process-{number}", engine, table, self.machine) for number in range(PROCESSES)
        ]
        self._pool = ThreadPoolExecutor(PROCESSES + 1)
        self.complaints: list[str] = []

    def begin_round(self) -> None:
        """Begin anew, at a fresh table."""
        self.reset()
        self.complaints = []
        for process in self.crowd:
            process.now = self.now
            process.build(builders.policy(max_concurrent_runs=LIMIT))

    def pass_time(self, span: timedelta) -> None:
        """Let time pass everywhere."""
        super().pass_time(span)
        for process in self.crowd:
            process.now = self.now

    # -- all at once --

    def race(self, deeds: Sequence[Deed], chance: random.Random) -> None:
        """Let each deed be done by a process of its own, all at once; the budget is watched."""
        order = list(deeds)
        chance.shuffle(order)
        start = threading.Barrier(len(order))
        with self._watched():
            futures = [
                self._pool.submit(self._do, process, deed, start)
                for process, deed in zip(self.crowd, order, strict=False)
            ]
            for future in futures:
                future.result()
        self._check(at_rest=False)

    def _do(self, process: Process, deed: Deed, start: threading.Barrier) -> None:
        start.wait()
        try:
            deed(process)
        except NightshiftError:
            pass  # refused: whoever asked can ask again
        except (Exception, Killed, StateError) as defect:  # noqa: BLE001 - shown with the round
            self.complaints.append(repr(defect))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Look at the slots again and again: never more than allowed, never two on a seat (P14)."""
        over = threading.Event()
        future = self._pool.submit(self._watch, over)
        try:
            yield
        finally:
            over.set()
            future.result()

    def _watch(self, over: threading.Event) -> None:
        while not over.is_set():
            seats = [slot.keys.seat for slot in self.others.runs.slots()]
            if len(seats) > LIMIT or len(set(seats)) < len(seats):
                self.complaints.append(f"active at once: seats {sorted(seats)} of {LIMIT}")

    # -- what follows --

    def settle(self) -> list[str]:
        """Let what is left be done one after the other; all complaints of this round."""
        for _ in range(8):
            self.machine.begin()
            self.machine.report_all(SUCCESS)
            snapshot = self.snapshot()
            waiting = any(is_waiting(task, self.now) for task in snapshot.tasks)
            if not (waiting or snapshot.slots):
                break
            self.pass_time(timedelta(seconds=65 if not waiting else 1))
            self.others.look()
        self._check(at_rest=True)
        snapshot = self.snapshot()
        self.complaints += about_work(snapshot, self.machine.worked, self.machine.reported)
        for task in self.watched:
            self.complaints += about_occurrences(snapshot, task, self.now)
        self.complaints += [
            f"{run.id} outlived its task"
            for run in snapshot.runs
            if run.task_id not in snapshot.task_of
        ]
        return self.complaints

    def _check(self, *, at_rest: bool) -> None:
        found = check(self.snapshot(with_index=at_rest), at_rest=at_rest, limit=LIMIT)
        self.complaints += [f"{line.invariant}: {line.subject}: {line.detail}" for line in found]


def dispatch(task: Task) -> Deed:
    """Dispatch a task as a look does, without the reads that find it."""

    def deed(process: Process) -> object:
        ref = TaskRef(task.user_id, task.id)
        slots = process.runs.slots()
        found = process.tasks.read([ref]).get(ref)
        if not isinstance(found, tuple):
            return None
        stored, payload = found
        holder = next((slot for slot in slots if slot.task_id == task.id), None)
        places = places_left(slots, process.policy)
        due = Due(task=stored, payload=payload, holder=holder)
        return process.dispatch.dispatch_due(due, places, process.policy, process.now)

    return deed


def trigger(task: Task) -> Deed:
    """Trigger a task by hand."""
    return lambda process: process.trigger(task)


def look(process: Process) -> None:
    """Be a whole tick."""
    process.look()
