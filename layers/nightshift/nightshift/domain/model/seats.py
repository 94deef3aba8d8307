"""The numbered places of the global budget (P14, K5)."""

import threading
from collections.abc import Collection, Iterable


def free_seats(held: Collection[int], limit: int) -> list[int]:
    """The seats that may be taken, lowest first.

    Seat n is free when nobody holds it and n plus the held seats above n stays below the limit.
    A lowered limit therefore drains: every seat above it counts against the low ones (K5).
    """
    free: list[int] = []
    taken = set(held)
    above = len(taken)
    for seat in range(limit):
        if seat in taken:
            above -= 1
        elif seat + above < limit:
            free.append(seat)
    return free


class Seats:
    """The free seats of one look, shared by the threads that dispatch.

    A seat is handed out once. Who finds it taken in the table asks for another; who does not use
    it puts it back. The seat rows decide, this pool only saves futile transactions.
    """

    def __init__(self, free: Iterable[int]) -> None:
        self._free = sorted(free, reverse=True)
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """The lowest free seat, or None when the budget is full."""
        with self._lock:
            return self._free.pop() if self._free else None

    def put_back(self, seat: int) -> None:
        """Return a seat that was taken and not used."""
        with self._lock:
            self._free.append(seat)
            self._free.sort(reverse=True)

    def __len__(self) -> int:
        with self._lock:
            return len(self._free)
