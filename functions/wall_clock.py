"""The wall clock of this machine: the one place where the functions learn what time it is."""

from datetime import UTC, datetime

from nightshift.domain.model.instants import truncate


def utc_now() -> datetime:
    """Now in UTC, to the millisecond, which is what the table can hold (K9)."""
    return truncate(datetime.now(UTC))
