"""What Step Functions says of the runs of a snapshot, as far as it can be held against them."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from nightshift.domain.ports import Inspector
from nightshift_toolkit.audit.snapshot import RUNNING, Snapshot


def statuses(
    inspector: Inspector, snapshot: Snapshot, now: datetime, patience: timedelta
) -> Mapping[str, str | None]:
    """The status of every execution that runs, and of the one of every active run.

    What may still be put right by itself is left out: an end that is younger than `patience`, and
    an execution that is not there although its launch may still be repeated.
    """
    running = inspector.running()
    found: dict[str, str | None] = dict.fromkeys(running, RUNNING)
    active = {run.id for run in snapshot.runs if run.status.active}
    for run_id in sorted((active | snapshot.slot_of_run.keys()) - running):
        execution = inspector.describe(run_id, now)
        if execution is None:
            slot = snapshot.slot_of_run.get(run_id)
            if slot is None or slot.launch_is_over(now - patience):
                found[run_id] = None
        elif execution.outcome is None:
            found[run_id] = RUNNING
        elif execution.outcome.finished_at <= now - patience:
            found[run_id] = f"ended as {execution.outcome.outcome}"
    return found
