"""Pausing a run at work, through HTTP, the real state machine and a real worker."""

from datetime import UTC, datetime, timedelta

from e2e.place import Place, eventually
from nightshift.domain.model.instants import parse_instant

COUNTS = "for second in $(seq 1 4); do echo $second; sleep 1; done"


def test_a_paused_run_stands_still_beyond_its_limit_and_ends_well_once_it_goes_on(
    place: Place,
) -> None:
    """SPEC section 8: pauses do not count towards the time limit."""
    ada = place.caller()
    place.worker("--allow-shell", "--heartbeat-seconds", "0.3")
    shell = {"kind": "shell", "command": COUNTS}
    task = place.create(ada, action=shell, timeout_seconds=10)
    started = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger").json()
    path = f"/api/scheduled-tasks/{task['id']}/runs/{started['run_id']}"
    eventually(lambda: ada.get(path).json()["can_pause"], within=30, what="it is at work")
    assert ada.post(f"{path}/pause").status_code == 202
    paused = eventually(lambda: ada.get(path).json()["paused_at"], within=30, what="it is paused")
    eventually(
        lambda: _elapsed(paused, 12), within=60, what="it was paused for longer than allowed"
    )
    assert ada.get(path).json()["status"] == "running"
    assert ada.post(f"{path}/resume").status_code == 202
    run = place.ended(ada, task)
    assert (run["status"], run["result"]["output"]) == ("success", "1\n2\n3\n4\n")
    assert run["paused_seconds"] >= 12
    assert (run["paused_at"], run["can_pause"]) == (None, False)
    assert ada.post(f"{path}/pause").json()["code"] == "run_not_pausable"


def _elapsed(since: str, seconds: float) -> bool:
    passed = datetime.now(UTC) - parse_instant(since)
    return passed >= timedelta(seconds=seconds)
