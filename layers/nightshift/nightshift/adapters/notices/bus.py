"""Notices to the operator's EventBridge bus, each an event of its kind."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.domain.model.notice import Outgoing
from nightshift.domain.outbox import NotDelivered

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE: Final = "nightshift"


@dataclass(frozen=True, slots=True)
class BusReceiver:
    """See `Receiver` for what it promises; every notice goes to the bus of this name or ARN."""

    client: Any
    bus: str
    name: str = "bus"

    def gets(self, _outgoing: Outgoing) -> bool:
        """Everything."""
        return True

    def send(self, outgoing: Outgoing, at: datetime) -> None:
        """Put one event; the bus may refuse it in an answer that looks like success."""
        notice = outgoing.notice
        entry = {
            "Source": SOURCE,
            "DetailType": notice.kind.value,
            "Detail": json.dumps({**notice.facts(), "user_id": notice.user_id}),
            "EventBusName": self.bus,
            "Time": at,
        }
        try:
            answer: Mapping[str, Any] = self.client.put_events(Entries=[entry])
        except (BotoCoreError, ClientError) as error:
            raise NotDelivered(f"the bus did not take it: {type(error).__name__}") from error
        if answer.get("FailedEntryCount"):
            raise NotDelivered(f"the bus refused it: {answer['Entries'][0].get('ErrorCode')}")
