"""Every invariant of a table, once, for all who check: tests, proofs, `nightshift doctor`."""

from nightshift_toolkit.audit.attempts import ABOUT_ATTEMPTS
from nightshift_toolkit.audit.finding import Finding, Holds, Invariant
from nightshift_toolkit.audit.keys_held import ABOUT_KEYS
from nightshift_toolkit.audit.notices import ABOUT_NOTICES
from nightshift_toolkit.audit.records import ABOUT_RECORDS
from nightshift_toolkit.audit.snapshot import Snapshot
from nightshift_toolkit.audit.tasks_stored import ABOUT_TASKS

INVARIANTS: tuple[Invariant, ...] = (
    *ABOUT_KEYS,
    *ABOUT_RECORDS,
    *ABOUT_ATTEMPTS,
    *ABOUT_TASKS,
    *ABOUT_NOTICES,
)

WITHIN_BUDGET = "runs_are_within_the_budget"


def check(
    snapshot: Snapshot, *, at_rest: bool, limit: int | None = None, swept: bool = False
) -> list[Finding]:
    """Every place where an invariant does not hold, in order.

    Args:
        snapshot: the table at one moment.
        at_rest: whether nobody is at work, so that what may lag has to have caught up.
        limit: runs that may be active (P14); None where it was lowered and still drains.
        swept: whether what a death left has been cleared away.
    """
    required = {Holds.ALWAYS: True, Holds.AT_REST: at_rest, Holds.SWEPT: swept}
    findings = [
        finding
        for invariant in INVARIANTS
        if required[invariant.holds]
        for finding in invariant.findings(snapshot)
    ]
    active = len(snapshot.slots)
    if limit is not None and active > limit:
        findings.append(Finding(WITHIN_BUDGET, "budget", f"{active} of {limit} runs are active"))
    return sorted(findings)
