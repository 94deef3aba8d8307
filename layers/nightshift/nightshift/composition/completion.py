"""The services of the completion function."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nightshift.composition.run_parts import RunParts
from nightshift.domain.exchanged import Observe
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import RunStore
from nightshift.domain.services.lifecycle import Lifecycle

if TYPE_CHECKING:
    from typing import Unpack

    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import RunSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionServices:
    """What the end of a run calls."""

    lifecycle: Lifecycle
    runs: RunStore
    policies: PolicySource
    observe: Observe


def build_completion(
    settings: "RunSettings", **overrides: "Unpack[Overrides]"
) -> CompletionServices:
    """The services of the completion function, which may neither launch nor ask."""
    parts = RunParts(settings, overrides)
    return CompletionServices(
        lifecycle=parts.lifecycle,
        runs=parts.runs,
        policies=parts.policies,
        observe=parts.observe,
    )
