"""What the rules say of a due occurrence, by what was read; dispatch does it, explanations tell it.

Every rule is asked here, by both, in the order of `Rule`. What depends on Step Functions is left to
dispatch: an old holder may turn out to have ended, and then its ruling falls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from nightshift.domain.exchanged import AdmissionAnswer
from nightshift.domain.model.enums import OverlapPolicy, Rule, SkipReason
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.services.admission import forbidden

PAYLOAD_MISSING: Final = "The task's prompt or command is missing."


class Act(Enum):
    """What is to be done about an occurrence that does not start."""

    LEAVE = "leave"  # nothing: it stays due, or is somebody else's
    BLOCK = "block"  # take the task out of the line, with the reason shown (P20)
    SKIP = "skip"  # write its tombstone, unless what holds its key turns out to have ended
    CANCEL_HOLDER = "cancel_holder"  # cancel the run before it, and leave it until that has ended
    ADVANCE = "advance"  # go on to the next time: it has its record


@dataclass(frozen=True, slots=True)
class Ruling:
    """The word of the rule that decides; `reason` is a code, for a block a sentence."""

    rule: Rule
    act: Act
    reason: str


@dataclass(frozen=True, slots=True)
class Due:
    """A task that may be due, as read for this look, with the slot that was seen on it."""

    task: Task
    payload: Payload | None
    holder: Slot | None


Word = Callable[[Due, Policy, datetime], Ruling | None]


def _permission(due: Due, policy: Policy, _now: datetime) -> Ruling | None:
    said = forbidden(due.task, policy)
    return Ruling(Rule.PERMISSION, Act.BLOCK, said) if said else None


def _payload(due: Due, _policy: Policy, _now: datetime) -> Ruling | None:
    if due.payload is not None:
        return None
    return Ruling(Rule.PAYLOAD, Act.BLOCK, PAYLOAD_MISSING)


def _lateness(due: Due, _policy: Policy, now: datetime) -> Ruling | None:
    if not due.task.is_too_late(now, due.task.folded(now)):
        return None
    return Ruling(Rule.LATENESS, Act.SKIP, SkipReason.TOO_LATE)


BEFORE_KEYS: Final[tuple[tuple[Rule, Word], ...]] = (
    (Rule.PERMISSION, _permission),
    (Rule.PAYLOAD, _payload),
    (Rule.LATENESS, _lateness),
)
"""What is asked of a due occurrence before any key of its run."""


def before_keys(due: Due, policy: Policy, now: datetime) -> Iterator[tuple[Rule, Ruling | None]]:
    """The rules that come before the keys, each with its word, up to the one that decides."""
    for rule, word in BEFORE_KEYS:
        ruling = word(due, policy, now)
        yield rule, ruling
        if ruling is not None:
            return


def on_key(task: Task, answer: AdmissionAnswer) -> Ruling:
    """What becomes of an occurrence that does not get one of its keys, whoever found that out.

    The fast look at a taken slot and the refused transaction both end here, so they cannot differ.
    One that waits stays due and holds nothing: whatever ends the run lets the next look admit it,
    and a crash in between changes nothing (P13).
    """
    match answer:
        case AdmissionAnswer.OVERLAP:
            return _on_overlap(task)
        case AdmissionAnswer.THREAD_BUSY:
            return Ruling(Rule.THREAD, Act.SKIP, SkipReason.THREAD_BUSY)
        case AdmissionAnswer.RECORDED:
            return Ruling(Rule.RECORD, Act.ADVANCE, "recorded")
        case AdmissionAnswer.TAKEN_ELSEWHERE:
            return Ruling(Rule.OVERLAP, Act.LEAVE, answer.value)
        case _:
            return Ruling(Rule.RECORD, Act.LEAVE, answer.value)


def _on_overlap(task: Task) -> Ruling:
    match task.definition.overlap_policy:
        case OverlapPolicy.QUEUE_ONE:
            return Ruling(Rule.OVERLAP, Act.LEAVE, "waiting_for_previous")
        case OverlapPolicy.CANCEL_PREVIOUS:
            return Ruling(Rule.OVERLAP, Act.CANCEL_HOLDER, "cancelling_previous")
        case OverlapPolicy.SKIP:
            return Ruling(Rule.OVERLAP, Act.SKIP, SkipReason.OVERLAP)
