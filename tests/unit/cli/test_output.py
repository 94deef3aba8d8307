"""Standard output that is full or closed ends a command with a sentence, or quietly."""

import subprocess
import sys

import pytest

from nightshift_toolkit.cli.failures import ExitCode

_NIGHTSHIFT = f"'{sys.executable}' -m nightshift_toolkit.cli"


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S602 - redirections are what is tested
        line, shell=True, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("command", ["next @daily", "next @daily --json", "--help"])
def test_output_that_cannot_be_written_is_one_sentence(command: str) -> None:
    done = _shell(f"{_NIGHTSHIFT} {command} > /dev/full")
    assert done.returncode == ExitCode.FAULT
    assert done.stderr == ("Error: The system does not let this go on: No space left on device.\n")


def test_a_reader_that_has_read_enough_is_no_news() -> None:
    many = """yes '{"expr": "@daily"}' | head -3000"""
    done = _shell(f"{many} | {_NIGHTSHIFT} next --batch - | head -1")
    assert done.stdout.startswith('{"next": [')
    assert done.stderr == ""


def test_closed_streams_are_as_if_nobody_reads_them() -> None:
    done = _shell(f"{_NIGHTSHIFT} next @daily >&- 2>&- <&-")
    assert done.returncode == ExitCode.OK


def test_what_the_terminal_cannot_show_does_not_end_the_command() -> None:
    done = _shell(f"PYTHONIOENCODING=latin-1 {_NIGHTSHIFT} next @daily --words --language zh")
    assert done.returncode == ExitCode.OK
    assert "?" in done.stdout.splitlines()[0]
