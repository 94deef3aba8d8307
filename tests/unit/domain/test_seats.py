"""The numbered places of the global budget (P14, K5)."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from nightshift.domain.model.seats import Seats, free_seats

SMALL = range(6)


def small_worlds() -> list[tuple[set[int], int]]:
    """Every set of held seats below 6 with every limit up to 6."""
    return [
        (set(held), limit)
        for size in range(len(SMALL) + 1)
        for held in combinations(SMALL, size)
        for limit in range(len(SMALL) + 1)
    ]


def test_a_seat_is_free_when_the_held_seats_above_it_leave_room_below_the_limit() -> None:
    """K5, to the letter: n + (held seats above n) < N, and nobody holds n."""
    for held, limit in small_worlds():
        by_rule = [
            seat
            for seat in range(limit)
            if seat not in held and seat + sum(other > seat for other in held) < limit
        ]
        assert free_seats(held, limit) == by_rule


def test_taking_all_free_seats_never_overshoots() -> None:
    """K5, P14: whatever is held, and however the limit was lowered."""
    for held, limit in small_worlds():
        free = free_seats(held, limit)
        assert len(held) + len(free) <= max(limit, len(held))


def test_a_free_budget_is_used_to_the_last_seat() -> None:
    """P14: as long as no held seat lies above the limit, every place of it can be taken."""
    for held, limit in small_worlds():
        if all(seat < limit for seat in held):
            assert len(held) + len(free_seats(held, limit)) == limit


def test_a_lowered_limit_drains_before_anything_starts() -> None:
    """P14: lowering kills nothing; below the new limit starts go on."""
    held = set(range(6))
    started: list[int] = []
    for ended in reversed(range(6)):
        held.remove(ended)
        free = free_seats(held, 3)
        assert len(held) + len(free) <= max(3, len(held))
        if free:
            started.append(len(held))
    assert started == [2, 1, 0]


def test_a_limit_of_nothing_has_no_free_seat() -> None:
    """P14: the kill switch."""
    assert free_seats([], 0) == []
    assert free_seats([0, 7], 0) == []


@given(st.data())
def test_no_sequence_of_starts_ends_and_limits_overshoots(data: st.DataObject) -> None:
    """K5 as a property: a start never makes more active runs than the limit then in force."""
    held: set[int] = set()
    limit = data.draw(st.integers(0, 12), label="first limit")
    for _ in range(data.draw(st.integers(1, 25), label="steps")):
        free = free_seats(held, limit)
        step = data.draw(st.sampled_from(["start", "end", "limit"]))
        if step == "start" and free:
            held.add(data.draw(st.sampled_from(free)))
            assert len(held) <= limit
        elif step == "end" and held:
            held.remove(data.draw(st.sampled_from(sorted(held))))
        elif step == "limit":
            limit = data.draw(st.integers(0, 12))


def test_the_pool_hands_out_each_seat_once_lowest_first() -> None:
    """Seats: threads that dispatch do not contend for one seat."""
    seats = Seats([4, 0, 2])
    assert [seats.take(), seats.take(), seats.take()] == [0, 2, 4]
    assert seats.take() is None
    assert len(seats) == 0


def test_a_seat_that_was_not_used_can_be_taken_again() -> None:
    """Seats: a skipped task costs nobody a place."""
    seats = Seats([0, 1, 2])
    first = seats.take()
    assert first == 0
    seats.take()
    seats.put_back(first)
    assert len(seats) == 2
    assert seats.take() == 0
