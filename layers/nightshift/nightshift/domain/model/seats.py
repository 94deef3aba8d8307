"""The numbered places of the global budget, and of each user's share of it (P14, K5)."""

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass


def free_seats(held: Collection[int], limit: int, unnumbered: int = 0) -> list[int]:
    """The seats that may be taken, lowest first.

    Seat n is free when nobody holds it and n plus the held seats above n stays below the limit.
    A lowered limit therefore drains: every seat above it counts against the low ones (K5).

    Args:
        held: the numbers that are taken.
        limit: how many may be.
        unnumbered: holders without a number, who count as above all.
    """
    free: list[int] = []
    taken = set(held)
    above = len(taken) + unnumbered
    for seat in range(limit):
        if seat in taken:
            above -= 1
        elif seat + above < limit:
            free.append(seat)
    return free


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run of a user sits: a seat of the budget, and one of their own where that is limited.

    Either is None where it is not held.
    """

    user_id: str
    seat: int | None
    user_seat: int | None = None


class Places:
    """The free places of one look, shared by the threads that dispatch.

    A seat is handed out once. Who finds one taken in the table puts the other back and asks again;
    who does not use a place puts it back. The rows decide, this pool only saves futile
    transactions.

    Args:
        held: where the active runs sit.
        limit: how many runs may be active.
        user_limit: how many of one user; at `limit` and above nobody holds a seat of their own.
    """

    def __init__(self, held: Iterable[Place], *, limit: int, user_limit: int) -> None:
        places = list(held)
        taken = {place.seat for place in places if place.seat is not None}
        self._free = sorted(free_seats(taken, limit), reverse=True)
        self._user_limit = user_limit if user_limit < limit else None
        self._held: dict[str, list[Place]] = defaultdict(list)
        for place in places:
            self._held[place.user_id].append(place)
        self._of_users: dict[str, list[int]] = {}
        self._lock = threading.Lock()

    def take(self, user_id: str) -> Place | None:
        """The lowest free place for a user, or None when the budget or their share is full."""
        with self._lock:
            own = self._own(user_id)
            if not self._free or own == []:
                return None
            return Place(user_id, self._free.pop(), None if own is None else own.pop())

    def put_back(self, place: Place) -> None:
        """Return what was taken and not used."""
        with self._lock:
            own = self._own(place.user_id)
            for free, seat in ((self._free, place.seat), (own, place.user_seat)):
                if free is not None and seat is not None:
                    free.append(seat)
                    free.sort(reverse=True)

    def room_for(self, user_id: str) -> int:
        """How many more runs this user may start, as far as the places go."""
        with self._lock:
            own = self._own(user_id)
            return len(self._free) if own is None else min(len(own), len(self._free))

    def __len__(self) -> int:
        """How many more runs anybody may start."""
        with self._lock:
            return len(self._free)

    def _own(self, user_id: str) -> list[int] | None:
        """The free seats of a user's own, the lowest last; None where there is no limit."""
        if self._user_limit is None:
            return None
        if user_id not in self._of_users:
            numbers = [place.user_seat for place in self._held[user_id]]
            held = {number for number in numbers if number is not None}
            free = free_seats(held, self._user_limit, numbers.count(None))
            self._of_users[user_id] = sorted(free, reverse=True)
        return self._of_users[user_id]
