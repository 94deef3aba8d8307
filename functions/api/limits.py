"""The limits in force as people see them."""

from dataclasses import asdict

from api.query import DEFAULT_LIMIT, MAX_LIMIT
from api.wire import MAX_LABELS, MAX_TITLE_CHARACTERS, Wire
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.zones import tzdata_version
from nightshift.domain.services.definition import MAX_PAYLOAD_BYTES


class PolicyResponse(Wire):
    """The limits in force: the operator's, and those of the API itself."""

    max_concurrent_runs: int
    launch_lease_seconds: int
    launch_deadline_seconds: int
    verify_after_seconds: int
    worker_silence_seconds: int
    min_once_delay_seconds: int
    min_every_seconds: int
    min_interval_seconds: int
    default_timeout_seconds: int
    max_timeout_seconds: int
    max_tasks_per_user: int
    max_history_entries_per_task: int
    allow_shell_actions: bool
    max_payload_bytes: int
    max_title_characters: int
    max_labels: int
    default_page_size: int
    max_page_size: int
    tzdata_version: str

    @classmethod
    def from_domain(cls, policy: Policy) -> "PolicyResponse":
        """The policy, and what no policy changes."""
        return cls(
            **asdict(policy),
            max_payload_bytes=MAX_PAYLOAD_BYTES,
            max_title_characters=MAX_TITLE_CHARACTERS,
            max_labels=MAX_LABELS,
            default_page_size=DEFAULT_LIMIT,
            max_page_size=MAX_LIMIT,
            tzdata_version=tzdata_version(),
        )
