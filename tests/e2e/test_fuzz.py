"""The OpenAPI document is true: whatever is sent, the answer is one that it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

from e2e.place import Place

CASES = os.environ.get("NIGHTSHIFT_FUZZ_CASES", "1")
"""Random requests per operation and phase; `make fuzz` asks for several thousand in all."""
SEED = os.environ.get("NIGHTSHIFT_FUZZ_SEED", "1")
CONFIG = Path(__file__).with_name("schemathesis.toml")


def test_no_answer_is_a_fault_or_undocumented(place: Place) -> None:
    """SPEC section 7: every check of schemathesis, on every operation of the document."""
    schemathesis = Path(sys.executable).with_name("schemathesis")
    url = place.cloud.api_url
    command = [str(schemathesis), "--config-file", str(CONFIG), "run", f"{url}/api/openapi.json"]
    options = ["--checks", "all", "--max-examples", CASES, "--seed", SEED, "--no-color"]
    signed_in = ["--header", f"Authorization: Bearer {place.cloud.mint_token('fuzz')}"]
    try:
        told = subprocess.run(
            [*command, *options, *signed_in],
            cwd=place.cloud.state_dir,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        place.take_back_limits()
    assert told.returncode == 0, told.stdout[-8000:] + told.stderr[-2000:]
    passed = re.search(r"[0-9]+ generated, ([0-9]+) passed", told.stdout)
    assert passed is not None
    print(passed[0])
    assert int(passed[1]) > 1000
