"""How many tasks are due in each minute of a window, of what a bounded look at the index saw."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

MINUTE: Final = timedelta(minutes=1)


def crowd_of(
    buckets: Iterable[Sequence[tuple[datetime, bool]]],
    since: datetime,
    minutes: int,
    *,
    limit: int,
) -> list[int]:
    """Give the number of tasks of each minute from `since` on, as far as every bucket was counted.

    Args:
        buckets: of each, when its entries from `since` on are due, in order, and whether each
            counts; one more than `limit` where there are so many.
        since: where the first minute begins (UTC).
        minutes: how many there are; no entry lies beyond them.
        limit: how many entries of a bucket are counted; its further ones are not known.
    """
    counts, known = [0] * minutes, minutes
    for entries in buckets:
        if len(entries) > limit:
            known = min(known, (entries[limit][0] - since) // MINUTE)
        for due_at, counted in entries[:limit]:
            counts[(due_at - since) // MINUTE] += counted
    return counts[:known]
