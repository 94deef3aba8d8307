"""The paths on which notices come to be, and on which they reach their receivers."""

import builders
from crash.harness import Process, Stage
from crash.machine import FAILURE
from crash.paths import HOUR, Act, path, working_task
from listeners import Listener
from nightshift.domain.model.enums import SkipReason
from nightshift.domain.model.notify import Notify
from nightshift.domain.services.announcing import Announcing
from nightshift_toolkit.audit import Snapshot

TELLS = Notify(webhook="https://hooks.example/mine")


def announcing(process: Process, listener: Listener) -> Announcing:
    """Whoever delivers, in this process."""
    return Announcing(outbox=process.outbox, receivers=[listener], observe=process.events.append)


def told_once(stage: Stage, notice_id: str) -> None:
    """In the end this notice is on its way, once."""

    def afterwards(seen: Snapshot) -> list[str]:
        ids = [outgoing.notice.id for outgoing in seen.outbox]
        count = ids.count(notice_id)
        return [] if count == 1 else [f"{notice_id} is on its way {count} times, among {ids}"]

    stage.afterwards = afterwards


@path
def the_workflow_tells_a_failure_that_a_webhook_wants_to_hear_of(stage: Stage) -> Act:
    task = working_task(stage, notify=TELLS)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    told_once(stage, f"{run_id}.failed")
    return lambda: stage.machine.report(run_id, FAILURE)


@path
def the_clock_skips_an_overlap_that_a_webhook_wants_to_hear_of(stage: Stage) -> Act:
    task = working_task(stage, notify=TELLS)
    stage.pass_time(HOUR)
    tombstone = builders.tombstone(stage.others.read(task), SkipReason.OVERLAP)
    told_once(stage, f"{tombstone.id}.missed")
    return stage.victim.look


@path
def a_notice_is_delivered(stage: Stage) -> Act:
    task = working_task(stage, notify=TELLS)
    run_id = stage.run_of(task)
    stage.machine.report(run_id, FAILURE)
    listener = Listener()

    def afterwards(_: Snapshot) -> list[str]:
        later = stage.now + HOUR
        announcing(stage.others, listener).deliver_all(lambda: later, lambda: True)
        left = [outgoing.notice.id for outgoing in stage.snapshot().outbox]
        taken = listener.took[f"{run_id}.failed"]
        complaints = [f"{notice_id} is still on its way" for notice_id in left]
        return complaints + ([] if taken in (1, 2) else [f"it was taken {taken} times"])

    stage.afterwards = afterwards
    return lambda: announcing(stage.victim, listener).deliver(stage.now)
