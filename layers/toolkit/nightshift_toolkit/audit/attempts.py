"""Invariants of what the workflow and the worker write on a run's record (SPEC section 8)."""

from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.retry import MAX_ATTEMPTS
from nightshift.domain.model.run import Run
from nightshift_toolkit.audit.finding import Broken, always
from nightshift_toolkit.audit.snapshot import Snapshot


@always
def attempts_are_in_order(snapshot: Snapshot) -> Broken:
    """The failed attempts of a run are numbered from one on, in time, and the latest follows."""
    for run in snapshot.runs:
        numbers = [failed.attempt for failed in run.attempts] + [run.attempt]
        if numbers != list(range(1, len(numbers) + 1)):
            yield run.id, f"its attempts are numbered {numbers}"
        ends = [failed.finished_at for failed in run.attempts]
        if ends != sorted(ends):
            yield run.id, f"its attempts ended at {', '.join(map(str, ends))}"


@always
def attempts_are_allowed(snapshot: Snapshot) -> Broken:
    """No run was attempted more often than its task allowed when it was admitted."""
    for run in snapshot.runs:
        slot, allowed = snapshot.slot_of_run.get(run.id), MAX_ATTEMPTS
        if slot is not None:
            allowed = slot.retry.max_attempts if slot.retry else 1
        if run.attempt > allowed:
            yield run.id, f"it is at attempt {run.attempt} of {allowed}"


@always
def pickups_are_of_attempts(snapshot: Snapshot) -> Broken:
    """A worker had every attempt that another followed, perhaps the latest, and none before work.

    The fence stands before the first pickup.
    """
    for run in snapshot.runs:
        picked_up = run.picked_up_attempt or 0
        if picked_up not in (run.attempt - 1, run.attempt):
            yield run.id, f"attempt {run.attempt}, picked up {run.picked_up_attempt}"
        elif picked_up and run.started_at is None:
            yield run.id, f"it never began and attempt {picked_up} was picked up"


@always
def only_runs_at_work_are_paused(snapshot: Snapshot) -> Broken:
    """Only a run at work whose worker can pause it is asked to, and is paused."""
    for run in snapshot.runs:
        if run.pause_requested and not may_be_asked_to_pause(run):
            yield run.id, f"it is {run.status} and asked to pause"
        if run.paused_at is not None and not may_be_paused(run):
            yield run.id, f"it is {run.status} and paused since {run.paused_at}"
        if run.paused_seconds and run.picked_up_attempt is None:
            yield run.id, f"no worker had it and it was paused for {run.paused_seconds} s"


def may_be_asked_to_pause(run: Run) -> bool:
    """Whether a wish for a pause may stand on the record; it outlives an attempt that failed."""
    return run.status is RunStatus.RUNNING and run.can_pause


def may_be_paused(run: Run) -> bool:
    """Whether there is a worker that may have paused the run."""
    return may_be_asked_to_pause(run) and run.picked_up_attempt == run.attempt


ABOUT_ATTEMPTS = (
    attempts_are_in_order,
    attempts_are_allowed,
    pickups_are_of_attempts,
    only_runs_at_work_are_paused,
)
