"""The crash points of a path: every call it makes, and everything that can happen to that call."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from crash.aftermath import AFTER_THE_LEASE, Aftermath
from crash.faults import Fate, Fault
from crash.harness import Stage, acted
from crash.paths import Path

READS_MEET = (Fault.DIES_BEFORE, Fault.UNREACHABLE)
"""What is tried on reads when not everything is: after a read is before the next call."""


@dataclass(frozen=True, slots=True)
class Point:
    """One call of a path, by its place, and what happens to it."""

    place: int
    call: str
    fault: Fault

    def __str__(self) -> str:
        return f"call {self.place} ({self.call}): {self.fault}"


def unharmed(stage: Stage, path: Path) -> tuple[list[str], list[str]]:
    """The AWS calls that the path makes when nothing happens, and what is wrong even then."""
    complaints = complaints_after(stage, path, None)
    calls = stage.calls
    assert calls, f"{path.name} makes no call"
    return calls, complaints


def points_of(calls: list[str], *, every: bool) -> Iterator[Point]:
    """All crash points of a path with these calls, or those that differ in kind."""
    for place, call in enumerate(calls):
        repeated = place > 0 and calls[place - 1] == call and _is_read(call)
        if repeated and not every:
            continue
        for fault in Fault:
            if fault.can_meet(call) and (every or not _is_read(call) or fault in READS_MEET):
                yield Point(place, call, fault)


def _is_read(call: str) -> bool:
    operation = call.partition(".")[2]
    return operation.endswith(("GetItem", "Query")) or operation in (
        "DescribeExecution",
        "ListExecutions",
    )


def complaints_after(stage: Stage, path: Path, *points: Point | None) -> list[str]:
    """What is wrong in the end when the path meets the first point and later ticks the others.

    Without a point nothing happens to the path.
    """
    stage.reset()
    act = path.arrange(stage)
    first = points[0]
    stage.victim.fate = Fate(first.fault, first.place) if first else Fate()
    acted(act)
    met = first is None or stage.victim.fate.met
    stage.calls = stage.victim.fate.calls
    for point in points[1:]:
        _die_in_a_tick(stage, point)
    stage.victim.fate.dead = True
    stage.machine.record = stage.others.record_step
    if stage.mends:
        stage.machine.refusals.clear()
    if stage.repeat is not None:
        acted(stage.repeat)
    aftermath = Aftermath(stage)
    if not met:
        aftermath.complaints.append("the call was not made")
    aftermath.settle()
    return aftermath.complaints


def _die_in_a_tick(stage: Stage, point: Point | None) -> None:
    """Let a tick that comes when the lease is over die as well."""
    stage.pass_time(timedelta(seconds=AFTER_THE_LEASE))
    stage.machine.begin()
    stage.victim.build(stage.victim.policy)
    stage.victim.fate = Fate(point.fault, point.place) if point else Fate()
    acted(stage.victim.look)
