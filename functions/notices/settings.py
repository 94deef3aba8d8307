"""What the notices function is deployed with."""

from collections.abc import Mapping
from dataclasses import dataclass

from environment import Environment
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.webhook import WebhookTargets


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesSettings:
    """The table, the operator's receivers, and what webhooks are signed with."""

    table_name: str
    due_shards: int
    slot_shards: int
    policy: Policy
    bus_name: str | None  # the EventBridge bus that hears of everything
    topic_arn: str | None  # the SNS topic that hears of everything
    webhook_secret_arn: str  # from which the users' keys are derived
    webhook_targets: WebhookTargets  # where webhooks may lead

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "NoticesSettings":
        """Read and check the environment; raises `UnusableSettings` naming the variable."""
        environment = Environment(variables)
        return cls(
            table_name=environment.text("TABLE_NAME"),
            due_shards=environment.shards("DUE_SHARDS"),
            slot_shards=environment.shards("SLOT_SHARDS"),
            policy=environment.policy(),
            bus_name=environment.optional("NOTICE_BUS_NAME"),
            topic_arn=environment.optional("NOTICE_TOPIC_ARN"),
            webhook_secret_arn=environment.text("WEBHOOK_SECRET_ARN"),
            webhook_targets=environment.webhook_targets(),
        )
