"""How long each function takes to import, beside the libraries that any of its kind needs."""

import subprocess
import sys
from pathlib import Path
from typing import Final

FUNCTIONS: Final = Path(__file__).parents[2] / "functions"
BARE: Final = """
import boto3
from pydantic import BaseModel
from pynamodb.models import Model
class Body(BaseModel): name: str
"""
HANDLERS: Final = {
    path.parent.name: f"import {path.parent.name}.handler"
    for path in sorted(FUNCTIONS.glob("*/handler.py"))
}
_TIMED: Final = """
import sys, time
sys.path.insert(0, {path!r})
began = time.process_time()
{code}
print(time.process_time() - began)
"""


def import_seconds(rounds: int) -> dict[str, float]:
    """The shortest processor time of a fresh process for each import, taken in turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, code in {"bare": BARE, **HANDLERS}.items():
            script = _TIMED.format(path=str(FUNCTIONS), code=code)
            ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
            best[name] = min(best.get(name, 60.0), float(ran.stdout))
    return best
