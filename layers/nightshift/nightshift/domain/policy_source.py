"""The port of the limits in force; what `ports.py` says of errors holds here too."""

from typing import Protocol

from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.policy import Policy


class PolicySource(Protocol):
    """Where the limits in force come from."""

    def current(self) -> Policy:
        """The operator's limits as of now, strongly consistent."""
        ...

    def in_force(self) -> PolicyInForce:
        """The same limits with what was deployed, who overrode it, when and why."""
        ...

    def change(self, override: Override) -> bool:
        """Put an override in the place of the one whose revision is one less.

        Returns False when that is not the one in force any more; nothing was written.
        """
        ...
