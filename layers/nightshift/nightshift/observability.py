"""What operators see: every word of the logs, every metric, and which word moves which metric.

Logs carry one `action` word and ids, never prompts. Metrics go out as EMF lines of the log, so
that no call is made for them.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from nightshift.domain.exchanged import Event
from nightshift.domain.model.enums import Outcome

NAMESPACE = "Nightshift"
LONGEST_TRACE_HEADER = 256
TRACE_VARIABLE = "_X_AMZN_TRACE_ID"
"""Where Lambda tells each invocation its trace."""


class Action(StrEnum):
    """The words of the log; each line has exactly one."""

    LOOKED = "looked"  # the clock has looked at the slots and at the line of due tasks
    DISPATCH_LAUNCHED = "dispatch_launched"  # an occurrence was admitted and its launch asked for
    DISPATCH_SKIPPED = "dispatch_skipped"  # an occurrence became a tombstone
    DISPATCH_CONFLICT = "dispatch_conflict"  # somebody else was first, or no place was free
    DISPATCH_FAILED = "dispatch_failed"  # a launch was refused, or an error put the task off
    TASK_BLOCKED = "task_blocked"  # a task was taken out of the clock's reach until it is edited
    TASK_WOKEN = "task_woken"  # the pause of a task came to the end it was given
    TASK_REPLANNED = "task_replanned"  # newer zone rules moved the next time of a task
    REPLANNING_FAILED = "replanning_failed"  # newer zone rules met an error and are tried again
    SETTLING_FAILED = "settling_failed"  # a recovery, verification or cancellation met an error
    LAUNCH_UNKNOWN = "launch_unknown"  # a launch may or may not have happened
    LAUNCH_RECOVERED = "launch_recovered"  # an unsettled launch was taken over
    PAYLOAD_MISSING = "payload_missing"  # a prompt is gone that a launch still needs
    PREVIOUS_UNREADABLE = "previous_unreadable"  # a run is handed no result of the one before
    RUN_VERIFIED = "run_verified"  # Step Functions told an end that no signal had brought
    RUN_COMPLETED = "run_completed"  # the end of a run was recorded
    COMPLETION_REPEATED = "completion_repeated"  # it had been recorded before
    CANCEL_REQUESTED = "cancel_requested"  # a run is to be stopped
    STOP_UNANSWERED = "stop_unanswered"  # the stop is asked for again by the next tick
    RUN_TRIGGERED = "run_triggered"  # a person or program started a run
    POLICY_CHANGED = "policy_changed"  # an operator changed limits without a deploy
    CORRUPT_SLOT = "corrupt_slot"  # a slot cannot be read; its keys stay held
    CORRUPT_ROWS = "corrupt_rows"  # a list passed over rows that cannot be read
    SIGNAL_IGNORED = "signal_ignored"  # a signal that tells no end of a run
    NOTICE_DELIVERED = "notice_delivered"  # a receiver took a notice
    NOTICE_PUT_OFF = "notice_put_off"  # a receiver did not take a notice, and will get it again
    NOTICE_REFUSED = "notice_refused"  # a receiver wants no notices any more
    NOTICE_FAILED = "notice_failed"  # a notice met an error of ours, and is tried again
    NOTICE_GIVEN_UP = "notice_given_up"  # a notice was tried in vain for a day
    TICK_FINISHED = "tick_finished"  # a tick came to its end
    REQUEST_ANSWERED = "request_answered"  # an HTTP request was answered
    REQUEST_FAILED = "request_failed"  # an HTTP request met a fault of ours


class Metric(StrEnum):
    """The names of the metrics; each has the function's service as its only dimension."""

    TICKS = "Ticks"  # ticks that came to their end
    RUNS_LAUNCHED = "RunsLaunched"  # runs admitted whose execution was asked for
    RUNS_SKIPPED = "RunsSkipped"  # occurrences that became tombstones
    RUNS_COMPLETED = "RunsCompleted"  # runs that ended, however they did
    RUNS_FAILED = "RunsFailed"  # those of them that failed
    RUNS_INTERRUPTED = "RunsInterrupted"  # those of them that were cancelled or stopped
    DISPATCH_LAG_SECONDS = "DispatchLagSeconds"  # from the due time to the launch
    OLDEST_DUE_AGE_SECONDS = "OldestDueAgeSeconds"  # how long the longest waiting task has waited
    SEATS_IN_USE = "SeatsInUse"  # active runs, as the look found them
    SEATS = "Seats"  # how many may be active, by the policy in force
    BUDGET_FULL = "BudgetFull"  # 1 when no seat was free at a look, else 0
    OLDEST_RUN_AGE_SECONDS = "OldestRunAgeSeconds"  # since the longest active run was admitted
    RECOVERED_LAUNCHES = "RecoveredLaunches"  # unsettled launches taken over
    VERIFIED_RUNS = "VerifiedRuns"  # ends that no signal had brought
    CORRUPT_ROWS = "CorruptRows"  # rows that cannot be read, as often as they are met
    BLOCKED_TASKS = "BlockedTasks"  # tasks taken out of the clock's reach
    DISPATCH_ERRORS = "DispatchErrors"  # errors that concerned one task or run and stopped nobody
    NOTICES_DELIVERED = "NoticesDelivered"  # notices that receivers took
    NOTICES_PUT_OFF = "NoticesPutOff"  # notices that receivers did not take, as often as tried
    NOTICE_ERRORS = "NoticeErrors"  # errors of ours that put off a notice
    NOTICES_GIVEN_UP = "NoticesGivenUp"  # notices that a receiver did not take for a day
    API_FAULTS = "ApiFaults"  # HTTP requests that met a fault of ours

    @property
    def unit(self) -> MetricUnit:
        """Seconds for what its name says is seconds, else a count."""
        return MetricUnit.Seconds if self.value.endswith("Seconds") else MetricUnit.Count


