"""The services of the tick function."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.composition.machine_parts import MachineParts
from nightshift.domain.exchanged import Observe
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.replanning import Replanning

if TYPE_CHECKING:
    from typing import Unpack

    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import MachineSettings

CLOCK_WORKERS: Final = 16
"""Tasks that one tick settles or starts at the same time: enough to keep a processor busy while
each waits some 30 ms for AWS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickServices:
    """What a tick calls."""

    clock: Clock
    replanning: Replanning
    observe: Observe


def build_tick(settings: "MachineSettings", **overrides: "Unpack[Overrides]") -> TickServices:
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
    sweeps = overrides.get("sweeps") or DynamoSweeps(parts.table, due_shards=settings.due_shards)
    replanning = Replanning(tasks=parts.tasks, sweeps=sweeps, observe=parts.observe)
    return TickServices(clock=clock, replanning=replanning, observe=parts.observe)
