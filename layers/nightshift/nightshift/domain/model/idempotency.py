"""Idempotency keys: a request that is sent twice does its work once (SPEC section 7)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from nightshift.domain.errors import IdempotencyMismatch

KEY_LIFETIME = timedelta(hours=24)
"""How long a request may be repeated under its key."""


@dataclass(frozen=True, slots=True)
class UsedKey:
    """A key that was used: for which request, and the id of the task or run that it made."""

    user_id: str
    name: str
    digest: str
    made: str
    used_at: datetime

    @property
    def expires_at(self) -> int:
        """The epoch second from which the key is free again."""
        return ceil((self.used_at + KEY_LIFETIME).timestamp())

    def is_over(self, now: datetime) -> bool:
        """Whether the key is free again at `now`."""
        return self.expires_at <= now.timestamp()


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A user's name for one request, and the digest of route and body that goes with it."""

    name: str
    digest: str

    def used(self, user_id: str, made: str, now: datetime) -> UsedKey:
        """This key as used at `now` to make the task or run with the id `made`."""
        return UsedKey(user_id, self.name, self.digest, made, now)

    def made_by(self, used: UsedKey) -> str:
        """The id of what this very request made before.

        Raises:
            IdempotencyMismatch: the key was used for another request.
        """
        if used.digest != self.digest:
            raise IdempotencyMismatch
        return used.made
