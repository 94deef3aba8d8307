"""What a look costs as the number of tasks grows: calls, rows scanned, memory."""

import gc
import tracemalloc
from collections import Counter
from dataclasses import dataclass
from itertools import count

import builders
from bench.due_at_once import Clients, Settings, budget, clock_over, filled, silent
from bench.wire_stub import StubAws


@dataclass(frozen=True)
class Idle:
    """What a look cost that found nothing to do."""

    calls: Counter[str]
    scanned: int


def idle_look(sleeping: int) -> Idle:
    """Look once while so many tasks sleep."""
    stub = filled(StubAws(0, 0), sleeping, due=False)
    clock = clock_over(Clients.deployed(stub), 1)
    with silent():
        clock.look(builders.NOW, lambda: True)
    return Idle(stub.calls, stub.scanned)


def peak_of_a_look(due: int, launches: int) -> int:
    """Most bytes that a look holds at once, with so many tasks due and so many places.

    The stub forgets what it is told, and garbage is collected between batches, so that what is
    measured is what the look itself holds on to.
    """
    stub = filled(StubAws(0, 0, forgetful=True), due)
    clock = clock_over(Clients.deployed(stub), 4, Settings(policy=budget(launches)))
    asked = count(1)

    def has_time() -> bool:
        if next(asked) % 100 == 0:
            gc.collect()
        return True

    with silent():
        clock.look(builders.NOW, lambda: stub.calls["StartExecution"] < 50)  # fills every cache
        gc.collect()
        tracemalloc.start()
        try:
            clock.look(builders.NOW, has_time)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return peak
