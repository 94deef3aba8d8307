"""What the api function is deployed with."""

from collections.abc import Mapping
from dataclasses import dataclass

from api.limits import Throttle
from environment import Environment
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.webhook import WebhookTargets


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """The table, the machine and the limits, the gateway's among them."""

    table_name: str
    state_machine_arn: str
    due_shards: int
    slot_shards: int
    policy: Policy
    announces: bool  # whether the operator has receivers of notices
    webhook_targets: WebhookTargets  # where webhooks may lead
    webhook_secret_arn: str  # from which the users' keys are derived
    throttle: Throttle

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "ApiSettings":
        """Read and check the environment; raises `UnusableSettings` naming the variable."""
        environment = Environment(variables)
        return cls(
            table_name=environment.text("TABLE_NAME"),
            state_machine_arn=environment.text("STATE_MACHINE_ARN"),
            due_shards=environment.shards("DUE_SHARDS"),
            slot_shards=environment.shards("SLOT_SHARDS"),
            policy=environment.policy(),
            announces=environment.announces(),
            webhook_targets=environment.webhook_targets(),
            webhook_secret_arn=environment.text("WEBHOOK_SECRET_ARN"),
            throttle=Throttle(
                environment.integer("THROTTLE_RATE", default=None, least=1, most=10_000),
                environment.integer("THROTTLE_BURST", default=None, least=1, most=5_000),
            ),
        )
