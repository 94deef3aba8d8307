"""Whether the clock may start a task at all, by what its row says of where it stands.

These are the first of the rules in `Rule`, asked in this order by the clock and by explanations.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol

from nightshift.domain.model.enums import Rule, TaskStatus


class Standing(Protocol):
    """What of a task's state these rules ask."""

    @property
    def status(self) -> TaskStatus: ...
    @property
    def blocked_reason(self) -> str | None: ...
    @property
    def next_run_at(self) -> datetime | None: ...
    @property
    def due_at(self) -> datetime | None: ...


IN_REACH: Final[tuple[tuple[Rule, Callable[[Standing], bool]], ...]] = (
    (Rule.PAUSE, lambda standing: standing.status is not TaskStatus.PAUSED),
    (Rule.STATUS, lambda standing: standing.status is TaskStatus.ENABLED),
    (Rule.BLOCKED, lambda standing: standing.blocked_reason is None),
)
"""What lets the clock start a task without anybody's help, each with the rule that says so."""


def kept_from_clock(standing: Standing) -> Rule | None:
    """The first rule that keeps a task out of the clock's reach; None when none does."""
    return next((rule for rule, holds in IN_REACH if not holds(standing)), None)


def kept_from_start(standing: Standing, now: datetime) -> Rule | None:
    """The first rule that keeps a task from being due at `now`; None when it is due."""
    kept = kept_from_clock(standing)
    if kept is not None:
        return kept
    if standing.next_run_at is None or standing.due_at is None:
        return Rule.SCHEDULE
    return Rule.DUE if standing.due_at > now else None
