"""What an operator set without a deploy, and the limits that follow from it (SPEC section 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nightshift.domain.model.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """The settings in force instead of the deployed ones, and who last changed them, when and why.

    A row written by hand names nobody and has no revision.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 0
    changed_by: str | None = None
    changed_at: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """The deployed limits and what overrides them; `override` is None where nobody ever did."""

    deployed: Policy
    override: Override | None = None

    @property
    def policy(self) -> Policy:
        """The limits in force.

        Raises:
            InvalidRequest: an overriding value is impossible.
        """
        return replace(self.deployed, **self.override.settings) if self.override else self.deployed

    @property
    def stop_reason(self) -> str | None:
        """Why the operator has stopped all starts, if one did and said so (P14)."""
        if self.override is None or self.override.settings.get("max_concurrent_runs") != 0:
            return None
        return self.override.reason

    def changed(
        self, settings: Mapping[str, int | None], by: str, at: datetime, reason: str | None
    ) -> "PolicyInForce":
        """What is in force after a change of some settings; None goes back to the deployed value.

        Each change has its own reason, so that none outlives what it was given for.

        Raises:
            InvalidRequest: a value is out of its range, or two contradict each other.
        """
        seen = self.override or Override()
        merged = {**seen.settings, **settings}
        kept = {name: value for name, value in merged.items() if value is not None}
        after = PolicyInForce(
            self.deployed,
            Override(
                settings=kept,
                revision=seen.revision + 1,
                changed_by=by,
                changed_at=at,
                reason=reason,
            ),
        )
        _ = after.policy
        return after
