"""The services of the api function."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nightshift.adapters.dynamodb.threads import DynamoThreads
from nightshift.composition.machine_parts import MachineParts
from nightshift.composition.webhook_keys import derived_keys
from nightshift.domain.exchanged import Observe
from nightshift.domain.outbox import WebhookKeys
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import Launcher
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.threads import Threads

if TYPE_CHECKING:
    from typing import Unpack

    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import OwnerSettings
    from nightshift.domain.services.explaining import Explaining


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServices:
    """What the routes call."""

    management: Management
    pausing: Pausing
    threads: Threads
    dispatch: Dispatch
    lifecycle: Lifecycle
    policies: PolicySource
    webhook_keys: WebhookKeys
    launcher: Launcher
    observe: Observe

    @property
    def explaining(self) -> "Explaining":
        """What says why; few ask, so it is loaded for them and not with every cold start."""
        from nightshift.domain.services.explaining import Explaining  # noqa: PLC0415

        owned = self.management.owned
        return Explaining(tasks=owned.tasks, runs=owned.runs, policies=self.policies)


def build_api(settings: "OwnerSettings", **overrides: "Unpack[Overrides]") -> ApiServices:
    """The services of the api function."""
    parts = MachineParts(settings, overrides)
    owned = OwnedTasks(tasks=parts.tasks, runs=parts.runs, lifecycle=parts.lifecycle)
    return ApiServices(
        management=Management(
            owned=owned,
            policies=parts.policies,
            ids=parts.ids,
            due_shards=settings.due_shards,
            slot_shards=settings.slot_shards,
            webhook_targets=settings.webhook_targets,
        ),
        pausing=Pausing(owned=owned, policies=parts.policies),
        threads=Threads(threads=overrides.get("threads") or DynamoThreads(parts.table)),
        dispatch=parts.dispatch,
        lifecycle=parts.lifecycle,
        policies=parts.policies,
        webhook_keys=overrides.get("webhook_keys") or derived_keys(settings),
        launcher=parts.launcher,
        observe=parts.observe,
    )
