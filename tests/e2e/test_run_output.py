"""`nightshift logs`: the output of runs, while they are active and afterwards."""

import subprocess
import sys
from pathlib import Path

from e2e.place import Place, eventually

USER = ("--user", "reader")


def logs(place: Place, *words: str) -> "subprocess.Popen[str]":
    """The command, started."""
    return subprocess.Popen(
        [sys.executable, "-m", "nightshift_toolkit.cli", "logs", *words, *USER],
        cwd=place.cloud.state_dir.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_output_is_followed_until_the_run_has_ended(place: Place, tmp_path: Path) -> None:
    """What is not there yet is said; the output alone is on standard output."""
    gate = tmp_path / "gate"
    place.worker("--allow-shell")
    caller = place.caller("reader")
    command = f"echo one; while [ ! -e '{gate}' ]; do sleep 0.1; done; echo two; exit 3"
    task = place.create(caller, action={"kind": "shell", "command": command})
    run_id = caller.post(f"/api/scheduled-tasks/{task['id']}/trigger").json()["run_id"]
    eventually(lambda: place.runs(caller, task)[0]["at_work"], within=30, what="the run is at work")

    output, said = logs(place, run_id).communicate(timeout=30)
    assert output == ""
    assert "The run is at work. What it writes is recorded when it ends" in said
    assert f"nightshift logs {run_id} --follow" in said

    following = logs(place, run_id, "--follow")
    assert following.stderr is not None
    assert "until then nothing of it can be shown" in following.stderr.readline()
    gate.touch()
    place.ended(caller, task)
    output, said = following.communicate(timeout=60)
    assert output == "one\ntwo\n"
    assert "The run has ended: failed, nonzero_exit, exit code 3." in said
    assert following.returncode == 0
    caller.delete(f"/api/scheduled-tasks/{task['id']}")
