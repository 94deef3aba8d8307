"""The answers do not depend on the host: its zone, its zone files, its clock (SPEC section 5)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unit.schedule.golden import CASES

PROGRAM = """
import sys, zoneinfo
zoneinfo.ZoneInfo("America/Vancouver")  # another library may have loaded a host's zone before
from nightshift_toolkit.schedules import next_batch
sys.stdout.writelines(line + "\\n" for line in next_batch(sys.stdin))
print(len(zoneinfo.available_timezones()), zoneinfo.TZPATH)
"""


def answers(rows: str, **environment: str) -> list[str]:
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        input=rows,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return finished.stdout.splitlines()


@pytest.fixture(scope="module")
def sampled() -> str:
    """Some golden rows of every kind, and all of a zone that the program has loaded before."""
    rows = (CASES / "cron-golden.jsonl").read_text().splitlines(keepends=True)
    return "".join([*(row for row in rows if "America/Vancouver" in row), *rows[::13]])


@pytest.fixture(scope="module")
def usual(sampled: str) -> list[str]:
    """The answers as this host gives them."""
    return answers(sampled)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", ":UTC", "America/St_Johns", "nonsense"])
def test_the_zone_of_the_host_has_no_part_in_an_answer(
    zone: str, sampled: str, usual: list[str]
) -> None:
    """B37: whatever TZ says."""
    assert answers(sampled, TZ=zone) == usual


def test_hidden_zone_files_of_the_host_change_nothing(sampled: str, usual: list[str]) -> None:
    """B30: the pinned package is enough."""
    assert answers(sampled, PYTHONTZPATH="") == usual


def test_wrong_zone_files_of_the_host_change_nothing(
    tmp_path: Path, sampled: str, usual: list[str]
) -> None:
    """Section 5: the host's files never win, not even for a zone that is loaded already."""
    from importlib.resources import files  # noqa: PLC0415

    wrong = (files("tzdata") / "zoneinfo" / "Asia" / "Tokyo").read_bytes()
    for line in sampled.splitlines():
        name = line.partition('"zone": "')[2].partition('"')[0]
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(wrong)
    (tmp_path / "America").mkdir(exist_ok=True)
    (tmp_path / "America" / "Vancouver").write_bytes(wrong)
    assert answers(sampled, PYTHONTZPATH=str(tmp_path)) == usual
