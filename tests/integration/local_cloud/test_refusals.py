"""`nightshift local` that cannot start: one sentence, an exit code, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from integration.local_cloud.test_run import READY_SECONDS, RUN, free_port
from nightshift_toolkit.local_cloud.errors import (
    DamagedStateError,
    NoOutputError,
    PortRefusedError,
    StateFolderError,
)
from nightshift_toolkit.local_cloud.loopback import listen

if TYPE_CHECKING:
    from pathlib import Path

LOCAL = f"{sys.executable} -m nightshift_toolkit.cli local"
USAGE = 2


def refused(folder: Path, where: str = "") -> tuple[int, str]:
    """Return exit code and standard error of a run on `folder`, its standard output led `where`."""
    program = [sys.executable, RUN, str(free_port()), str(folder)]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" "$2" "$3" cat {where}', *program],
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_without_standard_output_it_does_not_start(tmp_path: Path, where: str) -> None:
    code, said = refused(tmp_path / "state", where)
    assert code == NoOutputError.exit_code
    assert len(said.splitlines()) == 1
    assert "Standard output cannot be written" in said


def test_a_state_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".nightshift").touch()
    code, said = refused(tmp_path / ".nightshift")
    assert code == StateFolderError.exit_code
    assert len(said.splitlines()) == 1


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".nightshift" / "engine.log").mkdir(parents=True)
    code, said = refused(tmp_path / ".nightshift")
    assert code == StateFolderError.exit_code
    assert "engine.log" in said
    assert len(said.splitlines()) == 1


def test_a_damaged_key_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".nightshift").mkdir()
    (tmp_path / ".nightshift" / "issuer-key.pem").write_text("garbage")
    code, said = refused(tmp_path / ".nightshift")
    assert code == DamagedStateError.exit_code
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--port 65534", "not in the range"),
        ("--no-worker -- cat", "--no-worker starts nobody"),
        ("-- no-such-agent", "is not a program"),
    ],
)
def test_a_wrong_command_line_is_said_before_anything_starts(
    tmp_path: Path, options: str, sentence: str
) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{LOCAL} {options}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert sentence in done.stderr
    assert not (tmp_path / ".nightshift").exists()


def test_a_port_beyond_the_last_is_refused() -> None:
    with pytest.raises(PortRefusedError, match="ports end at 65535"):
        listen(65536)
