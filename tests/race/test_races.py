"""Many processes at the same moment on the real engine: one run each, and never too many."""

import random
from collections.abc import Callable

import pytest

from nightshift_toolkit.local_cloud.engine import Engine
from proof import is_full
from race.arena import Arena
from race.scenes import SCENES, Scene

ROUNDS = 10_000
SHARE = 200
SEED = 20260302


@pytest.fixture(scope="module")
def arena(engine: Engine) -> Arena:
    return Arena(engine, "races")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__.replace("_", " "))
def test_no_race_breaks_a_promise(
    arena: Arena, scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """P13, P14, K3-K7: one run per task and occurrence, the budget, and no key left behind.

    B38, B43, B47, B52, B53, B54, B90, B112, B116, B122: without any reserved concurrency.
    """
    rounds = (ROUNDS if is_full() else SHARE) * SCENES[scene] // 100
    broken: dict[int, list[str]] = {}
    for number in range(rounds):
        arena.begin_round()
        scene(arena, random.Random(SEED + number))  # noqa: S311 - repeatable, not secret
        if complaints := arena.settle():
            broken[number] = complaints
    record_property("rounds", rounds)
    record_property("scenes", 1)
    assert broken == {}
