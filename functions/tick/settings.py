"""What the tick function is deployed with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from environment import Environment, UnusableSettings
from nightshift.domain.model.policy import Policy

WINDOW_MARGIN_SECONDS: Final = 30
"""What a function needs beyond its window, or the last looks of each would silently be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickSettings:
    """The table, the machine, the limits, and how long and how often one tick looks."""

    table_name: str
    state_machine_arn: str
    due_shards: int
    slot_shards: int
    policy: Policy
    announces: bool  # whether the operator has receivers of notices
    window_seconds: int  # how long one tick goes on looking; 0 looks once
    poll_seconds: int  # from one look to the next inside the window; 0 looks once

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "TickSettings":
        """Read and check the environment; raises `UnusableSettings` naming the variable."""
        environment = Environment(variables)
        window = environment.integer("TICK_WINDOW_SECONDS", default=0, least=0, most=840)
        limit = environment.integer("TICK_TIMEOUT_SECONDS", default=900, least=1, most=900)
        if window + WINDOW_MARGIN_SECONDS > limit:
            raise UnusableSettings(
                f"TICK_TIMEOUT_SECONDS must be at least {WINDOW_MARGIN_SECONDS} more than"
                " TICK_WINDOW_SECONDS."
            )
        return cls(
            table_name=environment.text("TABLE_NAME"),
            state_machine_arn=environment.text("STATE_MACHINE_ARN"),
            due_shards=environment.shards("DUE_SHARDS"),
            slot_shards=environment.shards("SLOT_SHARDS"),
            policy=environment.policy(),
            announces=environment.announces(),
            window_seconds=window,
            poll_seconds=environment.integer("POLL_INTERVAL_SECONDS", default=0, least=0, most=60),
        )
