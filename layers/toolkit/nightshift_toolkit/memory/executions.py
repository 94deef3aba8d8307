"""A Step Functions that does as it is told: executions by name, and scripted answers."""

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.exchanged import Execution, LaunchAnswer, LaunchResult
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.slot import LaunchOrder


@dataclass
class ScriptedExecutions:
    """The executions that exist, by run id, and what the next launches are to be answered.

    `orders` holds every order that was sent, `stops` every run id whose stop was asked for.
    """

    orders: list[LaunchOrder] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    ignores_stops: bool = False
    _stop_failure: Exception | None = None
    _known: dict[str, RunOutcome | None] = field(default_factory=dict)
    _unlisted: set[str] = field(default_factory=set)
    _answers: deque[tuple[LaunchResult | LaunchImpossible, bool]] = field(default_factory=deque)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    # -- the script --

    def refuse_next(self, reason: str = "the input is not acceptable") -> None:
        """Answer the next launch with a refusal; no execution comes into being."""
        self._script(LaunchResult(LaunchAnswer.REFUSED, reason), starts=False)

    def lose_next(self, *, starts: bool, reason: str = "the request timed out") -> None:
        """Answer the next launch with "unknown", whether or not the execution starts."""
        self._script(LaunchResult(LaunchAnswer.UNKNOWN, reason), starts=starts)

    def forbid_next(self) -> None:
        """Let the next launch find that nothing can be started at all."""
        self._script(LaunchImpossible(), starts=False)

    def _script(self, answer: LaunchResult | LaunchImpossible, *, starts: bool) -> None:
        with self._lock:
            self._answers.append((answer, starts))

    def end(
        self,
        run_id: str,
        outcome: Outcome,
        at: datetime,
        *,
        reason: str | None = None,
        error: str | None = None,
    ) -> RunOutcome:
        """End the execution, and return the news of it."""
        news = RunOutcome(
            run_id=run_id, outcome=outcome, finished_at=at, reason=reason, error=error
        )
        with self._lock:
            self._known[run_id] = news
        return news

    def deafen_stops(self, failure: Exception) -> None:
        """Let every stop fail so; the executions go on."""
        self._stop_failure = failure

    def forget(self, run_id: str) -> None:
        """Let the execution be unknown, as if it had never been or was long ago."""
        with self._lock:
            del self._known[run_id]

    def leave_out_of_the_list(self, run_id: str) -> None:
        """Let the list of running executions not name this one, though it runs."""
        with self._lock:
            self._unlisted.add(run_id)

    # -- what is there --

    @property
    def launched(self) -> list[str]:
        """The run ids of all executions that ever started, in order."""
        with self._lock:
            return list(self._known)

    @property
    def running(self) -> set[str]:
        """The run ids of the executions that run."""
        with self._lock:
            return {run_id for run_id, news in self._known.items() if news is None}

    # -- what the ports do --

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """Start the execution, unless there is one under its name, and answer as scripted."""
        with self._lock:
            self.orders.append(order)
            answer: LaunchResult | LaunchImpossible = LaunchResult(LaunchAnswer.LAUNCHED)
            starts = True
            if self._answers:
                answer, starts = self._answers.popleft()
            if starts:
                self._known.setdefault(order.run_id, None)
        if isinstance(answer, LaunchImpossible):
            raise answer
        return answer

    def stop(self, run_id: str, at: datetime) -> None:
        """Stop the execution if it runs and stops are not ignored."""
        with self._lock:
            self.stops.append(run_id)
            if self._stop_failure is not None:
                raise self._stop_failure
            if run_id in self.running and not self.ignores_stops:
                self.end(run_id, Outcome.INTERRUPTED, at, reason="cancelled")

    def listed(self) -> frozenset[str]:
        """The running executions that the list names."""
        with self._lock:
            return frozenset(self.running - self._unlisted)

    def look_up(self, run_id: str) -> Execution | None:
        """What is known of one execution."""
        with self._lock:
            if run_id not in self._known:
                return None
            return Execution(self._known[run_id])


class ScriptedLauncher:
    """A `Launcher` of scripted executions; those it stops end at `stopped_at`."""

    def __init__(self, executions: ScriptedExecutions, stopped_at: datetime) -> None:
        self._executions = executions
        self._stopped_at = stopped_at

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """See `Launcher.launch`."""
        return self._executions.launch(order)

    def stop(self, run_id: str) -> None:
        """See `Launcher.stop`."""
        self._executions.stop(run_id, self._stopped_at)

    def execution_arn(self, run_id: str) -> str:
        """See `Launcher.execution_arn`."""
        return f"arn:aws:states:us-east-1:000000000000:execution:nightshift:{run_id}"


class ScriptedInspector:
    """An `Inspector` of scripted executions."""

    def __init__(self, executions: ScriptedExecutions) -> None:
        self._executions = executions
        self._also_listed: set[str] = set()
        self._failure: Exception | None = None

    def list_as_running(self, run_id: str) -> None:
        """Let the list name an execution, as a page that is a moment old does."""
        self._also_listed.add(run_id)

    def stay_silent(self, failure: Exception) -> None:
        """Let every question fail so."""
        self._failure = failure

    def running(self) -> frozenset[str]:
        """See `Inspector.running`."""
        if self._failure is not None:
            raise self._failure
        return self._executions.listed() | self._also_listed

    def describe(self, run_id: str, now: datetime) -> Execution | None:  # noqa: ARG002
        """See `Inspector.describe`."""
        if self._failure is not None:
            raise self._failure
        return self._executions.look_up(run_id)
