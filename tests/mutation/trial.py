"""Runs the tests on broken code, in a process of their own."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass

from mutation.breaks import ROOT, Break, Suite
from mutation.plugin import SWITCH

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)
PATIENCE = 600
"""Seconds after which tests that hang on broken code are ended; a hang finds it out as well."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which test found a break out; None when it survived."""

    caught_by: str | None
    output: str = ""


def untouched(suite: Suite) -> Verdict:
    """Run one suite on the code as it is."""
    return _run(None, suite)


def tried(broken: Break) -> Verdict:
    """Run the suites that are to find a break out until one does."""
    output = ""
    for suite in broken.suites:
        verdict = _run(broken, suite)
        if verdict.caught_by is not None:
            return verdict
        output += verdict.output
    return Verdict(None, output)


def _run(broken: Break | None, suite: Suite) -> Verdict:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "mutation.plugin", "--tb=no"]
    environment = {
        **os.environ,
        "NIGHTSHIFT_PROOF": "share",
        "PYTHONPATH": str(ROOT / "tests"),
    }
    if broken is not None:
        environment[SWITCH] = broken.name
    try:
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", *suite],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Verdict(f"{suite[0]} (never ends)")
    found = _FAILED.search(done.stdout)
    if done.returncode == 1 and found:
        return Verdict(found[1])
    if done.returncode == 0:
        return Verdict(None, done.stdout)
    raise AssertionError(f"{broken}: the tests did not run\n{done.stdout}{done.stderr}")
