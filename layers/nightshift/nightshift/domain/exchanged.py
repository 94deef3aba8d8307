"""The values that the ports take and answer with: what was asked, found and decided."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Generic, TypeVar

from nightshift.domain.model.enums import Outcome, TaskStatus
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.slot import Keys, Overwritten, Slot
from nightshift.domain.model.streak import Streak
from nightshift.domain.model.task import Plan, Task


@dataclass(frozen=True, slots=True)
class TaskRef:
    """The address of a task row."""

    user_id: str
    task_id: str


@dataclass(frozen=True, slots=True)
class DueHint:
    """An entry of the due index: perhaps stale, never a decision.

    `wakes` says that a pause ends at that time, not that an occurrence is due.
    """

    ref: TaskRef
    priority: int
    due_at: datetime
    wakes: bool = False

    @property
    def place(self) -> tuple[int, datetime, bool, str]:
        """Where in the line it stands: by priority, by time, who wakes first, by id (P14)."""
        return (-self.priority, self.due_at, not self.wakes, self.ref.task_id)


@dataclass(frozen=True, slots=True)
class DueLine:
    """The line of due tasks: its beginning of each bucket, and the whole of it in order."""

    first: Sequence[DueHint]
    hints: Iterator[DueHint]


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation that exists and belongs to one user."""

    id: str
    user_id: str
    created_at: datetime


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list, in order; `next` is None on the last page.

    `corrupt` names the rows that were passed over because they cannot be read.
    """

    items: Sequence[Item]
    next: str | None = None
    corrupt: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CorruptTask:
    """A task row that cannot be read, and why."""

    ref: TaskRef
    reason: str


class AdmissionAnswer(Enum):
    """How the table answered an admission, read by position with the slot first (K4)."""

    ADMITTED = "admitted"  # all keys are ours, also when the first answer was lost
    TAKEN_ELSEWHERE = "taken_elsewhere"  # the same run under another nonce: somebody is at it
    OVERLAP = "overlap"  # another run of this task holds the slot
    RECORDED = "recorded"  # the slot is free but this occurrence already has its record
    CHANGED = "changed"  # the task is no longer as seen
    SEAT_TAKEN = "seat_taken"  # another seat may be free
    USER_SEAT_TAKEN = "user_seat_taken"  # the same, of the user's own seats
    THREAD_BUSY = "thread_busy"  # another run holds the thread
    REPEATED = "repeated"  # its idempotency key was used before, which is told before all else


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """All that one admission writes, and the task it was decided on (K3).

    The idempotency `key` of a trigger is taken together with the keys of its run.
    """

    slot: Slot
    run: Run
    seen: Task
    plan: Plan | None  # None leaves the task's times and status alone (a manual recurring run)
    key: UsedKey | None = None


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """The answer, and what stands in the way: another slot, or the run that holds the thread."""

    answer: AdmissionAnswer
    holder: Slot | None = None
    thread_held_by: str | None = None
    used: UsedKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What the end of a run writes on its task, if the task still names that run (K6).

    `status` None leaves the status alone. What the task shows of its last run is all of this one:
    `last_run_at` is None when it never started. A failure shows its `error`, a success clears the
    last one and is the last success, an interrupted run leaves both. With a `streak` a failure adds
    one to the failures in a row and a success sets them to none; the failure that the streak says
    so of pauses the task.
    """

    outcome: Outcome
    status: TaskStatus | None
    last_run_at: datetime | None
    last_thread_id: str | None
    error: str | None
    streak: Streak | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A manual launch was refused: the task becomes as it was, its count of runs included.

    `restore` is None for a recurring task, whose status and times the admission left alone.
    """

    restore: Overwritten | None


Verdict = Ended | Undone


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One run's end: its record, the keys it gives back, the word for its task and for others."""

    outcome: RunOutcome
    keys: Keys
    payload_revision: int | None
    verdict: Verdict
    notices: tuple[Outgoing, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletionAnswer:
    """`recorded` says that this call made the run terminal; repeating it changes nothing."""

    recorded: bool


class LaunchAnswer(Enum):
    """What is known after asking for an execution."""

    LAUNCHED = "launched"  # it exists: started now, or already under this name
    REFUSED = "refused"  # it does not and never will: this input cannot be launched
    UNKNOWN = "unknown"  # it may exist: time-out, 5xx, throttled


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """The answer, and the reason where it is not `LAUNCHED`."""

    answer: LaunchAnswer
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """What Step Functions says of one execution; `outcome` is None while it runs."""

    outcome: RunOutcome | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something an operator may want to know; ids and numbers only, never prompts.

    `action` is one of the words of `observability.py`.
    """

    action: str
    facts: Mapping[str, object] = field(default_factory=dict)
    error: BaseException | None = None


Observe = Callable[[Event], None]
"""Tells the operator; called from several threads."""
