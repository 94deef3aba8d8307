"""What each path takes of AWS: calls, and read and write units.

The calls and units of the table are held against a real engine by the tests of the paths, the
transitions against the workflow's definition. What is assumed and not measured says so.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Path:
    """Calls by operation, and the units that they take of the table."""

    calls: Mapping[str, int] = field(default_factory=dict)
    reads: float = 0.0
    writes: float = 0.0

    def __add__(self, other: "Path") -> "Path":
        """One after the other."""
        calls = dict(Counter(self.calls) + Counter(other.calls))
        return Path(calls, self.reads + other.reads, self.writes + other.writes)


IDLE_LOOK: Final = Path({"GetItem": 1, "Query": 11}, reads=7)
"""The policy, the slots, and the line of each of the ten priorities; per shard more."""

FINISHED_SWEEP: Final = Path({"GetItem": 1}, reads=1)
"""What each tick asks of newer zone rules."""

BATCHED_READS: Final = Path({"BatchGetItem": 2}, reads=2)
"""Tasks and prompts, up to a hundred with one call each; the units are those of one task."""

ADMISSION: Final = Path({"TransactWriteItems": 1}, writes=10)
"""Slot, run, task and seat, each twice since it is a transaction, and the entry of the index."""

START: Final = Path({"StartExecution": 1})

END_OF_RUN: Final = Path({"GetItem": 1, "TransactWriteItems": 1}, reads=1, writes=8)
"""Run, slot, seat and task; a result of more than a few hundred bytes adds 2 for each KiB."""

FENCE: Final = Path(writes=4)
"""Slot and run, in the transaction that the workflow does itself."""

PICKUP: Final = Path(writes=1)
"""The worker's conditional write on the run."""

HEARTBEAT: Final = Path(reads=1)
"""The worker reads the run's row with each; the heartbeat itself costs nothing."""

TRIGGER: Final = Path(
    {"GetItem": 3, "Query": 1, "TransactWriteItems": 1, "StartExecution": 1}, reads=4, writes=8
)
"""By hand: policy, task, prompt and slots; the entry of the index stays as it is."""

CREATION: Final = Path({"GetItem": 1, "TransactWriteItems": 1}, reads=1, writes=9)
"""Task, prompt, quota and change log, and the entry of the index."""

STATES_OF_A_SUCCESS: Final = (
    "Fence",
    "Work",
    "AttemptReported",
    "RecordReport",
    "Outcome",
    "Result",
    "Succeeded",
)
"""The states that a run enters which succeeds at its first attempt; each is a transition."""

HEARTBEAT_SECONDS: Final = 10

# -- assumed, not measured --

QUEUE_REQUESTS_OF_A_RUN: Final = 3
"""The message is sent, received and deleted; polling an empty queue comes on top."""
LONG_POLL_SECONDS: Final = 20
TICK_GB_SECONDS: Final = 0.10
"""13 calls of 5 ms one after the other and the processor time of a look, at 1 GB."""
START_GB_SECONDS: Final = 0.04
"""One run alone in its tick: its reads, its admission and its start, at 1 GB."""
END_GB_SECONDS: Final = 0.02
"""Two calls of 5 ms and the processor time of a completion, at half a GB."""
REQUEST_GB_SECONDS: Final = 0.05
"""A few calls and the processor time of a request to the API, at 1 GB."""
LOGGED_BYTES_OF_A_RUN: Final = 2500
"""Two lines and their metrics."""
LOGGED_BYTES_OF_A_TICK: Final = 1500
