"""The numbered places of the global budget (P14, K5)."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.domain.model.seats import Place, Places, free_seats

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


# -- the pool of one look --


def held(*numbers: int, user_id: str = "alice") -> list[Place]:
    """Places of a user that are taken, no seats of their own."""
    return [Place(user_id, number) for number in numbers]


def test_the_pool_hands_out_each_seat_once_lowest_first() -> None:
    """Places: threads that dispatch do not contend for one seat."""
    places = Places(held(1, 3), limit=5, user_limit=5)
    assert [places.take("bob"), places.take("eve")] == [Place("bob", 0), Place("eve", 2)]
    assert places.take("bob") == Place("bob", 4)
    assert places.take("bob") is None
    assert len(places) == 0


def test_a_place_that_was_not_used_can_be_taken_again() -> None:
    """Places: a skipped task costs nobody a place."""
    places = Places([], limit=3, user_limit=2)
    first = places.take("alice")
    assert first == Place("alice", 0, 0)
    places.take("alice")
    assert places.take("alice") is None
    places.put_back(first)
    assert (len(places), places.room_for("alice")) == (2, 1)
    assert places.take("alice") == first


def test_a_user_at_their_limit_leaves_the_rest_to_others() -> None:
    """P14: a limit per user is exact by the same seats."""
    places = Places([Place("alice", 0, 0)], limit=4, user_limit=2)
    assert (places.room_for("alice"), places.room_for("bob")) == (1, 2)
    assert places.take("alice") == Place("alice", 1, 1)
    assert places.take("alice") is None
    assert [places.take("bob"), places.take("bob")] == [Place("bob", 2, 0), Place("bob", 3, 1)]
    assert places.take("eve") is None


def test_a_part_that_is_put_back_leaves_the_other_taken() -> None:
    """Places: of a place whose one half was somebody else's the other half is free."""
    places = Places([], limit=3, user_limit=2)
    first = places.take("alice")
    assert first is not None
    places.put_back(replace(first, seat=None))
    assert places.take("alice") == Place("alice", 1, 0)


def test_runs_without_a_seat_of_their_own_count_for_their_user() -> None:
    """K5: a limit that is brought in while runs are active drains, it overshoots nothing."""
    places = Places(held(0, 1), limit=5, user_limit=3)
    assert places.room_for("alice") == 1
    assert places.take("alice") == Place("alice", 2, 0)
    assert places.take("alice") is None


@pytest.mark.parametrize("user_limit", [3, 4])
def test_a_limit_per_user_that_is_no_smaller_is_none(user_limit: int) -> None:
    """Places: nobody writes a row for a limit that limits nobody."""
    assert Places([], limit=3, user_limit=user_limit).take("alice") == Place("alice", 0)
