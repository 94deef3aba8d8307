"""A tethered command ends with its starter."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_command_ends_when_the_tether_itself_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    command = [*TETHER, "sh", "-c", TELL_AND_SLEEP.format(file=file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as tether:
        pid = int(eventually(lambda: file.exists() and file.read_text().strip()))
        tether.kill()
        tether.wait(20)
    eventually(lambda: not lives(pid))


def test_a_command_ended_by_a_signal_is_told_as_a_shell_would() -> None:
    with subprocess.Popen([*TETHER, "sh", "-c", "kill -9 $$"], stdin=subprocess.PIPE) as tether:
        assert tether.wait(20) == 128 + 9
