"""The bench runs, and what it says of memory holds; times are for the bench alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.growth import peak_of_a_look

TESTS = Path(__file__).parents[1]
FLAT = 1.25


def test_a_small_bench_writes_its_table_and_its_chart(tmp_path: Path) -> None:
    """Whatever it measures: a missed target is told, and is no failure of this test."""
    sizes = ["--tasks", "40", "--real-tasks", "5", "--rounds", "1", "--folder", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "bench", *sizes],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.stderr == ""
    table = (tmp_path / "report.md").read_text()
    for row in (
        "40 due at once",
        "idle look",
        "memory",
        "cold import of `tick`",
        "5 started",
        "| admission |",
    ):
        assert row in table
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


def test_a_look_holds_as_much_with_ten_thousand_due_as_with_a_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line is read as it is used, and batch by batch is forgotten."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "POWERTOOLS_SERVICE_NAME"):
        monkeypatch.setenv(name, "bench")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    few = peak_of_a_look(due=100, launches=100)
    many = peak_of_a_look(due=10_000, launches=250)
    assert many / few < FLAT
