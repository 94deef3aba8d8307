"""At which size the proofs run, and what they say they covered.

Coverage travels in the properties of the test reports, so that it adds up over several workers.
"""

import os
from collections import Counter
from collections.abc import Sequence

import pytest

SWITCH = "NIGHTSHIFT_PROOF"


def is_full() -> bool:
    """Whether everything is tried, which takes long, or a fair share of it."""
    return os.environ.get(SWITCH) == "full"


def say_what_was_covered(
    reporter: pytest.TerminalReporter, title: str, names: Sequence[str]
) -> None:
    """Add a line such as `crash: 951 crash points, 53 paths` to the end of the output."""
    sums: Counter[str] = Counter()
    for reports in reporter.stats.values():
        for report in reports:
            for name, number in getattr(report, "user_properties", ()):
                sums[name] += number if name in names and report.when == "call" else 0
    if any(sums.values()):
        counts = ", ".join(f"{sums[name]} {name}" for name in names)
        size = "full size" if is_full() else f"a share; all with {SWITCH}=full"
        reporter.write_line(f"{title}: {counts} ({size})")
