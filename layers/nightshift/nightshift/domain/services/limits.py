"""How an operator changes the limits in force without a deploy (SPEC section 9)."""

from datetime import datetime

from nightshift.domain.commands import ChangePolicy
from nightshift.domain.errors import ConcurrentUpdate, InvalidRequest
from nightshift.domain.model.override import PolicyInForce
from nightshift.domain.policy_source import PolicySource

ATTEMPTS = 3
"""How often a change is decided anew when another operator's comes in between."""


def change_policy(policies: PolicySource, command: ChangePolicy, now: datetime) -> PolicyInForce:
    """Change the settings that were sent, and only those; 0 runs at once starts nothing (P14).

    Returns:
        What is in force from now on.

    Raises:
        InvalidRequest: nothing was sent, or a value is impossible; nothing was written.
        ConcurrentUpdate: others kept changing it.
        CorruptRecord: what is in force cannot be read.
    """
    if not command.settings:
        raise InvalidRequest("Name at least one limit to change.")
    for _ in range(ATTEMPTS):
        seen = policies.in_force()
        after = seen.changed(command.settings, command.changed_by, now, command.reason)
        if after.override is not None and policies.change(after.override):
            return after
    raise ConcurrentUpdate
