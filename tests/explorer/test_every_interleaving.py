"""Whoever comes first at whichever call of a port: what is promised holds (SPEC sections 2 and 4).

The auditor's invariants are checked after every write, and again when all is at rest.
"""

from collections.abc import Callable

import pytest

from explorer.promises import Broken
from explorer.replay import replay
from explorer.rows import MemoryRows
from explorer.scenes import SCENES, Scene
from explorer.search import Coverage, Violation, exhaust, walks
from proof import is_full

MOST = 40_000
"""Longest list of interleavings of one scene at full size; those of most scenes are complete."""
SHARE = 200
WALKS = 3_000
SHARE_OF_WALKS = 50

Record = Callable[[str, object], None]
SMALL = [scene for scene in SCENES.values() if scene.small]


def _recorded(coverage: Coverage, record_property: Record) -> None:
    record_property("interleavings", coverage.interleavings)
    record_property("steps", coverage.steps)


@pytest.mark.parametrize("scene", SMALL, ids=lambda scene: scene.name)
def test_every_order_of_the_calls_keeps_the_promises(scene: Scene, record_property: Record) -> None:
    """K3-K7, P13, P14, P18: a small scene is played in every order that makes a difference."""
    coverage = exhaust(scene, most=MOST if is_full() else SHARE)
    _recorded(coverage, record_property)
    record_property("scenes", 1)
    assert coverage.states > 0


@pytest.mark.parametrize("scene", SCENES.values(), ids=lambda scene: scene.name)
def test_any_order_of_calls_deaths_and_lost_answers_keeps_the_promises(
    scene: Scene, record_property: Record
) -> None:
    """SPEC section 2: processes die between any two calls, and answers are lost."""
    coverage = walks(scene, range(WALKS if is_full() else SHARE_OF_WALKS))
    _recorded(coverage, record_property)
    assert coverage.states > 1


def test_both_of_two_orders_are_played_where_they_differ() -> None:
    """The search: all ends of a scene are found, although it leaves out orders that do not matter.

    The run is started by the tick or by the trigger; the other finds it running or already over.
    """
    coverage = exhaust(SCENES["two tasks want the last seat"])
    assert coverage.complete
    by_chance = walks(SCENES["two tasks want the last seat"], range(300), mortal=False)
    assert by_chance.ends <= coverage.ends


def test_a_violation_is_printed_as_a_script_that_plays_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fence that lets everybody through is found out, and so it is by the script."""
    monkeypatch.setattr(MemoryRows, "pass_fence", lambda *_arguments: True)
    scene = SCENES["a launch arrives when its deadline is over"]
    with pytest.raises(Violation) as violation:
        walks(scene, range(500))
    script = str(violation.value).partition("\n\n")[2]
    with pytest.raises(Broken):
        exec(compile(script, "script", "exec"), {})  # noqa: S102 - the script is ours


def test_a_schedule_plays_the_same_again() -> None:
    """The stage: nothing but the choices decides what happens."""
    schedule = ["tick", "tick ahead"] * 5 + ["tick / unheard"]
    plays = [replay("two ticks meet one due task", schedule) for _ in range(2)]
    assert plays[0].fingerprint() == plays[1].fingerprint()
