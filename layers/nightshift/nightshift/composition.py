"""Puts the services of each function together; the only place that knows both sides.

Every `build_*` is pure: it reads no environment and makes no call. Clients are made for what no
override replaces, so that a test which brings all its ports needs no AWS.
"""

from dataclasses import dataclass
from typing import Final, Unpack

from nightshift.domain.exchanged import Observe
from nightshift.domain.model.policy import Policy
from nightshift.domain.outbox import WebhookKeys
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import (
    Launcher,
    RunStore,
)
from nightshift.domain.services.announcing import Announcing
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.explaining import Explaining
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.replanning import Replanning
from nightshift.domain.services.threads import Threads
from nightshift.parts import (
    MachineParts,
    MachineSettings,
    Overrides,
    OwnerSettings,
    Parts,
    ReceiverSettings,
    RunParts,
    RunSettings,
    derived_keys,
    receivers,
)

PRODUCTION_POLICY: Final = Policy(
    max_concurrent_runs=10,
    max_concurrent_runs_per_user=5000,
    launch_lease_seconds=120,
    launch_deadline_seconds=900,
    verify_after_seconds=300,
    worker_silence_seconds=300,
    min_once_delay_seconds=60,
    min_every_seconds=300,
    min_interval_seconds=60,
    default_timeout_seconds=900,
    max_timeout_seconds=3600,
    max_pause_seconds=3600,
    workflow_timeout_seconds=86_400,
    max_tasks_per_user=1000,
    max_history_entries_per_task=50,
    allow_shell_actions=False,
)
"""The limits of a deployment that sets none (SPEC section 9); the domain's own are loose."""

CLOCK_WORKERS: Final = 16
"""Tasks that one tick settles or starts at the same time: enough to keep a processor busy while
each waits some 30 ms for AWS."""


NOTICE_WORKERS: Final = 16
"""Notices that are sent at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServices:
    """What the routes call."""

    management: Management
    pausing: Pausing
    explaining: Explaining
    threads: Threads
    dispatch: Dispatch
    lifecycle: Lifecycle
    policies: PolicySource
    webhook_keys: WebhookKeys
    launcher: Launcher
    observe: Observe


@dataclass(frozen=True, slots=True, kw_only=True)
class TickServices:
    """What a tick calls."""

    clock: Clock
    replanning: Replanning
    observe: Observe


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionServices:
    """What the end of a run calls."""

    lifecycle: Lifecycle
    runs: RunStore
    policies: PolicySource
    observe: Observe


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesServices:
    """What the delivery of notices calls."""

    announcing: Announcing
    observe: Observe


def build_api(settings: OwnerSettings, **overrides: Unpack[Overrides]) -> ApiServices:
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
        explaining=Explaining(tasks=parts.tasks, runs=parts.runs, policies=parts.policies),
        threads=Threads(threads=parts.threads),
        dispatch=parts.dispatch,
        lifecycle=parts.lifecycle,
        policies=parts.policies,
        webhook_keys=overrides.get("webhook_keys") or derived_keys(settings),
        launcher=parts.launcher,
        observe=parts.observe,
    )


def build_tick(settings: MachineSettings, **overrides: Unpack[Overrides]) -> TickServices:
    """The services of the tick function."""
    parts = MachineParts(settings, overrides)
    clock = Clock(
        tasks=parts.tasks,
        runs=parts.runs,
        policies=parts.policies,
        inspector=parts.inspector,
        lifecycle=parts.lifecycle,
        dispatch=parts.dispatch,
        observe=parts.observe,
        workers=overrides.get("workers", CLOCK_WORKERS),
    )
    replanning = Replanning(tasks=parts.tasks, sweeps=parts.sweeps, observe=parts.observe)
    return TickServices(clock=clock, replanning=replanning, observe=parts.observe)


def build_completion(settings: RunSettings, **overrides: Unpack[Overrides]) -> CompletionServices:
    """The services of the completion function, which may neither launch nor ask."""
    parts = RunParts(settings, overrides)
    return CompletionServices(
        lifecycle=parts.lifecycle,
        runs=parts.runs,
        policies=parts.policies,
        observe=parts.observe,
    )


def build_notices(settings: ReceiverSettings, **overrides: Unpack[Overrides]) -> NoticesServices:
    """The services of the notices function, which reads and writes nothing but the outbox."""
    parts = Parts(settings, overrides)
    announcing = Announcing(
        outbox=parts.outbox,
        receivers=overrides.get("receivers") or receivers(settings),
        observe=parts.observe,
        workers=overrides.get("workers", NOTICE_WORKERS),
    )
    return NoticesServices(announcing=announcing, observe=parts.observe)
