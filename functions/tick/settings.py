"""What the tick function is deployed with."""

from collections.abc import Mapping
from dataclasses import dataclass

from environment import Environment
from nightshift.domain.model.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class TickSettings:
    """The table, the machine, the limits, and how long and how often one tick looks."""

    table_name: str
    state_machine_arn: str
    due_shards: int
    slot_shards: int
    policy: Policy
    window_seconds: int  # how long one tick goes on looking; 0 looks once
    poll_seconds: int  # from one look to the next inside the window; 0 looks once

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "TickSettings":
        """Read and check the environment; raises `UnusableSettings` naming the variable."""
        environment = Environment(variables)
        return cls(
            table_name=environment.text("TABLE_NAME"),
            state_machine_arn=environment.text("STATE_MACHINE_ARN"),
            due_shards=environment.shards("DUE_SHARDS"),
            slot_shards=environment.shards("SLOT_SHARDS"),
            policy=environment.policy(),
            window_seconds=environment.integer("TICK_WINDOW_SECONDS", default=0, least=0, most=840),
            poll_seconds=environment.integer("POLL_INTERVAL_SECONDS", default=0, least=0, most=60),
        )
