"""Many workers' worth of runs at once, on one machine: a few, or a hundred for ten minutes."""

from pathlib import Path

import pytest

from e2e.crowd import Crowd, Size, as_line
from e2e.place import Place, local_cloud
from proof import is_full

_SILENCE_SECONDS = "120"
_A_FEW = Size(places=12, tasks=14, work_seconds=1, every_seconds=3, for_seconds=5, least_runs=24)
_A_HUNDRED = Size(
    places=100, tasks=120, work_seconds=50, every_seconds=60, for_seconds=600, least_runs=200
)


def test_many_runs_at_once_are_each_done_once_and_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """P4, SPEC section 8: no run is lost or done twice, and every process of one is reaped."""
    size = _A_HUNDRED if is_full() else _A_FEW
    limits = {
        "MaxConcurrentRuns": str(size.places),
        "MaxConcurrentRunsPerUser": str(size.places),
        "MinEverySeconds": "1",
        "WorkerSilenceSeconds": _SILENCE_SECONDS,
        "VerifyAfterSeconds": "60",
        "ThrottleRate": "1000",
        "ThrottleBurst": "1000",
    }
    with local_cloud(tmp_path, **limits) as cloud:
        place = Place(cloud)
        try:
            tally = Crowd(place, size).work(_SILENCE_SECONDS)
            workers = list(place.workers)
        finally:
            place.dismiss()
        assert [worker.returncode for worker in workers] == [0, 0]
    assert tally.recorded
    assert set(tally.recorded.values()) == {1}
    assert tally.began == tally.ended == tally.recorded
    assert (tally.left_running, tally.unreaped) == ([], [])
    assert tally.most_at_once == size.places
    with capsys.disabled():
        print(f"\ncrowd: {as_line(size, tally)}")
