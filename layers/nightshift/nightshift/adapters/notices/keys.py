"""Every user's key for webhooks, derived from one secret; none of them is stored."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.domain.errors import StorageUnavailable


@dataclass(frozen=True, slots=True)
class DerivedKeys:
    """See `WebhookKeys` for what it promises; `master` gives the deployment's secret."""

    master: Callable[[], str]

    def key_of(self, user_id: str) -> str:
        """64 hexadecimal digits."""
        name = f"nightshift webhook key of {user_id}"
        return hmac.new(self.master().encode(), name.encode(), hashlib.sha256).hexdigest()


class StoredMaster:
    """The deployment's secret, read from Secrets Manager when first needed and then kept."""

    def __init__(self, connect: Callable[[], Any], secret_arn: str) -> None:
        self._connect = connect
        self._secret_arn = secret_arn
        self._kept: str | None = None

    def __call__(self) -> str:
        """The secret.

        Raises:
            StorageUnavailable: it cannot be read.
        """
        if self._kept is None:
            client = self._connect()
            try:
                answer = client.get_secret_value(SecretId=self._secret_arn)
            except (BotoCoreError, ClientError) as error:
                raise StorageUnavailable("The secret of webhooks cannot be read.") from error
            self._kept = str(answer["SecretString"])
        return self._kept
