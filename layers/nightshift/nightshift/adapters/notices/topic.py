"""Notices to the operator's SNS topic, with attributes that subscriptions can filter by."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.domain.model.notice import Outgoing
from nightshift.domain.outbox import NotDelivered


@dataclass(frozen=True, slots=True)
class TopicReceiver:
    """See `Receiver` for what it promises; every notice goes to this topic."""

    client: Any
    topic_arn: str
    name: str = "topic"

    def gets(self, _outgoing: Outgoing) -> bool:
        """Everything."""
        return True

    def send(self, outgoing: Outgoing, _at: datetime) -> None:
        """Publish one message."""
        notice = outgoing.notice
        attributes = {
            "kind": notice.kind.value,
            "user_id": notice.user_id,
            "task_id": notice.task_id,
        }
        try:
            self.client.publish(
                TopicArn=self.topic_arn,
                Message=json.dumps({**notice.facts(), "user_id": notice.user_id}),
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value}
                    for name, value in attributes.items()
                },
            )
        except (BotoCoreError, ClientError) as error:
            raise NotDelivered(f"the topic did not take it: {type(error).__name__}") from error
