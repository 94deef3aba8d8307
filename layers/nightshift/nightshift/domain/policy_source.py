"""The port of the limits in force; what `ports.py` says of errors holds here too."""

from typing import Protocol

from nightshift.domain.exchanged import Page
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

        Returns False when that is not the one in force any more; nothing was written. Otherwise
        it is in the log as well, in the same write.
        """
        ...

    def changes(self, *, limit: int, after: str | None = None) -> Page[Override]:
        """What operators made of the limits over time, newest first; a row written by hand is not
        in it.

        Args:
            limit: most entries of a page.
            after: the `next` of the page before.

        Raises:
            InvalidCursor: `after` is no `next` of this log.
        """
        ...
