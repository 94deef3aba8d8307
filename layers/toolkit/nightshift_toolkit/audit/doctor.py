"""Reads a whole table, says which invariants are broken, and repairs what has one right answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import NightshiftError
from nightshift.domain.ports import Inspector
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift_toolkit.audit.executions import statuses
from nightshift_toolkit.audit.finding import Finding
from nightshift_toolkit.audit.invariants import check
from nightshift_toolkit.audit.repairs_of_notices import NoticeRepairs
from nightshift_toolkit.audit.repairs_of_runs import RunRepairs
from nightshift_toolkit.audit.repairs_of_tasks import TaskRepairs
from nightshift_toolkit.audit.snapshot import Snapshot
from nightshift_toolkit.audit.table import snapshot_of_table

Repair = Callable[[str], str | None]

PATIENCE = timedelta(minutes=10)
"""How long anything may be out of order before the clock must have put it right by itself."""
LONGEST_REPAIR = 3
"""How often the table is looked at and repaired: one repair may bring another to light."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What is examined, and the hands that repair it.

    `wait` lets the moment pass between two looks at a table that is in use.
    """

    table: Table
    inspector: Inspector
    lifecycle: Lifecycle
    clock: Callable[[], datetime]
    wait: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A finding that was put right, and what was done."""

    finding: Finding
    did: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found at first, what was repaired, what is left, and how much was examined."""

    found: Sequence[Finding]
    repaired: Sequence[Repaired]
    left: Sequence[Finding]
    examined: Mapping[str, int]

    @property
    def healthy(self) -> bool:
        """Whether nothing was found at all."""
        return not self.found


def run_doctor(
    patient: Patient,
    *,
    repair: bool = False,
    patience: timedelta = PATIENCE,
    limit: int | None = None,
) -> Report:
    """Examine a table that may be in use, and repair it if asked to.

    A table in use is never seen at one moment, so only what is broken in two looks is reported.
    Every repair is one conditional write: it does nothing if what it was decided on has changed,
    and dying between two of them leaves a table that can be examined and repaired again.

    Args:
        patient: the table and its state machine.
        repair: whether to write; otherwise nothing is written.
        patience: how long an end may be unrecorded and a launch unsettled.
        limit: runs that may be active; None leaves that out.
    """
    snapshot, found = _broken_twice(patient, patience, limit)
    left = found
    repaired: list[Repaired] = []
    for _ in range(LONGEST_REPAIR):
        done = _repair_all(patient, snapshot, left) if repair and left else []
        if not done:
            break
        repaired += done
        snapshot, left = _broken_twice(patient, patience, limit)
    return Report(found=found, repaired=repaired, left=left, examined=_sizes(snapshot))


def _broken_twice(
    patient: Patient, patience: timedelta, limit: int | None
) -> tuple[Snapshot, list[Finding]]:
    snapshot = _seen(patient, patience)
    found = check(snapshot, at_rest=True, limit=limit, swept=True)
    if not found:
        return snapshot, []
    patient.wait()
    snapshot = _seen(patient, patience)
    again = check(snapshot, at_rest=True, limit=limit, swept=True)
    return snapshot, [finding for finding in again if finding in found]


def _seen(patient: Patient, patience: timedelta) -> Snapshot:
    now = patient.clock()
    snapshot = snapshot_of_table(patient.table, now=now - patience)
    told = statuses(patient.inspector, snapshot, now, patience)
    return replace(snapshot, executions=told)


def _repair_all(
    patient: Patient, snapshot: Snapshot, findings: Sequence[Finding]
) -> list[Repaired]:
    repairs = _repairs(patient, snapshot)
    done: list[Repaired] = []
    for finding in findings:
        mend = repairs.get(finding.invariant)
        try:
            did = mend(finding.subject) if mend else None
        except NightshiftError:
            continue  # it is still broken, and so is reported as left
        if did is not None:
            done.append(Repaired(finding, did))
    return done


def _repairs(patient: Patient, snapshot: Snapshot) -> Mapping[str, Repair]:
    """Which repair answers which invariant; the others have no single right answer."""
    now = patient.clock()
    runs = RunRepairs(
        table=patient.table,
        inspector=patient.inspector,
        lifecycle=patient.lifecycle,
        snapshot=snapshot,
        now=now,
    )
    tasks = TaskRepairs(table=patient.table, snapshot=snapshot, now=now)
    notices = NoticeRepairs(table=patient.table, snapshot=snapshot)
    return {
        "slot_has_active_run": runs.settle_slot_of,
        "active_run_has_slot": runs.settle,
        "seats_are_held_by_active_runs": runs.free,
        "user_seats_are_held_by_active_runs": runs.free,
        "thread_locks_are_held_by_active_runs": runs.free,
        "slots_hold_all_their_keys": runs.take_missing_keys,
        "launches_are_settled": runs.settle,
        "ended_executions_are_recorded": runs.settle,
        "terminal_runs_are_dated": runs.date,
        "only_runs_at_work_are_paused": runs.let_go_on,
        "history_goes_with_its_task": runs.forget,
        "armed_tasks_have_a_next_time": tasks.plan,
        "idle_tasks_have_no_time": tasks.plan,
        "pauses_with_an_end_come_to_it": tasks.plan,
        "index_keys_are_right": tasks.plan,
        "active_run_ids_name_the_slot": tasks.name_active_run,
        "running_means_a_run": tasks.follow_run,
        "payloads_are_needed": tasks.drop_payload,
        "quotas_count_the_tasks": tasks.count,
        "logs_expire_after_their_task": tasks.let_log_expire,
        "notices_tell_what_happened": notices.withdraw,
    }


def _sizes(snapshot: Snapshot) -> Mapping[str, int]:
    return {
        "tasks": len(snapshot.tasks),
        "runs": len(snapshot.runs),
        "active": len(snapshot.slots),
        "unreadable": len(snapshot.unreadable),
    }
