"""Step Functions as a set of actors: each execution crosses the fence, works, records and ends.

An execution is known by its name. Work is counted by run, since that is what must not happen twice.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from explorer.ports import CALLS, about_run
from explorer.stage import Call, Death, Fate, Stage
from nightshift.domain.errors import ExecutionsUnavailable, LaunchImpossible, NightshiftError
from nightshift.domain.exchanged import Execution, LaunchAnswer, LaunchResult
from nightshift.domain.model.outcome import (
    outcome_of_error,
    outcome_of_execution,
    outcome_of_report,
)
from nightshift.domain.model.previous import Previous
from nightshift.domain.model.retry import FailedAttempt
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import LaunchOrder
from nightshift_toolkit.memory.work import MemoryWork

PassFence = Callable[[str, str, datetime], bool]
"""The workflow's first state, for a run and a nonce; whether it passed."""
Record = Callable[[RunOutcome], object]


@dataclass
class Made:
    """An execution that exists."""

    name: str
    run_id: str
    nonce: str
    allowed: int = 1
    previous: Previous | None = None
    attempt: int = 1
    status: str = "RUNNING"
    error: str | None = None
    working: bool = False
    reported: bool = False

    @property
    def over(self) -> bool:
        """Whether Step Functions says that it has ended."""
        return self.status != "RUNNING"


@dataclass
class Script:
    """What this Step Functions does apart from the ordinary.

    `failing` and `refused` name tasks, `fails_first` how many attempts of a task fail, and `lost`
    the tasks whose failures are silences. `picked_up` are tasks whose workers pick up. `records`
    says how often the record step calls, each time with the same report, `events` how often a
    status change is delivered.
    """

    failing: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    fails_first: Mapping[str, int] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    picked_up: frozenset[str] = frozenset()
    forbidden: bool = False
    records: int = 1
    events: int = 1


