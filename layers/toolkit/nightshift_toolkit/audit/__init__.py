"""The auditor: the invariants of a table, written once, and what finds where they are false."""

from nightshift_toolkit.audit.finding import Finding, Holds, Invariant
from nightshift_toolkit.audit.invariants import INVARIANTS, check
from nightshift_toolkit.audit.memory import snapshot_of_memory
from nightshift_toolkit.audit.snapshot import DueEntry, Holder, Snapshot
from nightshift_toolkit.audit.table import (
    snapshot_of_rows,
    snapshot_of_table,
    snapshot_without_index,
)

__all__ = [
    "INVARIANTS",
    "DueEntry",
    "Finding",
    "Holder",
    "Holds",
    "Invariant",
    "Snapshot",
    "check",
    "snapshot_of_memory",
    "snapshot_of_rows",
    "snapshot_of_table",
    "snapshot_without_index",
]
