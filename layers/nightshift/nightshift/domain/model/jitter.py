"""Where between two occurrences a task's start lies (SPEC section 5)."""

import hashlib
from datetime import datetime, timedelta
from typing import Final

_SECOND: Final = timedelta(seconds=1)


def jitter_offset(
    task_id: str,
    jitter_seconds: int,
    nominal: datetime,
    following: datetime | None,
    place: int | None = None,
) -> int:
    """Give the seconds by which a task starts after its nominal time, from 0 to `jitter_seconds`.

    A stable hash of the task id spreads tasks and keeps each at its place (SPEC section 5). The
    effective time never reaches `following`, the next nominal one; where that is near, the place is
    scaled into what is left. A `place` that was chosen for the task counts instead, as far as there
    is room for it.
    """
    widest = widest_jitter(jitter_seconds, nominal, following)
    return share_of(task_id, widest + 1) if place is None else min(place, widest)


def share_of(task_id: str, width: int, *, salt: str = "") -> int:
    """Give a number from 0 to below `width` that is the task's own, the same on every machine."""
    digest = hashlib.sha256(f"{salt}{task_id}".encode()).digest()
    return int.from_bytes(digest[:8]) * width >> 64


def widest_jitter(jitter_seconds: int, nominal: datetime, following: datetime | None) -> int:
    """Give the most seconds by which any task may start after its nominal time."""
    if following is None:
        return jitter_seconds
    return max(0, min(jitter_seconds, -((nominal - following) // _SECOND) - 1))