class Cloud:
    """A `Launcher` and an `Inspector`, and the executions behind them."""

    def __init__(
        self,
        stage: Stage,
        now: Callable[[], datetime],
        pass_fence: PassFence,
        work: MemoryWork,
    ) -> None:
        self.made: dict[str, Made] = {}
        self.works: Counter[str] = Counter()
        self.script = Script()
        self.record: Record = lambda _outcome: None
        self._stage = stage
        self._now = now
        self._pass_fence = pass_fence
        self._work = work
        self._sent: Counter[tuple[str, int]] = Counter()
        self._tries: Counter[str] = Counter()

    # -- Launcher --

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """See `Launcher.launch`; a request that seems lost may also arrive much later."""
        fate = self._stage.reach(about_run("cloud.launch", order.run_id))
        if self.script.forbidden:
            raise LaunchImpossible
        if order.slot.task_id in self.script.refused:
            return LaunchResult(LaunchAnswer.REFUSED, "the input is not acceptable")
        if fate is Fate.UNREACHED:
            late = f"late start of {order.run_id} after {self._launches(order)}"
            self._stage.cast(late, lambda: self._start_late(order))
            return LaunchResult(LaunchAnswer.UNKNOWN, "the request timed out")
        self._start(order)
        if fate is Fate.DIES_AFTER:
            raise Death
        if fate is Fate.UNHEARD:
            return LaunchResult(LaunchAnswer.UNKNOWN, "the request timed out")
        return LaunchResult(LaunchAnswer.LAUNCHED)

    def stop(self, run_id: str) -> None:
        """See `Launcher.stop`."""
        fate = self._stage.reach(about_run("cloud.stop", run_id))
        made = self.made.get(run_id)
        if made is not None and not made.over and fate is not Fate.UNREACHED:
            self._end(made, "ABORTED", "Cancelled")
        if fate is Fate.DIES_AFTER:
            raise Death
        if fate is not Fate.DONE:
            raise ExecutionsUnavailable

    def execution_arn(self, run_id: str) -> str:
        """See `Launcher.execution_arn`."""
        return f"arn:aws:states:us-east-1:000000000000:execution:nightshift:{run_id}"

    # -- Inspector --

    def running(self) -> frozenset[str]:
        """See `Inspector.running`."""
        self._asked(CALLS["cloud.running"])
        return frozenset(name for name, made in self.made.items() if not made.over)

    def describe(self, run_id: str, now: datetime) -> Execution | None:
        """See `Inspector.describe`."""
        self._asked(about_run("cloud.describe", run_id))
        made = self.made.get(run_id)
        return None if made is None else Execution(self._said(made, now))

    def _asked(self, call: Call) -> None:
        fate = self._stage.reach(call)
        if fate is Fate.DIES_AFTER:
            raise Death
        if fate is not Fate.DONE:
            raise ExecutionsUnavailable

    # -- the executions --

    def name_of(self, order: LaunchOrder) -> str:
        """The name that an execution is started under."""
        return order.run_id

    def _launches(self, order: LaunchOrder) -> int:
        self._tries[order.run_id] += 1
        return self._tries[order.run_id]

    def _start_late(self, order: LaunchOrder) -> None:
        self._stage.reach(about_run("cloud.start", order.run_id))
        self._start(order)

    def _start(self, order: LaunchOrder) -> None:
        name = self.name_of(order)
        if name not in self.made:
            allowed = order.slot.retry.max_attempts if order.slot.retry else 1
            handed = None if order.previous is None else Previous(order.previous.run_id)
            made = self.made[name] = Made(name, order.run_id, order.slot.nonce, allowed, handed)
            self._stage.cast(f"execution {name}", lambda: self._live(made))

    def _live(self, made: Made) -> None:
        """Cross the fence or end; work; record; end, unless it is stopped meanwhile."""
        self._stage.reach(about_run("execution.fence", made.run_id))
        if made.over:
            return
        if not self._pass_fence(made.run_id, made.nonce, self._now()):
            self._end(made, "FAILED", "Fenced")
            return
        self._attempt(made)
        while not made.over and self.fails(made) and self._is_followed(made):
            self._stage.reach(about_run("execution.wait", made.run_id))
            self._attempt(made)
        if made.over:
            return
        self._record_step(made)
        self._stage.reach(about_run("execution.end", made.run_id))
        if not made.over:
            failed = self.fails(made)
            self._end(made, "FAILED" if failed else "SUCCEEDED", self._error(made))

    def _attempt(self, made: Made) -> None:
        """Let a worker have an attempt, and do it."""
        if not made.over and task_id_of(made.run_id) in self.script.picked_up:
            self._stage.reach(about_run("execution.pick_up", made.run_id))
            if not made.over:
                self._work.win(made.run_id, made.nonce, made.attempt)
        if made.over:
            return
        made.working = True
        self._sent[made.run_id, made.attempt] += 1
        self.works[made.run_id] = max(
            self.works[made.run_id], self._sent[made.run_id, made.attempt]
        )
        self._stage.reach(about_run("execution.work", made.run_id))
        made.working = False

    def _is_followed(self, made: Made) -> bool:
        """Record that an attempt failed, if another may follow it."""
        if made.attempt >= made.allowed:
            return False
        self._stage.reach(about_run("execution.record", made.run_id))
        if made.over:
            return False
        reason, at = self._report(made)["reason"], self._now()
        failed = FailedAttempt(
            attempt=made.attempt, reason=str(reason), exit_code=None, finished_at=at
        )
        recorded = self._work.record_attempt(made.run_id, made.nonce, failed)
        made.attempt += recorded
        return recorded

    def _record_step(self, made: Made) -> None:
        """Call the completion function, and again if it fails; the workflow outlives it."""
        report, now = self._report(made), self._now()
        outcome = outcome_of_report(made.run_id, report, finished_at=now)
        if report["reason"] == "worker_lost":
            outcome = outcome_of_error(made.run_id, self._error(made), None, finished_at=now)
        made.reported = self.script.records > 0
        for number in range(1, self.script.records):
            again = f"record {number + 1} of {made.name}"
            self._stage.cast(again, lambda: self.record(outcome))
        for _ in range(2 * min(self.script.records, 1)):
            with suppress(Death, NightshiftError):
                self.record(outcome)
                return

    def _end(self, made: Made, status: str, error: str | None) -> None:
        made.status, made.error, made.working = status, error, False
        if status == "SUCCEEDED":
            return
        for number in range(self.script.events):
            self._stage.cast(f"event {number + 1} of {made.name}", partial(self._tell, made))

    def _tell(self, made: Made) -> None:
        """Deliver a status change."""
        outcome = self._said(made, self._now())
        if outcome is not None:
            self.record(outcome)

    def fails(self, made: Made) -> bool:
        """Whether the present attempt does."""
        task_id = task_id_of(made.run_id)
        first = self.script.fails_first.get(task_id, 0)
        return task_id in self.script.failing or made.attempt <= first

    def _error(self, made: Made) -> str | None:
        if not self.fails(made):
            return None
        lost = task_id_of(made.run_id) in self.script.lost
        return "States.HeartbeatTimeout" if lost else "nonzero_exit"

    def _report(self, made: Made) -> dict[str, object]:
        if not self.fails(made):
            return {"outcome": "success", "reason": None, "error": None}
        lost = task_id_of(made.run_id) in self.script.lost
        reason = "worker_lost" if lost else "nonzero_exit"
        return {"outcome": "failed", "reason": reason, "error": "exit code 1"}

    def _said(self, made: Made, now: datetime) -> RunOutcome | None:
        report = self._report(made)
        output = json.dumps({"run_id": made.run_id, "report": report})
        return outcome_of_execution(
            made.run_id,
            made.status,
            output=output if made.status == "SUCCEEDED" else None,
            error=made.error,
            cause=json.dumps(report) if made.error == "nonzero_exit" else None,
            finished_at=now,
        )
