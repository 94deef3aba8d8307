"""Whatever dies at whichever AWS call: the occurrence ends once, and nobody has to intervene."""

import random
import zlib
from collections.abc import Callable

import pytest

import crash.paths_of_ends
import crash.paths_of_notices
import crash.paths_of_people
import crash.paths_of_work  # noqa: F401 - all add their paths
from crash.faults import Fault
from crash.harness import Stage
from crash.paths import PATHS, Path
from crash.points import Point, complaints_after, points_of, unharmed
from proof import is_full

ONE_IN = 9
"""The share of the crash points that is tried when not all of them are."""

FULL_PAIRS = 30
"""Pairs of crashes, one after the other, that are tried of each path when all are."""
TICK_CALLS = 18
"""Calls that a tick which recovers something makes, or one or two more."""
DEATHS = (Fault.DIES_BEFORE, Fault.DIES_AFTER, Fault.ANSWER_LOST)

Record = Callable[[str, object], None]


@pytest.fixture(params=PATHS, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    chosen: Path = request.param
    return chosen


@pytest.fixture(scope="session")
def known() -> dict[str, list[str]]:
    """The calls of the paths that were walked already, by name."""
    return {}


@pytest.fixture
def calls(stage: Stage, path: Path, known: dict[str, list[str]]) -> list[str]:
    """The calls of a path that nothing happens to, and that breaks no promise then."""
    if path.name not in known:
        known[path.name], complaints = unharmed(stage, path)
        assert complaints == []
    return known[path.name]


def chosen_points(path: Path, calls: list[str]) -> list[Point]:
    """All crash points, or a share that is the same every time and another for each path."""
    if is_full():
        return list(points_of(calls, every=True))
    first = zlib.crc32(path.name.encode()) % ONE_IN
    points = list(points_of(calls, every=False))
    return points[first::ONE_IN] or points[:1]


def test_a_crash_at_any_call_is_recovered_without_a_person(
    stage: Stage, path: Path, calls: list[str], record_property: Record
) -> None:
    """SPEC section 2: a Lambda may die between any two calls, and answers may be lost.

    B39, B44, B48, B71, B95, B101, B119, B123: each is one of these points.
    """
    points = chosen_points(path, calls)
    broken = {
        str(point): complaints
        for point in points
        if (complaints := complaints_after(stage, path, point))
    }
    record_property("crash points", len(points))
    record_property("paths", 1)
    assert broken == {}


def test_a_tick_that_dies_while_it_recovers_is_recovered_too(
    stage: Stage, path: Path, calls: list[str], record_property: Record
) -> None:
    """SPEC section 2: however many die one after the other, the next ticks finish the job."""
    chance = random.Random(path.name)  # noqa: S311 - repeatable, not secret
    points = list(points_of(calls, every=False))
    looked = [Point(place, "of a tick", fault) for place in range(TICK_CALLS) for fault in DEATHS]
    broken = {}
    rounds = FULL_PAIRS if is_full() else 1
    for _ in range(rounds):
        pair = (chance.choice(points), chance.choice(looked))
        if complaints := complaints_after(stage, path, *pair):
            broken[str(pair)] = complaints
    record_property("double crashes", rounds)
    assert broken == {}
