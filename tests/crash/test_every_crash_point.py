"""Whatever dies at whichever AWS call: the occurrence ends once, and nobody has to intervene."""

import zlib
from collections.abc import Callable

import pytest

import crash.paths_of_ends
import crash.paths_of_people  # noqa: F401 - both add their paths
from crash.harness import Stage
from crash.paths import PATHS, Path
from crash.points import Point, complaints_after, points_of, unharmed
from proof import is_full

ONE_IN = 7
"""The share of the crash points that is tried when not all of them are."""

Record = Callable[[str, object], None]


@pytest.fixture(params=PATHS, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    chosen: Path = request.param
    return chosen


def chosen_points(path: Path, calls: list[str]) -> list[Point]:
    """All crash points, or a share that is the same every time and another for each path."""
    if is_full():
        return list(points_of(calls, every=True))
    first = zlib.crc32(path.name.encode()) % ONE_IN
    points = list(points_of(calls, every=False))
    return points[first::ONE_IN] or points[:1]


def test_a_crash_at_any_call_is_recovered_without_a_person(
    stage: Stage, path: Path, record_property: Record
) -> None:
    """SPEC section 2: a Lambda may die between any two calls, and answers may be lost.

    B39, B44, B48, B71, B95, B101, B119, B123: each is one of these points.
    """
    calls, complaints = unharmed(stage, path)
    assert complaints == []
    points = chosen_points(path, calls)
    broken = {
        str(point): complaints
        for point in points
        if (complaints := complaints_after(stage, path, point))
    }
    record_property("crash points", len(points))
    record_property("paths", 1)
    assert broken == {}
