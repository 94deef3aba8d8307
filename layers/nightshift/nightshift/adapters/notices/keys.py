"""Every user's key for webhooks, derived from one secret; none of them is stored."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DerivedKeys:
    """See `WebhookKeys` for what it promises; `master` gives the deployment's secret."""

    master: Callable[[], str]

    def key_of(self, user_id: str) -> str:
        """64 hexadecimal digits."""
        name = f"nightshift webhook key of {user_id}"
        return hmac.new(self.master().encode(), name.encode(), hashlib.sha256).hexdigest()
