"""Retry inside a run: which failures earn another attempt, how many, and how long the waits are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.enums import FailureClass
from nightshift.domain.model.policy import Policy

MAX_ATTEMPTS = 10
MAX_BACKOFF_SECONDS = 86_400
MAX_BACKOFF_RATE = 10.0
DEFAULT_BACKOFF_SECONDS = 30
DEFAULT_BACKOFF_RATE = 2.0
DEFAULT_MAX_BACKOFF_SECONDS = 3600
GRACE_SECONDS = 120
"""What the workflow waits beyond queue time and run time, for the worker's own enforcement."""
_AROUND_THE_WORK_SECONDS = 300
_ALSO: dict[FailureClass, tuple[str, ...]] = {FailureClass.WORKER_LOST: ("worker_stopped",)}
"""What workers report besides the class's own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often a run may be attempted, after which failures, with which waits between (seconds).

    Raises:
        InvalidRequest: a value lies outside its range, or two of them contradict each other.
    """

    max_attempts: int
    backoff_seconds: int = DEFAULT_BACKOFF_SECONDS
    backoff_rate: float = DEFAULT_BACKOFF_RATE
    max_backoff_seconds: int = DEFAULT_MAX_BACKOFF_SECONDS
    on: tuple[FailureClass, ...] = tuple(FailureClass)

    def __post_init__(self) -> None:
        ranges = (
            ("max_attempts", self.max_attempts, 1, MAX_ATTEMPTS),
            ("backoff_seconds", self.backoff_seconds, 1, MAX_BACKOFF_SECONDS),
            ("backoff_rate", self.backoff_rate, 1, MAX_BACKOFF_RATE),
            ("max_backoff_seconds", self.max_backoff_seconds, 1, MAX_BACKOFF_SECONDS),
        )
        for name, value, least, most in ranges:
            if not least <= value <= most:
                raise InvalidRequest(f"{name} must be from {least} to {most:g}.", field="retry")
        if self.max_backoff_seconds < self.backoff_seconds:
            raise InvalidRequest(
                "retry.max_backoff_seconds must be at least retry.backoff_seconds.", field="retry"
            )
        if not self.on or len(set(self.on)) < len(self.on):
            raise InvalidRequest(
                "retry.on must name classes of failures, each once.", field="retry"
            )

    def waits(self) -> tuple[int, ...]:
        """The seconds between one attempt's end and the next one's beginning, in order."""
        growing = (self.backoff_seconds * self.backoff_rate**n for n in range(self.max_attempts))
        return tuple(min(self.max_backoff_seconds, round(wait)) for wait in growing)[:-1]

    def reasons(self) -> tuple[str, ...]:
        """The reasons, as workers and workflow spell them, that earn another attempt."""
        return tuple(reason for named in self.on for reason in (named.value, *_ALSO.get(named, ())))


def retry_to_dict(retry: Retry | None) -> dict[str, Any] | None:
    """The retry as plain JSON, as it is stored and shown."""
    if retry is None:
        return None
    return {
        "max_attempts": retry.max_attempts,
        "backoff_seconds": retry.backoff_seconds,
        "backoff_rate": retry.backoff_rate,
        "max_backoff_seconds": retry.max_backoff_seconds,
        "on": [named.value for named in retry.on],
    }


def retry_from_dict(stored: Mapping[str, Any] | None) -> Retry | None:
    """The retry of what `retry_to_dict` gave."""
    if stored is None:
        return None
    return Retry(**{**stored, "on": tuple(FailureClass(named) for named in stored["on"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """An attempt of a run that failed and was followed by another."""

    attempt: int
    reason: str
    exit_code: int | None
    finished_at: datetime


def attempt_seconds(timeout_seconds: int, silence_seconds: int, pause_seconds: int) -> int:
    """How long the workflow waits for one attempt: queue, work, pauses, and the report."""
    return timeout_seconds + silence_seconds + pause_seconds + GRACE_SECONDS


def ensure_fits(retry: Retry | None, timeout_seconds: int, policy: Policy) -> None:
    """Refuse attempts that the deployed workflow would not live to see the end of.

    A single attempt always fits; a deployment is checked for that at its start.

    Raises:
        InvalidRequest: attempts and waits together exceed the ceiling; the numbers are named.
    """
    if retry is None or retry.max_attempts == 1:
        return
    attempts = retry.max_attempts * attempt_seconds(
        timeout_seconds, policy.worker_silence_seconds, policy.max_pause_seconds
    )
    needed = attempts + sum(retry.waits()) + _AROUND_THE_WORK_SECONDS
    if needed > policy.workflow_timeout_seconds:
        raise InvalidRequest(
            f"{retry.max_attempts} attempts of up to {timeout_seconds} s and the waits between them"
            f" may take {needed} s; a run may take {policy.workflow_timeout_seconds} s in all.",
            field="retry",
        )
