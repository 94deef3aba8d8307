"""How close to its time a run starts, with windows that overlap and with a single look a minute."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import pytest
from greenlet import getcurrent, greenlet

from tick.window import Clockwork, run_window
from unit.functions.desk import SUNDAY, Desk

WINDOW = {
    "TICK_WINDOW_SECONDS": "65",
    "POLL_INTERVAL_SECONDS": "1",
    "TICK_TIMEOUT_SECONDS": "95",
    "MAX_CONCURRENT_RUNS": "5000",
    "MAX_CONCURRENT_RUNS_PER_USER": "5000",
}
ONCE_A_MINUTE = {"MAX_CONCURRENT_RUNS": "5000", "MAX_CONCURRENT_RUNS_PER_USER": "5000"}
LOOK_SECONDS = 0.1


@dataclass
class Day:
    """Simulated time in which invocations overlap; each gives way whenever it waits or looks."""

    seconds: float = 0.0
    _waiting: list[tuple[float, int, greenlet]] = field(default_factory=list)
    _turn: int = 0

    def at(self, seconds: float, do: Callable[[], object]) -> None:
        """Let something begin later."""
        self._turn += 1
        heapq.heappush(self._waiting, (seconds, self._turn, greenlet(do)))

    def wait(self, seconds: float) -> None:
        """Give way until so much time has passed."""
        self._turn += 1
        heapq.heappush(self._waiting, (self.seconds + seconds, self._turn, getcurrent()))
        root = getcurrent().parent
        assert root is not None
        root.switch()

    def run(self) -> None:
        """Let time pass until nobody waits any more."""
        while self._waiting:
            self.seconds, _, waiter = heapq.heappop(self._waiting)
            waiter.switch()


@dataclass
class Clocks:
    """A desk whose clock is rung every minute, a little late and never to the same second."""

    desk: Desk
    day: Day = field(default_factory=Day)
    looks: int = 0

    def now(self) -> datetime:
        """The instant of a look, which then takes its time."""
        self.looks += 1
        instant = SUNDAY + timedelta(seconds=self.day.seconds)
        self.day.wait(LOOK_SECONDS)
        return instant

    def tick(self) -> None:
        """One invocation of the tick function."""
        began = self.day.seconds
        clockwork = Clockwork(now=self.now, elapsed=lambda: self.day.seconds, sleep=self.day.wait)

        def left() -> float:
            return 95 - (self.day.seconds - began)

        run_window(self.desk.tick, self.desk.tick_settings, left, clockwork)

    def ring(self, minutes: int, latest: float) -> None:
        """Ring every minute, at most `latest` seconds late."""
        chance = Random(9)  # noqa: S311
        offset = chance.uniform(0, 60)
        for minute in range(minutes):
            self.day.at(offset + 60 * minute + chance.uniform(0, latest), self.tick)
        self.day.run()

    def lags(self) -> list[float]:
        """How long after its time each run was admitted, in seconds."""
        started = {order.slot.run_id: order.slot for order in self.desk.executions.orders}
        assert sorted(started) == sorted(self.desk.executions.launched)
        return [
            (slot.admitted_at - slot.scheduled_for).total_seconds()
            for slot in started.values()
            if slot.scheduled_for is not None
        ]


def due_all_along(desk: Desk, first: float, last: float) -> int:
    """Tasks that are due once each, every 0.7 s; their number."""
    count = int((last - first) / 0.7)
    for number in range(count):
        due = SUNDAY + timedelta(seconds=round(first + 0.7 * number, 3))
        desk.create(schedule_spec={"once": due.isoformat(timespec="milliseconds")})
    return count


@pytest.mark.parametrize("latest", [0.0, 3.5])
def test_with_overlapping_windows_every_run_starts_within_about_a_second(latest: float) -> None:
    """P17: the minute's turn included, also when EventBridge is seconds late; each starts once."""
    clocks = Clocks(Desk(observe=None, **WINDOW))
    count = due_all_along(clocks.desk, first=120, last=420)
    clocks.ring(minutes=8, latest=latest)
    lags = clocks.lags()
    assert len(lags) == count
    assert min(lags) >= 0
    assert max(lags) <= 1 + 2 * LOOK_SECONDS


def test_a_window_that_ends_before_the_next_begins_leaves_a_hole() -> None:
    """P17: why the window is longer than the minute."""
    clocks = Clocks(Desk(observe=None, **WINDOW | {"TICK_WINDOW_SECONDS": "50"}))
    due_all_along(clocks.desk, first=120, last=420)
    clocks.ring(minutes=8, latest=3.5)
    assert max(clocks.lags()) > 8


def test_without_a_window_a_run_starts_within_the_minute_and_a_minute_costs_one_look() -> None:
    """P17: the cheapest setting; the same work, started later."""
    clocks = Clocks(Desk(observe=None, **ONCE_A_MINUTE))
    count = due_all_along(clocks.desk, first=120, last=420)
    clocks.ring(minutes=8, latest=3.5)
    assert clocks.looks == 8
    assert len(clocks.lags()) == count
    assert max(clocks.lags()) <= 60 + 3.5 + LOOK_SECONDS


@pytest.mark.parametrize(
    ("variables", "looks"), [pytest.param({}, 1, id="once"), pytest.param(WINDOW, 66, id="window")]
)
def test_an_idle_minute_asks_the_table_three_times_a_look(
    variables: dict[str, str], looks: int
) -> None:
    """P17: the limits, the slots and the line; the operator pays for precision by the look."""
    clocks = Clocks(Desk(observe=None, **variables))
    clocks.desk.tick.replanning.sweep_a_page()
    before = {name: clocks.desk.store.calls(name) for name in ASKED}
    clocks.ring(minutes=1, latest=0)
    asked = {name: clocks.desk.store.calls(name) - before[name] for name in ASKED}
    assert asked == {
        "policies.current": looks,
        "runs.slots": looks,
        "tasks.due": looks,
        "sweeps.progress": 1,
    }


ASKED = ("policies.current", "runs.slots", "tasks.due", "sweeps.progress")
