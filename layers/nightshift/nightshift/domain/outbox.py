"""The ports of notices; what `ports.py` says of errors holds here too."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from nightshift.domain.exchanged import Page
from nightshift.domain.model.notice import Outgoing


class NotDelivered(Exception):
    """A receiver did not take a notice; `permanent` when it never will."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent


class Outbox(Protocol):
    """Notices that were written together with their facts and are not delivered yet."""

    def due(self, now: datetime, *, limit: int) -> Page[Outgoing]:
        """At most `limit` notices to be tried by `now`, in each part the longest due first.

        Strongly consistent. Rows that cannot be read are named in `corrupt`, passed over and not
        counted.
        """
        ...

    def claim(self, seen: Outgoing, next_try_at: datetime) -> Outgoing | None:
        """Have a notice for oneself until `next_try_at`, when others may try it again.

        Of two who claim what both have seen, one gets it. None: it is another's, or gone.
        """
        ...

    def note_done(self, held: Outgoing, receivers: Collection[str]) -> bool:
        """Remember who has the notice besides those who had it; False if it is held no more."""
        ...

    def settle(self, held: Outgoing) -> bool:
        """Forget a notice that nobody waits for any more; False if it is held no more."""
        ...


class Receiver(Protocol):
    """Somebody who gets notices."""

    @property
    def name(self) -> str:
        """By which the outbox remembers that it has a notice."""
        ...

    def gets(self, outgoing: Outgoing) -> bool:
        """Whether the notice is meant for this receiver."""
        ...

    def send(self, outgoing: Outgoing, at: datetime) -> None:
        """Hand the notice over; it may be handed over again, under the same id.

        Ends within seconds, whatever the other side does.

        Args:
            outgoing: the notice, and the webhook that its task names.
            at: now (UTC), which is signed.

        Raises:
            NotDelivered: it is not known to have been taken.
        """
        ...


class WebhookKeys(Protocol):
    """The keys with which notices to webhooks are signed; each user has one."""

    def key_of(self, user_id: str) -> str:
        """The user's key as text, always the same; nothing of another's can be told from it."""
        ...
