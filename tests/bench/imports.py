"""How long each function takes to import, beside the libraries that any of its kind needs.

All are read from bytecode that the first round has written, apart from the tree: what is measured
is loading, not compiling, for our modules as for those that an installer had compiled.
"""

import os
import subprocess
import sys
import tempfile
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
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(rounds + 1):
            for name, code in {"bare": BARE, **HANDLERS}.items():
                script = _TIMED.format(path=str(FUNCTIONS), code=code)
                command = [sys.executable, "-c", script]
                ran = subprocess.run(command, capture_output=True, check=True, env=environment)
                best[name] = min(best.get(name, 60.0), float(ran.stdout))
    return best