_COUNTED: dict[str, Metric] = {
    Action.DISPATCH_LAUNCHED: Metric.RUNS_LAUNCHED,
    Action.RUN_TRIGGERED: Metric.RUNS_LAUNCHED,
    Action.DISPATCH_SKIPPED: Metric.RUNS_SKIPPED,
    Action.LAUNCH_RECOVERED: Metric.RECOVERED_LAUNCHES,
    Action.RUN_VERIFIED: Metric.VERIFIED_RUNS,
    Action.RUN_COMPLETED: Metric.RUNS_COMPLETED,
    Action.TASK_BLOCKED: Metric.BLOCKED_TASKS,
    Action.SETTLING_FAILED: Metric.DISPATCH_ERRORS,
    Action.REPLANNING_FAILED: Metric.DISPATCH_ERRORS,
    Action.CORRUPT_SLOT: Metric.CORRUPT_ROWS,
    Action.NOTICE_DELIVERED: Metric.NOTICES_DELIVERED,
    Action.NOTICE_PUT_OFF: Metric.NOTICES_PUT_OFF,
    Action.NOTICE_FAILED: Metric.NOTICE_ERRORS,
    Action.NOTICE_GIVEN_UP: Metric.NOTICES_GIVEN_UP,
    Action.TICK_FINISHED: Metric.TICKS,
    Action.REQUEST_FAILED: Metric.API_FAULTS,
}
_MEASURED: dict[tuple[str, str], Metric] = {
    (Action.DISPATCH_LAUNCHED, "lag_seconds"): Metric.DISPATCH_LAG_SECONDS,
    (Action.LOOKED, "oldest_due_seconds"): Metric.OLDEST_DUE_AGE_SECONDS,
    (Action.LOOKED, "seats_in_use"): Metric.SEATS_IN_USE,
    (Action.LOOKED, "seats"): Metric.SEATS,
    (Action.LOOKED, "budget_full"): Metric.BUDGET_FULL,
    (Action.LOOKED, "oldest_run_seconds"): Metric.OLDEST_RUN_AGE_SECONDS,
    (Action.TASK_BLOCKED, "corrupt_rows"): Metric.CORRUPT_ROWS,
    (Action.CORRUPT_ROWS, "rows"): Metric.CORRUPT_ROWS,
}
_ENDED: dict[object, Metric] = {
    Outcome.FAILED.value: Metric.RUNS_FAILED,
    Outcome.INTERRUPTED.value: Metric.RUNS_INTERRUPTED,
}
_LEVELS: dict[str, int] = {
    Action.LOOKED: logging.DEBUG,
    Action.TASK_BLOCKED: logging.WARNING,
    Action.LAUNCH_UNKNOWN: logging.WARNING,
    Action.PAYLOAD_MISSING: logging.WARNING,
    Action.STOP_UNANSWERED: logging.WARNING,
    Action.CORRUPT_SLOT: logging.ERROR,
    Action.CORRUPT_ROWS: logging.ERROR,
    Action.SIGNAL_IGNORED: logging.WARNING,
    Action.NOTICE_PUT_OFF: logging.WARNING,
    Action.NOTICE_GIVEN_UP: logging.ERROR,
}

logger = Logger(location=None, utc=True, use_rfc3339=True)
metrics = Metrics(namespace=NAMESPACE)
_one_at_a_time = threading.Lock()
_trace: dict[str, str | None] = {}


def observe(event: Event) -> None:
    """Tell the operator: one line of the log, and the metrics that its word moves.

    May be called from any thread, and never fails for a word it does not know: what was done is
    done, whatever the log makes of it.
    """
    with _one_at_a_time:
        for metric, value in measurements(event):
            metrics.add_metric(name=metric.value, unit=metric.unit, value=value)
    level = logging.ERROR if event.error else _LEVELS.get(event.action, logging.INFO)
    facts = {name: fact for name, fact in event.facts.items() if fact is not None}
    told = {logging.DEBUG: logger.debug, logging.INFO: logger.info, logging.WARNING: logger.warning}
    tell = told.get(level, logger.error)
    tell(event.action, extra={**facts, "action": event.action}, exc_info=event.error)


def measurements(event: Event) -> Iterator[tuple[Metric, float]]:
    """The metrics that an event moves, and by how much."""
    if event.action in _COUNTED:
        yield _COUNTED[event.action], 1
    if event.action == Action.DISPATCH_FAILED and event.error is not None:
        yield Metric.DISPATCH_ERRORS, 1
    if event.action == Action.RUN_COMPLETED and event.facts.get("outcome") in _ENDED:
        yield _ENDED[event.facts["outcome"]], 1
    for (word, fact), metric in _MEASURED.items():
        value = event.facts.get(fact)
        if word == event.action and isinstance(value, int | float):
            yield metric, value


def trace_header() -> str | None:
    """The trace of the invocation at hand, for whatever it starts; none outside of one.

    One that no service would accept is none: a run never fails for the sake of its trace.
    """
    header = _trace.get("header") or ""
    return header if header.isascii() and 0 < len(header) <= LONGEST_TRACE_HEADER else None


@contextmanager
def invocation(request_id: str, trace: str | None = None) -> Iterator[None]:
    """Mark every line of one invocation with its id, and send its metrics when it ends.

    Args:
        request_id: what marks the lines.
        trace: the header under which the invocation is traced, in all its threads.
    """
    logger.append_keys(request_id=request_id)
    _trace["header"] = trace
    try:
        yield
    finally:
        _trace.clear()
        with _one_at_a_time:
            if metrics.metric_set:
                metrics.flush_metrics()
