"""Whose turn it is in the line of due tasks (P14)."""

import builders
from builders import ALICE, BOB, NOW
from nightshift.domain.exchanged import DueHint, TaskRef
from nightshift.domain.model.seats import Place, Places
from nightshift.domain.services.turns import batches


def hint(number: int, user_id: str = ALICE, *, wakes: bool = False) -> DueHint:
    """An entry of the line."""
    return DueHint(TaskRef(user_id, builders.task_id(number)), 5, NOW, wakes)


def test_the_end_of_a_pause_takes_no_turn_and_is_not_passed_over() -> None:
    """P14: it starts nothing, so it neither needs what its user may have nor uses it up."""
    places = Places([], limit=4, user_limit=1)
    line = [hint(1, wakes=True), hint(2), hint(3), hint(4, wakes=True), hint(5, BOB)]
    (first, *_) = batches(line, places, lambda: True)
    assert [entry.ref.task_id for entry in first] == [line[n].ref.task_id for n in (0, 1, 3, 4)]


def test_the_end_of_a_pause_is_met_though_its_user_has_all_they_may_have() -> None:
    """P3: whoever is at their limit is not kept from waking."""
    places = Places([Place(ALICE, 0, 0)], limit=4, user_limit=1)
    batch = next(batches([hint(1), hint(2, wakes=True)], places, lambda: True))
    assert [entry.wakes for entry in batch] == [True]
