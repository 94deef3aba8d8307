"""What the services of each function need to know of their deployment; for type checking alone."""

from typing import Protocol

from nightshift.domain.model.policy import Policy
from nightshift.domain.model.webhook import WebhookTargets


class TableSettings(Protocol):
    """What the services of every function need to know."""

    @property
    def table_name(self) -> str: ...
    @property
    def due_shards(self) -> int: ...
    @property
    def slot_shards(self) -> int: ...
    @property
    def policy(self) -> Policy: ...


class RunSettings(TableSettings, Protocol):
    """What those need to know besides that end runs."""

    @property
    def announces(self) -> bool: ...


class MachineSettings(RunSettings, Protocol):
    """What those need to know besides that deal with executions."""

    @property
    def state_machine_arn(self) -> str: ...


class SecretSettings(Protocol):
    """Where the secret is from which the keys of webhooks are derived."""

    @property
    def webhook_secret_arn(self) -> str: ...


class OwnerSettings(MachineSettings, SecretSettings, Protocol):
    """What those need to know besides that serve the owners of tasks."""

    @property
    def webhook_targets(self) -> WebhookTargets: ...


class ReceiverSettings(TableSettings, SecretSettings, Protocol):
    """What those need to know besides that tell others."""

    @property
    def bus_name(self) -> str | None: ...
    @property
    def topic_arn(self) -> str | None: ...
    @property
    def webhook_targets(self) -> WebhookTargets: ...
