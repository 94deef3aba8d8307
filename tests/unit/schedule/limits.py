"""Limits of schedules for tests; loose unless a test says otherwise."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Satisfies `ScheduleLimits`."""

    min_once_delay_seconds: int = 1
    min_every_seconds: int = 1
    min_interval_seconds: int = 1
