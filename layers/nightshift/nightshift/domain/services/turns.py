"""Whose turn it is in the line of due tasks, as far as places go (P14).

The clock asks it of a look that it does, an explanation of the look that comes next.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from nightshift.domain.exchanged import DueHint, DueLine, TaskRef
from nightshift.domain.model.enums import Rule
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.seats import Places

BATCH = 100
"""Tasks read and dispatched together; the order of the line holds from batch to batch (P14).

As many as one call reads. Small batches leave threads idle at the end of each; large ones hold the
prompts of so many tasks at once, 64 KiB each at most.
"""

HasTime = Callable[[], bool]


def batches(hints: Iterable[DueHint], places: Places, has_time: HasTime) -> Iterator[list[DueHint]]:
    """The line in batches, none longer than the places that are free when it is cut.

    Whoever has as many runs as one user may have is passed over, by the entry of the index alone;
    not the end of a pause, which starts nothing.
    """
    line = iter(hints)
    while room := min(BATCH, len(places)):
        wanted: Counter[str] = Counter()
        batch: list[DueHint] = []
        for hint in line:
            user_id = hint.ref.user_id
            if hint.wakes or wanted[user_id] < places.room_for(user_id):
                wanted[user_id] += not hint.wakes
                batch.append(hint)
            if len(batch) == room or not has_time():
                break
        if not batch:
            return
        yield batch


def in_their_own_way(
    first: Iterable[DueHint], held: Collection[str], met: Collection[str]
) -> Sequence[DueHint]:
    """Those whose own run is active, which need no place to be told so.

    Args:
        first: the beginning of the line.
        held: the tasks that have an active run.
        met: the tasks whose turn has come already.
    """
    return [hint for hint in first if hint.ref.task_id in held and hint.ref.task_id not in met]


def no_place_for(user_id: str, places: Places, policy: Policy) -> Rule | None:
    """Which rule keeps a user from one run more; None when there is a place."""
    if not policy.max_concurrent_runs:
        return Rule.KILL_SWITCH
    if not places:
        return Rule.SEAT
    return None if places.room_for(user_id) else Rule.USER_LIMIT


def kept_from_turn(
    ref: TaskRef, line: DueLine, places: Places, held: Collection[str], policy: Policy
) -> Rule | None:
    """Which rule keeps the next look from meeting a task of the line; None when it meets it.

    Whoever is ahead is taken to start, also those whose pause ends: should some of them not, its
    turn may come after all. `places` are used up by that.
    """
    if ref in {hint.ref for hint in in_their_own_way(line.first, held, ())}:
        return None
    no_place = no_place_for(ref.user_id, places, policy)
    if no_place is not None:
        return no_place
    hints = (replace(hint, wakes=False) for hint in line.hints)
    for batch in batches(hints, places, lambda: True):
        for hint in batch:
            if hint.ref == ref:
                return None
            places.take(hint.ref.user_id)
    return Rule.LINE


def ahead_of(ref: TaskRef, line: DueLine) -> tuple[Sequence[DueHint], bool]:
    """Who is ahead of a task at the beginning of the line; whether that is all of them."""
    first = sorted(line.first, key=lambda hint: hint.place)
    ahead = list(takewhile(lambda hint: hint.ref != ref, first))
    return ahead, len(ahead) < len(first)
