"""The limits in force as people see them."""

from dataclasses import asdict, dataclass
from typing import Annotated, Final

from pydantic import Field

from api.conditional import MAX_KEY_CHARACTERS
from api.json_text import MAX_BODY_BYTES
from api.query import DEFAULT_LIMIT, MAX_LIMIT
from api.wire import (
    MAX_ASSISTANT_ID_CHARACTERS,
    MAX_JITTER_SECONDS,
    MAX_LABEL_KEY_CHARACTERS,
    MAX_LABEL_VALUE_CHARACTERS,
    MAX_LABELS,
    MAX_LATENESS_SECONDS,
    MAX_REASON_CHARACTERS,
    MAX_RUNS,
    MAX_TITLE_CHARACTERS,
    Reason,
    Wire,
    absent,
)
from nightshift.domain.commands import ChangePolicy
from nightshift.domain.model.idempotency import KEY_LIFETIME
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.schedule_input import MAX_EXPRESSIONS
from nightshift.domain.model.zones import tzdata_version
from nightshift.domain.services.definition import MAX_PAYLOAD_BYTES


@dataclass(frozen=True, slots=True)
class Throttle:
    """What API Gateway lets through, of all users together; None where nobody has said."""

    requests_per_second: int | None = None
    requests_at_once: int | None = None


UNKNOWN: Final = Throttle()


class ChangePolicyRequest(Wire):
    """The limits to change, and why; null goes back to the deployed value."""

    max_concurrent_runs: Annotated[int, Field(ge=0, le=5000)] | None = absent()
    max_concurrent_runs_per_user: Annotated[int, Field(ge=1, le=5000)] | None = absent()
    reason: Reason | None = None

    def to_command(self, user_id: str) -> ChangePolicy:
        """The command of the operator who asks."""
        settings = {name: getattr(self, name) for name in self.model_fields_set - {"reason"}}
        return ChangePolicy(changed_by=user_id, settings=settings, reason=self.reason)


class OverrideResponse(Wire):
    """What an operator set instead of the deployed limits, and who did so last, when and why."""

    settings: dict[str, int | bool]
    changed_by: str | None
    changed_at: str | None
    reason: str | None

    @classmethod
    def from_domain(cls, override: Override) -> "OverrideResponse":
        """The override as people see it."""
        at = override.changed_at
        return cls(
            settings=dict(override.settings),
            changed_by=override.changed_by,
            changed_at=None if at is None else format_instant(at),
            reason=override.reason,
        )


class PolicyChangePage(Wire):
    """What operators made of the limits over time, newest first, and the cursor of the rest."""

    items: list[OverrideResponse]
    next_cursor: str | None


class PolicyResponse(Wire):
    """The limits in force: the operator's, the gateway's, and those of the API itself."""

    max_concurrent_runs: int
    max_concurrent_runs_per_user: int
    launch_lease_seconds: int
    launch_deadline_seconds: int
    verify_after_seconds: int
    worker_silence_seconds: int
    min_once_delay_seconds: int
    min_every_seconds: int
    min_interval_seconds: int
    default_timeout_seconds: int
    max_timeout_seconds: int
    max_pause_seconds: int
    workflow_timeout_seconds: int
    max_tasks_per_user: int
    max_history_entries_per_task: int
    allow_shell_actions: bool
    max_payload_bytes: int
    max_body_bytes: int
    max_title_characters: int
    max_reason_characters: int
    max_assistant_id_characters: int
    max_labels: int
    max_label_key_characters: int
    max_label_value_characters: int
    max_jitter_seconds: int
    max_lateness_seconds: int
    max_runs: int
    max_cron_expressions: int
    max_idempotency_key_characters: int
    idempotency_key_lifetime_seconds: int
    requests_per_second: int | None
    requests_at_once: int | None
    default_page_size: int
    max_page_size: int
    tzdata_version: str
    override: OverrideResponse | None

    @classmethod
    def from_domain(cls, in_force: PolicyInForce, throttle: Throttle) -> "PolicyResponse":
        """The policy, the gateway's throttle, and what neither changes."""
        override = in_force.override
        return cls(
            **asdict(in_force.policy),
            max_payload_bytes=MAX_PAYLOAD_BYTES,
            max_body_bytes=MAX_BODY_BYTES,
            max_title_characters=MAX_TITLE_CHARACTERS,
            max_reason_characters=MAX_REASON_CHARACTERS,
            max_assistant_id_characters=MAX_ASSISTANT_ID_CHARACTERS,
            max_labels=MAX_LABELS,
            max_label_key_characters=MAX_LABEL_KEY_CHARACTERS,
            max_label_value_characters=MAX_LABEL_VALUE_CHARACTERS,
            max_jitter_seconds=MAX_JITTER_SECONDS,
            max_lateness_seconds=MAX_LATENESS_SECONDS,
            max_runs=MAX_RUNS,
            max_cron_expressions=MAX_EXPRESSIONS,
            max_idempotency_key_characters=MAX_KEY_CHARACTERS,
            idempotency_key_lifetime_seconds=int(KEY_LIFETIME.total_seconds()),
            requests_per_second=throttle.requests_per_second,
            requests_at_once=throttle.requests_at_once,
            default_page_size=DEFAULT_LIMIT,
            max_page_size=MAX_LIMIT,
            tzdata_version=tzdata_version(),
            override=OverrideResponse.from_domain(override) if override else None,
        )
