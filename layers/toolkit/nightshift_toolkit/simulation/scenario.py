"""What is simulated: from when to when, under which budget, and when the clock stands still."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nightshift.composition.production import PRODUCTION_POLICY
from nightshift.domain.model.policy import Policy


@dataclass(frozen=True, slots=True)
class Outage:
    """A span without any tick; runs that are active in it end as ever (UTC, end excluded)."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The days ahead, as they are to be.

    Args:
        start: the first tick (UTC); every task is submitted just then.
        days: how long it lasts, in days.
        outages: when the clock is down.
        max_concurrent_runs: the budget (P14).
        run_seconds: how long each run takes; one that its task does not give so long times out.
        tick_seconds: from one tick to the next.
    """

    start: datetime
    days: float = 7
    outages: Sequence[Outage] = ()
    max_concurrent_runs: int = PRODUCTION_POLICY.max_concurrent_runs
    run_seconds: float = 60
    tick_seconds: int = 60

    @property
    def end(self) -> datetime:
        """The instant of the last tick, if one falls on it (UTC)."""
        return self.start + timedelta(days=self.days)

    @property
    def policy(self) -> Policy:
        """Production's limits with this budget; shell actions do not run here, so they may."""
        return replace(
            PRODUCTION_POLICY,
            max_concurrent_runs=self.max_concurrent_runs,
            max_tasks_per_user=1_000_000,
            allow_shell_actions=True,
        )

    def first_tick_from(self, instant: datetime) -> datetime:
        """The first tick at or after an instant."""
        step = timedelta(seconds=self.tick_seconds)
        return self.start + max(0, -((self.start - instant) // step)) * step

    def is_down(self, tick: datetime) -> bool:
        """Whether this tick falls into an outage."""
        return any(outage.start <= tick < outage.end for outage in self.outages)
