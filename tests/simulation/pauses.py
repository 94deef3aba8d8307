"""Owners who have runs at work stand still and go on."""

from explorer.stage import Death
from nightshift.domain.commands import PauseRun, ResumeRun
from nightshift.domain.errors import PersistenceUncertain, RunNotPausable, StorageUnavailable
from nightshift.domain.model.enums import RunStatus
from simulation.judge import Wrong
from simulation.life import Life

UNCERTAIN = (PersistenceUncertain, StorageUnavailable, Death)


def ask_for_a_pause(life: Life) -> None:
    """Ask for some active run to be paused or to go on; it is done or refused as it should be."""
    slots = [s for s in life.rows.slots().values() if s.task_id in life.judge.expected]
    if not slots:
        return
    slot = life.random.choice(slots)
    run = life.rows.runs_of(slot.task_id)[slot.run_id]
    facts = (slot.keys.user_id, slot.task_id, slot.run_id)
    wanted = life.random.random() < 0.6
    allowed = run.status is RunStatus.RUNNING and run.picked_up_attempt is not None
    lifecycle = life.lifecycle
    failure = life.tried(
        lambda: (
            lifecycle.pause_run(PauseRun(*facts))
            if wanted
            else lifecycle.resume_run(ResumeRun(*facts))
        )
    )
    refused = isinstance(failure, RunNotPausable)
    certain = not isinstance(failure, UNCERTAIN)
    if certain and (refused == allowed or not (refused or failure is None)):
        raise Wrong(f"a wish for {slot.run_id} gave {failure!r}, allowed: {allowed}")
    now = life.rows.runs_of(slot.task_id)[slot.run_id]
    if failure is None and now.pause_requested is not wanted:
        raise Wrong(f"{slot.run_id} was asked to pause: {wanted}, and its record says otherwise")
    if allowed:
        life.executions.workers.look_soon(life.executions.made[slot.run_id])
