"""The services of the notices function."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nightshift.adapters.aws import events_client, sns_client
from nightshift.adapters.dynamodb.outbox import DynamoOutbox
from nightshift.adapters.notices.bus import BusReceiver
from nightshift.adapters.notices.topic import TopicReceiver
from nightshift.adapters.notices.webhook import WebhookReceiver
from nightshift.composition.parts import Parts
from nightshift.composition.webhook_keys import derived_keys
from nightshift.domain.exchanged import Observe
from nightshift.domain.outbox import Receiver
from nightshift.domain.services.announcing import Announcing

if TYPE_CHECKING:
    from typing import Unpack

    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import ReceiverSettings

NOTICE_WORKERS: Final = 16
"""Notices that are sent at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesServices:
    """What the delivery of notices calls."""

    announcing: Announcing
    observe: Observe


def build_notices(
    settings: "ReceiverSettings", **overrides: "Unpack[Overrides]"
) -> NoticesServices:
    """The services of the notices function, which reads and writes nothing but the outbox."""
    parts = Parts(settings, overrides)
    announcing = Announcing(
        outbox=overrides.get("outbox") or DynamoOutbox(parts.table),
        receivers=overrides.get("receivers") or _receivers(settings),
        observe=parts.observe,
        workers=overrides.get("workers", NOTICE_WORKERS),
    )
    return NoticesServices(announcing=announcing, observe=parts.observe)


def _receivers(settings: "ReceiverSettings") -> Sequence[Receiver]:
    """Everybody who hears of this deployment's runs; those who answer at once come first."""
    receivers: list[Receiver] = []
    if settings.bus_name is not None:
        receivers.append(BusReceiver(events_client(), settings.bus_name))
    if settings.topic_arn is not None:
        receivers.append(TopicReceiver(sns_client(), settings.topic_arn))
    keys = derived_keys(settings)
    return [*receivers, WebhookReceiver(keys=keys, targets=settings.webhook_targets)]
