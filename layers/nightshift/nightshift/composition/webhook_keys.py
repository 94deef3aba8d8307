"""The keys of webhooks, as those who sign and those who may see their own get them."""

from typing import TYPE_CHECKING

from nightshift.adapters.aws import secrets_client
from nightshift.adapters.notices.keys import DerivedKeys, StoredMaster

if TYPE_CHECKING:
    from nightshift.composition.settings import SecretSettings
    from nightshift.domain.outbox import WebhookKeys


def derived_keys(settings: "SecretSettings") -> "WebhookKeys":
    """Every user's key, from the secret of this deployment, which is read when it is needed."""
    return DerivedKeys(StoredMaster(secrets_client, settings.webhook_secret_arn))
