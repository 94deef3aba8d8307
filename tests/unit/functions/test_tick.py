"""One tick: how often it looks, when it stops, and what it makes of failures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from nightshift.domain.errors import LaunchImpossible, StorageUnavailable
from tick.window import RESERVE_SECONDS, VERIFY_EVERY_SECONDS, Clockwork, run_window
from unit.functions.desk import SUNDAY, Desk


@dataclass
class Machine:
    """A machine whose clocks stand still unless it sleeps or a look takes `look_seconds`."""

    left: float = 900.0
    elapsed: float = 1000.0
    slept: list[float] = field(default_factory=list)
    look_seconds: float = 0.0

    def now(self) -> datetime:
        """The wall clock; a look that has begun takes its time."""
        instant = SUNDAY + timedelta(seconds=self.elapsed - 1000)
        self.pass_by(self.look_seconds)
        return instant

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        """Time goes on, for the function too."""
        self.elapsed += seconds
        self.left -= seconds

    def clockwork(self) -> Clockwork:
        """The clocks as a tick sees them."""
        return Clockwork(now=self.now, elapsed=lambda: self.elapsed, sleep=self.sleep)


def tick(desk: Desk, machine: Machine) -> int:
    """One tick on this machine; the number of looks."""
    return run_window(desk.tick, desk.tick_settings, lambda: machine.left, machine.clockwork())


def polling(window: int, poll: int) -> Desk:
    """A desk whose tick looks every `poll` seconds for `window` seconds."""
    return Desk(TICK_WINDOW_SECONDS=str(window), POLL_INTERVAL_SECONDS=str(poll))


def test_without_a_window_a_tick_looks_once() -> None:
    """The default: one look a minute."""
    machine = Machine()
    desk = Desk()
    assert tick(desk, machine) == 1
    assert machine.slept == []
    assert desk.actions().count("tick_finished") == 1


def test_within_a_window_a_tick_looks_again_and_again_until_it_is_over() -> None:
    """SPEC 6: the window of one tick reaches into the next, so that there is no hole."""
    machine = Machine()
    assert tick(polling(65, 5), machine) == 14
    assert sum(machine.slept) == 65


def test_a_look_that_takes_long_is_followed_at_once() -> None:
    """The interval is from look to look, not from the end of one to the next."""
    machine = Machine(look_seconds=7)
    assert tick(polling(65, 5), machine) == 10
    assert set(machine.slept) == {0.0}


def test_a_tick_stops_before_its_time_is_over() -> None:
    """B119: stop while there is time to launch what is admitted."""
    machine = Machine(left=40)
    assert tick(polling(65, 5), machine) == 5
    assert machine.left > RESERVE_SECONDS


@pytest.mark.parametrize("left", [RESERVE_SECONDS, 1.0, 0.0, -3.0])
def test_nothing_is_admitted_without_time_to_launch(left: float) -> None:
    """B119: also when the remaining time is nothing or less."""
    desk = Desk()
    desk.create(schedule_spec={"after_seconds": 60})
    machine = Machine(left=left, elapsed=1061)
    assert tick(desk, machine) == 1
    assert desk.store.held_keys() == {}
    assert desk.executions.orders == []


def test_what_is_due_is_decided_by_the_wall_clock_of_each_look() -> None:
    """B118, B146: every look reads the clock anew."""
    desk = polling(65, 5)
    task_id = desk.create(schedule_spec={"after_seconds": 60})["id"]
    tick(desk, Machine())
    assert [order.slot.task_id for order in desk.executions.orders] == [task_id]
    assert desk.executions.orders[0].slot.admitted_at == SUNDAY + timedelta(seconds=60)


def test_old_runs_are_verified_at_the_first_look_and_then_now_and_then() -> None:
    """SPEC 6: verification costs calls, so not every look of a window does it."""
    desk = polling(65, 1)
    desk.create()
    desk.begin(desk.stored()[0])
    listed: list[float] = []
    machine = Machine()
    inspector = desk.tick.clock.inspector
    running = inspector.running

    def counted() -> frozenset[str]:
        listed.append(machine.elapsed)
        return running()

    inspector.running = counted  # type: ignore[method-assign]
    desk.limit(verify_after_seconds=1)
    machine.pass_by(10)
    tick(desk, machine)
    assert listed[0] == 1010
    gaps = [after - before for before, after in pairwise(listed)]
    assert gaps
    assert all(gap == VERIFY_EVERY_SECONDS for gap in gaps)


@pytest.mark.parametrize("fault", [LaunchImpossible(), StorageUnavailable()])
def test_a_look_that_fails_as_a_whole_ends_the_tick_loudly(fault: Exception) -> None:
    """B121, SPEC 6: a failure of the tick itself raises; a tick that failed did not finish."""
    desk = polling(65, 5)
    desk.store.before("runs.slots", _raising(fault))
    machine = Machine()
    with pytest.raises(type(fault)):
        tick(desk, machine)
    assert machine.slept == []
    assert "tick_finished" not in desk.actions()


def test_one_tasks_failure_is_told_and_stops_nobody() -> None:
    """B120, B121: the others are done, the metric is there, the tick finishes."""
    desk = Desk()
    for _ in range(3):
        desk.create(schedule_spec={"after_seconds": 60})
    desk.store.before("runs.admit", _raising(RuntimeError("broken")))
    machine = Machine(elapsed=1061)
    assert tick(desk, machine) == 1
    assert len(desk.executions.orders) == 2
    assert [event.action for event in desk.events if event.error] == ["dispatch_failed"]


def test_ticks_that_overlap_launch_once() -> None:
    """B116: ticks are interchangeable."""
    desk = Desk()
    desk.create(schedule_spec={"after_seconds": 60})
    for _ in range(3):
        tick(desk, Machine(elapsed=1061))
    assert len(desk.executions.orders) == 1


def _raising(fault: Exception) -> Callable[[], None]:
    def interrupt() -> None:
        raise fault

    return interrupt


def test_a_tick_sweeps_a_page_after_each_look_until_none_is_left() -> None:
    """SPEC section 5, tzdata: a bounded sweep of the tick; an idle tick asks once."""
    desk = polling(window=45, poll=15)
    tick(desk, Machine())
    assert desk.store.calls("sweeps.planned") == 1
    assert desk.store.calls("sweeps.progress") == 1
    tick(desk, Machine())
    assert desk.store.calls("sweeps.planned") == 1
    assert desk.store.calls("sweeps.progress") == 2


def test_a_tick_whose_time_is_short_sweeps_nothing() -> None:
    """SPEC section 6: what is due comes first."""
    desk = Desk()
    tick(desk, Machine(left=RESERVE_SECONDS))
    assert desk.store.calls("sweeps.progress") == 0
