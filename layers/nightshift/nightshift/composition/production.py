"""The limits of a deployment that sets none."""

from typing import Final

from nightshift.domain.model.policy import Policy

PRODUCTION_POLICY: Final = Policy(
    max_concurrent_runs=10,
    max_concurrent_runs_per_user=5000,
    launch_lease_seconds=120,
    launch_deadline_seconds=900,
    verify_after_seconds=300,
    worker_silence_seconds=300,
    min_once_delay_seconds=60,
    min_every_seconds=300,
    min_interval_seconds=60,
    default_timeout_seconds=900,
    max_timeout_seconds=3600,
    max_pause_seconds=3600,
    workflow_timeout_seconds=86_400,
    max_tasks_per_user=1000,
    max_history_entries_per_task=50,
    allow_shell_actions=False,
)
"""The limits of a deployment that sets none (SPEC section 9); the domain's own are loose."""
