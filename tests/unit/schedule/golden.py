"""The rows of `cases/`: cron questions with their right answers, and what must be refused."""

import json
from pathlib import Path
from typing import Any, Final

CASES: Final = Path(__file__).parent / "cases"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one file, in order."""
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


def lines(name: str) -> list[str]:
    """The same rows as text."""
    return (CASES / name).read_text().splitlines()
