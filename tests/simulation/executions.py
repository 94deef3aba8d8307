"""Step Functions in true time: executions start, cross the fence, work, are reported and end."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from explorer.ports import CALLS, about_run
from explorer.stage import Fate
from nightshift.domain.errors import ExecutionsUnavailable, LaunchImpossible
from nightshift.domain.exchanged import Execution, LaunchAnswer, LaunchResult
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.outcome import outcome_of_execution
from nightshift.domain.model.retry import FailedAttempt
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import LaunchOrder
from nightshift_toolkit.memory.work import MemoryWork
from simulation.weather import Kind, Weather
from simulation.work import SECOND, At, Made, Workers

PassFence = Callable[[str, str, datetime], bool]
Signal = Callable[[dict[str, Any]], None]


class Executions:
    """A `Launcher` and an `Inspector` over executions that take their time.

    `refused` names the tasks whose input is never acceptable.
    """

    def __init__(
        self,
        random: Random,
        weather: Weather,
        at: At,
        pass_fence: PassFence,
        work: MemoryWork,
        signal: Signal,
    ) -> None:
        self.made: dict[str, Made] = {}
        self.refused: set[str] = set()
        self._running: set[str] = set()
        self._random = random
        self._weather = weather
        self._at = at
        self._pass_fence = pass_fence
        self._work = work
        self._signal = signal
        self.workers = Workers(random, weather, at, work, self._attempted)

    @property
    def now(self) -> datetime:
        """True time."""
        return self._weather.now

    # -- Launcher and Inspector --

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """See `Launcher.launch`."""
        fate = self._weather.reach(about_run("cloud.launch", order.run_id))
        if self._weather.rages(Kind.FORBIDDEN):
            raise LaunchImpossible
        if fate is Fate.UNREACHED:
            if self._random.random() < 0.5:
                late = timedelta(seconds=self._random.choice((1, 30, 200, 1000, 4000)))
                self._at(self.now + late, partial(self._start, order))
            return LaunchResult(LaunchAnswer.UNKNOWN, "the request timed out")
        if order.slot.task_id in self.refused:
            return LaunchResult(LaunchAnswer.REFUSED, "the input is not acceptable")
        self._start(order)
        if fate is Fate.UNHEARD:
            return LaunchResult(LaunchAnswer.UNKNOWN, "the request timed out")
        return LaunchResult(LaunchAnswer.LAUNCHED)

    def stop(self, run_id: str) -> None:
        """See `Launcher.stop`."""
        fate = self._weather.reach(about_run("cloud.stop", run_id))
        made = self.made.get(run_id)
        if made is not None and fate is not Fate.UNREACHED:
            self._end(made, "ABORTED", "Cancelled")
        if fate is not Fate.DONE:
            raise ExecutionsUnavailable

    def execution_arn(self, run_id: str) -> str:
        """See `Launcher.execution_arn`."""
        return f"arn:aws:states:us-east-1:000000000000:execution:nightshift:{run_id}"

    def running(self) -> frozenset[str]:
        """See `Inspector.running`."""
        if self._weather.reach(CALLS["cloud.running"]) is not Fate.DONE:
            raise ExecutionsUnavailable
        return frozenset(self._running)

    def describe(self, run_id: str, now: datetime) -> Execution | None:
        """See `Inspector.describe`."""
        if self._weather.reach(about_run("cloud.describe", run_id)) is not Fate.DONE:
            raise ExecutionsUnavailable
        made = self.made.get(run_id)
        if made is None:
            return None
        return Execution(
            outcome_of_execution(
                run_id,
                made.status,
                output=self._output(made) if made.status == "SUCCEEDED" else None,
                error=made.error,
                cause=json.dumps(made.report) if made.status == "FAILED" and made.report else None,
                finished_at=made.ended or now,
            )
        )

    # -- what happens in time --

    def _start(self, order: LaunchOrder) -> None:
        if order.run_id in self.made or order.slot.task_id in self.refused:
            return
        slot = order.slot
        made = Made(order.run_id, slot.nonce, slot.timeout_seconds, slot.retry)
        self.made[order.run_id] = made
        self._running.add(order.run_id)
        self._at(self.now + self._random.uniform(0.1, 4) * SECOND, partial(self._cross, made))

    def _cross(self, made: Made) -> None:
        if made.over:
            return
        if not self._pass_fence(made.run_id, made.nonce, self.now):
            self._end(made, "FAILED", "Fenced")
            return
        self.workers.send(made)

    def _attempted(self, made: Made, reason: str | None) -> None:
        """Let another attempt follow one that failed, or the run end with it."""
        if reason is not None and self._is_followed(made, reason):
            wait = made.retry.waits()[made.attempt - 2] if made.retry else 0
            self._at(self.now + wait * SECOND, partial(self.workers.send, made))
        elif reason == "worker_lost":
            self._end(made, "FAILED", "States.HeartbeatTimeout")
        else:
            self._report(made, failed=reason is not None)

    def _is_followed(self, made: Made, reason: str) -> bool:
        if made.retry is None or made.attempt >= made.retry.max_attempts:
            return False
        if reason not in made.retry.reasons() or self._weather.rages(Kind.TABLE_OUT):
            return False
        code = 1 if reason == "nonzero_exit" else None
        failed = FailedAttempt(
            attempt=made.attempt, reason=reason, exit_code=code, finished_at=self.now
        )
        if not self._work.record_attempt(made.run_id, made.nonce, failed):
            return False
        made.failed.append(failed)
        made.attempt += 1
        made.ends = made.paused_since = None
        return True

    def _report(self, made: Made, *, failed: bool) -> None:
        """Let the worker report, the record step call, and the workflow end as it was told."""
        if made.over:
            return
        made.report = {"outcome": "success", "reason": None, "error": None}
        if failed:
            made.report = {"outcome": "failed", "reason": "nonzero_exit", "error": "exit code 1"}
        record = {
            "source": "nightshift.workflow",
            "run_id": made.run_id,
            "task_id": task_id_of(made.run_id),
            "attempt": 1,
            "report": made.report,
            "caught": None,
        }
        self._deliver(record)
        if failed:
            self._end(made, "FAILED", "nonzero_exit")
        else:
            self._end(made, "SUCCEEDED", None)

    def _end(self, made: Made, status: str, error: str | None) -> None:
        if made.over:
            return
        made.status, made.error, made.ended = status, error, self.now
        self._running.discard(made.run_id)
        if status != "SUCCEEDED":
            self._deliver(self._status_change(made))

    def _deliver(self, signal: dict[str, Any]) -> None:
        """At once, or twice, or late and behind others, or never."""
        chance = self._random.random()
        delays = [0.0]
        if chance < 0.05:
            delays = []
        elif chance < 0.12:
            delays = [0.0, self._random.uniform(0, 90)]
        elif chance < 0.18:
            delays = [self._random.choice((20, 400, 5000, 90_000))]
        for delay in delays:
            self._at(self.now + delay * SECOND, partial(self._signal, signal))

    def _status_change(self, made: Made) -> dict[str, Any]:
        assert made.ended is not None
        return {
            "source": "aws.states",
            "detail-type": "Step Functions Execution Status Change",
            "detail": {
                "name": made.run_id,
                "status": made.status,
                "error": made.error,
                "cause": json.dumps(made.report) if made.report else None,
                "stopDate": (made.ended - EPOCH) // timedelta(milliseconds=1),
            },
        }

    def _output(self, made: Made) -> str:
        return json.dumps({"run_id": made.run_id, "report": made.report})
