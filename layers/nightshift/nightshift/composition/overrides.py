"""What a caller may bring instead of the real thing; for type checking alone."""

from collections.abc import Sequence
from typing import TypedDict

from nightshift.domain.exchanged import Observe
from nightshift.domain.outbox import Outbox, Receiver, WebhookKeys
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import (
    Ids,
    Inspector,
    Launcher,
    RunStore,
    SweepStore,
    TaskStore,
    ThreadStore,
)


class Overrides(TypedDict, total=False):
    """The ports that a caller brings; those left out are the real ones."""

    tasks: TaskStore
    runs: RunStore
    threads: ThreadStore
    policies: PolicySource
    sweeps: SweepStore
    outbox: Outbox
    receivers: Sequence[Receiver]
    webhook_keys: WebhookKeys
    launcher: Launcher
    inspector: Inspector
    ids: Ids
    observe: Observe
    workers: int
