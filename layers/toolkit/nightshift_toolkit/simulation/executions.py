"""Executions that take as long as they are told, by the virtual clock."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightshift.domain.exchanged import Execution, LaunchAnswer, LaunchResult
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.slot import LaunchOrder

_REASONS = {Outcome.FAILED: "timeout", Outcome.INTERRUPTED: "cancelled"}


@dataclass
class TimedExecutions:
    """A `Launcher` and an `Inspector`: each execution runs its time and then ends.

    `now` is moved by the simulation; `started` holds the runs launched since it was last emptied,
    with their nonces.
    """

    run_seconds: float
    now: datetime
    started: list[tuple[str, str]] = field(default_factory=list)
    _ends: list[tuple[datetime, str, Outcome]] = field(default_factory=list)
    _running: set[str] = field(default_factory=set)

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """See `Launcher.launch`."""
        slot = order.slot
        if slot.run_id not in self._running:
            in_time = self.run_seconds <= slot.timeout_seconds
            seconds = self.run_seconds if in_time else slot.timeout_seconds
            outcome = Outcome.SUCCESS if in_time else Outcome.FAILED
            end = self.now + timedelta(seconds=seconds)
            heapq.heappush(self._ends, (end, slot.run_id, outcome))
            self._running.add(slot.run_id)
            self.started.append((slot.run_id, slot.nonce))
        return LaunchResult(LaunchAnswer.LAUNCHED)

    def ended_by(self, instant: datetime) -> Iterator[RunOutcome]:
        """The news of every end up to an instant, in order; each is told once."""
        while self._ends and self._ends[0][0] <= instant:
            end, run_id, outcome = heapq.heappop(self._ends)
            if run_id in self._running:
                self._running.remove(run_id)
                reason = _REASONS.get(outcome)
                yield RunOutcome(run_id=run_id, outcome=outcome, finished_at=end, reason=reason)

    def stop(self, run_id: str) -> None:
        """See `Launcher.stop`; the news comes with the next that are told."""
        if run_id in self._running:
            heapq.heappush(self._ends, (self.now, run_id, Outcome.INTERRUPTED))

    def execution_arn(self, run_id: str) -> str:
        """See `Launcher.execution_arn`."""
        return f"simulated:{run_id}"

    def running(self) -> frozenset[str]:
        """See `Inspector.running`."""
        return frozenset(self._running)

    def describe(self, run_id: str, now: datetime) -> Execution | None:  # noqa: ARG002
        """See `Inspector.describe`; what has ended here has been told already."""
        return Execution() if run_id in self._running else None
