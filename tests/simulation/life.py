"""The life of a table in true time: ticks, owners, signals and weather, and a judge beside them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

import builders
from completion.handler import record
from explorer.play import NamedIds, single_file
from explorer.ports import Ports
from explorer.stage import Death
from nightshift.composition.completion import CompletionServices
from nightshift.domain.commands import RegisterThread
from nightshift.domain.errors import NightshiftError
from nightshift.domain.exchanged import Event
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.threads import Threads
from simulation.executions import Executions
from simulation.explained import Explained
from simulation.judge import Judge
from simulation.population import THREADS, USERS
from simulation.rows import SeenRows
from simulation.weather import Kind, Weather, forecast

MINUTE = timedelta(minutes=1)
SKEW = 120
"""Seconds by which the clock of any process may differ from true time, either way."""
LIMITS = {
    "launch_lease_seconds": 120,
    "launch_deadline_seconds": 900,
    "verify_after_seconds": 300,
    "min_once_delay_seconds": 60,
    "min_every_seconds": 300,
    "min_interval_seconds": 60,
    "max_timeout_seconds": 6 * 3600,
    "max_history_entries_per_task": 50,
}


@dataclass
class Counts:
    """What happened in a life."""

    ticks: int = 0
    owners: int = 0
    refused: int = 0
    signals: int = 0
    events: dict[str, int] = field(default_factory=dict)


class Life:
    """A table from `begin` on, the same for the same seed.

    Args:
        seed: decides everything that happens.
        begin: the first instant (UTC).
        days: how long it lasts.
        seats: how many runs may be active.
    """

    def __init__(self, seed: int, begin: datetime, days: int, *, seats: int) -> None:
        self.random = Random(seed)  # noqa: S311 - a life, not a secret
        self.begin, self.end = begin, begin + timedelta(days=days)
        self.seats = seats
        self.counts = Counts()
        self.weather = Weather(self.random, forecast(self.random, begin, days), begin)
        self.rows = SeenRows(builders.policy(max_concurrent_runs=seats, **LIMITS))
        self.executions = Executions(
            self.random,
            self.weather,
            self.at,
            self.rows.pass_fence,
            self.rows.work,
            self._signal,
        )
        self.judge = Judge(self.rows, self.executions)
        self.explained = Explained(self.rows)
        self._agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self._numbers = count()
        self._wire()

    def _wire(self) -> None:
        ports = Ports(self.weather, self.rows)
        ids, told = NamedIds(1), self._told
        self.lifecycle = Lifecycle(
            tasks=ports.tasks,
            runs=ports.runs,
            launcher=self.executions,
            inspector=self.executions,
            observe=told,
        )
        self.dispatch = Dispatch(
            tasks=ports.tasks,
            runs=ports.runs,
            lifecycle=self.lifecycle,
            policies=ports.policies,
            ids=ids,
        )
        self.clock = Clock(
            tasks=ports.tasks,
            runs=ports.runs,
            policies=ports.policies,
            inspector=self.executions,
            lifecycle=self.lifecycle,
            dispatch=self.dispatch,
            observe=told,
        )
        owned = OwnedTasks(tasks=ports.tasks, runs=ports.runs, lifecycle=self.lifecycle)
        self.management = Management(owned=owned, policies=ports.policies, ids=ids)
        self.pausing = Pausing(owned=owned, policies=ports.policies)
        self.threads = Threads(threads=ports.threads)
        self._completion = CompletionServices(
            lifecycle=self.lifecycle, runs=ports.runs, policies=ports.policies, observe=told
        )

    # -- true time --

    @property
    def now(self) -> datetime:
        """True time."""
        return self.weather.now

    def at(self, instant: datetime, action: Callable[[], None]) -> None:
        """Put an action on the agenda."""
        heappush(self._agenda, (max(instant, self.now), next(self._numbers), action))

    def a_clock(self) -> datetime:
        """What the clock of some process says now."""
        skew = timedelta(milliseconds=self.random.randrange(-SKEW * 1000, SKEW * 1000))
        return self.now + skew

    def live(self) -> None:
        """Live to the end, and then on in calm weather until all is at rest.

        Raises:
            Wrong: something is not as it should be.
        """
        with single_file():
            for user in USERS:
                for thread in THREADS:
                    self.threads.register_thread(RegisterThread(user, thread), self.now)
            while self.now < self.end:
                self._advance()
            self.weather.calm = True
            self.rows.set_policy(self._policy(max_concurrent_runs=self.seats))
            self._come_to_rest()

    def _advance(self) -> None:
        tick = self._next_tick()
        if self._agenda and self._agenda[0][0] <= tick:
            instant, _, action = heappop(self._agenda)
            self.weather.now = instant
            action()
            return
        self.weather.now = tick
        if not self.weather.rages(Kind.NO_TICKS) and self.random.randrange(60):
            for _ in range(2 if self.random.randrange(20) == 0 else 1):
                self.tick(self.a_clock())

    def _next_tick(self) -> datetime:
        """The next full minute at which a tick has something to do, or does nothing by chance.

        All minutes between are idle: nobody is due for any clock and no run wants attention.
        """
        following = self.now.replace(second=0, microsecond=0) + MINUTE
        slots = self.rows.slots().values()
        if any(self._wants_attention(slot.run_id) for slot in slots):
            return following
        due = self.rows.next_due()
        idle = following + self.random.randrange(1, 600) * MINUTE
        if due is None:
            return idle
        early = (due - timedelta(seconds=SKEW)).replace(second=0, microsecond=0)
        return max(following, min(early, idle))

    def _wants_attention(self, run_id: str) -> bool:
        made = self.executions.made.get(run_id)
        return made is None or made.over or not made.works

    def _come_to_rest(self) -> None:
        """No owner asks for anything; everything that was due is dealt with and ended."""
        self.random = Random(0)  # noqa: S311 - from here on every life is the same
        closing = self.end + timedelta(hours=12)
        while self.now < closing or self.rows.slots() or self._somebody_waits():
            self._advance()
            if self.now > closing + timedelta(days=2):
                break
        self.judge.audit(at_rest=True)

    def _somebody_waits(self) -> bool:
        return any(task.waits(self.now) for task in self.judge.expected.values())

    # -- what happens --

    def tick(self, clock: datetime) -> None:
        """Let the clock function look once, and judge what it did."""
        self.counts.ticks += 1
        troubles = self.weather.troubles
        before, said = self.judge.before(clock), self.explained.before(clock)
        patience = self.random.randrange(4) if self.random.randrange(40) == 0 else 1_000_000
        asked = count()
        raised = self.tried(lambda: self.clock.look(clock, lambda: next(asked) < patience))
        calm = raised is None and troubles == self.weather.troubles and next(asked) < patience
        calm = calm and not self.weather.rages(Kind.FORBIDDEN)
        self.judge.compare(clock, before, calm=calm)
        self.explained.compare(said, calm=calm)
        if self.counts.ticks % 300 == 0:
            self.judge.audit(at_rest=False)

    def tried(self, action: Callable[[], Any]) -> BaseException | None:
        """Do something in a process that may fail or die; what it raised."""
        try:
            action()
        except (NightshiftError, Death) as failure:
            return failure
        return None

    def _signal(self, signal: dict[str, Any], tries: int = 3) -> None:
        """Deliver a signal, again a little later if the function fails, as its source does."""
        self.counts.signals += 1
        clock = self.a_clock()
        failure = self.tried(lambda: record(self._completion, signal, clock))
        self.judge.compare(clock)
        if failure is not None and tries > 1:
            self.at(self.now + MINUTE, lambda: self._signal(signal, tries - 1))

    def change_policy(self, **settings: Any) -> None:
        """Change the limits in force, as the operator does."""
        self.rows.set_policy(self._policy(**settings))

    def _policy(self, **settings: Any) -> Any:
        return builders.policy(**{"max_concurrent_runs": self.seats, **LIMITS, **settings})

    def _told(self, event: Event) -> None:
        self.counts.events[event.action] = self.counts.events.get(event.action, 0) + 1
