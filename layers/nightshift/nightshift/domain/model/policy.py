"""The operator's limits as one immutable value (SPEC section 9)."""

from dataclasses import dataclass, fields

from nightshift.domain.errors import InvalidRequest

DAY_SECONDS = 86_400
_RANGES: dict[str, tuple[int, int]] = {
    "max_concurrent_runs": (0, 5000),
    "max_concurrent_runs_per_user": (1, 5000),
    "launch_lease_seconds": (5, 3600),
    "launch_deadline_seconds": (1, DAY_SECONDS),
    "verify_after_seconds": (1, DAY_SECONDS),
    "worker_silence_seconds": (30, 3600),
    "min_once_delay_seconds": (1, DAY_SECONDS),
    "min_every_seconds": (1, DAY_SECONDS),
    "min_interval_seconds": (1, DAY_SECONDS),
    "default_timeout_seconds": (1, DAY_SECONDS),
    "max_timeout_seconds": (1, DAY_SECONDS),
    "max_pause_seconds": (0, DAY_SECONDS),
    "workflow_timeout_seconds": (1, 10**8),
    "max_tasks_per_user": (0, 1_000_000),
    "max_history_entries_per_task": (1, 1000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The limits in force; its defaults are loose, production's come from the composition root.

    Raises:
        InvalidRequest: a value lies outside its range, or two of them contradict each other.
    """

    max_concurrent_runs: int = 5000  # runs active at once; 0 starts nothing (P14)
    max_concurrent_runs_per_user: int = 5000  # of those, how many one user's may be
    launch_lease_seconds: int = 5  # how long an admission owns its launch before recovery may act
    launch_deadline_seconds: int = 315  # after it, Step Functions decides whether a launch happened
    verify_after_seconds: int = 1  # age at which an active run is compared with Step Functions
    worker_silence_seconds: int = 30  # how long a worker may say nothing about its run
    min_once_delay_seconds: int = 1  # how far ahead a `once` must lie when submitted (P10)
    min_every_seconds: int = 1  # shortest fixed interval
    min_interval_seconds: int = 1  # closest that two cron occurrences may come
    default_timeout_seconds: int = 900  # run time of a task that names none
    max_timeout_seconds: int = DAY_SECONDS  # longest run time a task may name
    max_pause_seconds: int = 0  # how long a running run may stand still in all; 0 allows no pause
    workflow_timeout_seconds: int = 10**8  # the deployed ceiling of a run with all its attempts
    max_tasks_per_user: int = 1_000_000  # tasks one user may have
    max_history_entries_per_task: int = 1000  # runs kept and shown per task (K10)
    allow_shell_actions: bool = True  # whether tasks may be command lines

    def __post_init__(self) -> None:
        for entry in fields(self):
            bounds = _RANGES.get(entry.name)
            value = getattr(self, entry.name)
            if bounds and not bounds[0] <= value <= bounds[1]:
                message = f"{entry.name} must be between {bounds[0]} and {bounds[1]}"
                raise InvalidRequest(message, field=entry.name)
        shortest_deadline = 3 * self.launch_lease_seconds + 300
        if self.launch_deadline_seconds < shortest_deadline:
            raise InvalidRequest(
                f"launch_deadline_seconds must be at least {shortest_deadline}:"
                " three leases and five minutes for clocks that differ",
                field="launch_deadline_seconds",
            )
        if self.default_timeout_seconds > self.max_timeout_seconds:
            raise InvalidRequest(
                "default_timeout_seconds must not exceed max_timeout_seconds",
                field="default_timeout_seconds",
            )
