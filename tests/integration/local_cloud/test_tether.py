"""A tethered command ends with its starter."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from integration.local_cloud.probes import eventually

if TYPE_CHECKING:
    from pathlib import Path

TETHER = [sys.executable, "-m", "nightshift_toolkit.local_cloud.tether"]
TELL_AND_SLEEP = "echo $$ > {file}; exec sleep 600"


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_command_ends_when_its_starter_lets_go_of_the_tether(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    command = [*TETHER, "sh", "-c", TELL_AND_SLEEP.format(file=file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as tether:
        pid = int(eventually(lambda: file.exists() and file.read_text().strip()))
        assert lives(pid)
        assert tether.stdin is not None
        tether.stdin.close()
        tether.wait(20)
    assert not lives(pid)


def test_the_exit_code_of_a_command_that_ends_by_itself_is_passed_on() -> None:
    command = [*TETHER, "sh", "-c", "exit 3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as tether:
        assert tether.wait(20) == 3
