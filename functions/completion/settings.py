"""What the completion function is deployed with."""

from collections.abc import Mapping
from dataclasses import dataclass

from environment import Environment
from nightshift.domain.model.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """The table and the limits; it knows no state machine, for it may not ask one."""

    table_name: str
    due_shards: int
    slot_shards: int
    policy: Policy
    announces: bool  # whether the operator has receivers of notices

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "CompletionSettings":
        """Read and check the environment; raises `UnusableSettings` naming the variable."""
        environment = Environment(variables)
        return cls(
            table_name=environment.text("TABLE_NAME"),
            due_shards=environment.shards("DUE_SHARDS"),
            slot_shards=environment.shards("SLOT_SHARDS"),
            policy=environment.policy(),
            announces=environment.announces(),
        )
