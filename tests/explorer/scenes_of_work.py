"""Runs that are attempted again, paused and let go on, while others want something of them."""

from datetime import timedelta

import builders
from explorer.play import Play
from explorer.scene import launched, small, working
from explorer.worker import cast_worker
from nightshift.domain.model.enums import FailureClass, OverlapPolicy
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

TWICE = Retry(max_attempts=2, on=(FailureClass.NONZERO_EXIT, FailureClass.WORKER_LOST))
RETRYING = builders.task(builders.every(3600), number=11, retry=TWICE)
RETRYING_ONCE = builders.task(builders.once(builders.NOW + builders.HOUR), number=12, retry=TWICE)
RETRYING_OFTEN = builders.task(
    builders.every(60), number=13, retry=TWICE, overlap_policy=OverlapPolicy.CANCEL_PREVIOUS
)
PAUSABLE = builders.task(builders.every(3600), number=14)


def failing_first(play: Play, task: Task, *, lost: bool = False) -> Slot:
    """Let a task be at work on an attempt that will fail, with another to follow."""
    play.add(task)
    play.cloud.script.fails_first = {task.id: 1}
    play.cloud.script.lost = frozenset({task.id} if lost else ())
    return picked_up(play, task)


def picked_up(play: Play, task: Task) -> Slot:
    """Let a worker have a run of the task."""
    play.cloud.script.picked_up = frozenset({task.id})
    slot = working(play, task)
    play.step(f"execution {slot.run_id}")
    return slot


def at_second(play: Play, task: Task) -> Slot:
    """Let a task wait for its second attempt."""
    slot = failing_first(play, task)
    for _ in range(2):
        play.step(f"execution {slot.run_id}")
    return slot


@small
def a_run_is_attempted_again_and_cancelled() -> Play:
    """The stop comes before, in or after the failure, the record of it, the wait, the next work."""
    play = Play()
    slot = failing_first(play, RETRYING)
    play.cancel("cancel", RETRYING, slot.run_id)
    return play


@small
def a_lost_attempt_is_followed_while_its_task_is_paused() -> Play:
    """A pause of the task with its run cancelled."""
    play = Play()
    failing_first(play, RETRYING, lost=True)
    play.pause("pause", RETRYING, cancel_active=True)
    return play


@small
def a_run_is_attempted_again_while_its_task_is_paused_and_resumed() -> Play:
    """A pause of the task does not touch its run."""
    play = Play()
    failing_first(play, RETRYING)
    play.pause("pause", RETRYING)
    play.resume("resume", RETRYING)
    return play


@small
def a_run_is_attempted_again_while_its_task_is_deleted() -> Play:
    """The attempts go on; nothing of them is left."""
    play = Play()
    failing_first(play, RETRYING)
    play.delete("delete", RETRYING)
    return play


@small
def a_run_is_attempted_again_while_its_task_is_deleted_and_it_is_cancelled() -> Play:
    """It is stopped, wherever it is."""
    play = Play()
    failing_first(play, RETRYING)
    play.delete("delete", RETRYING, cancel_active=True)
    return play


@small
def a_run_is_attempted_again_while_it_is_verified() -> Play:
    """It is old, and runs: it is left alone, and its next occurrence is skipped or comes after."""
    play = Play()
    failing_first(play, RETRYING)
    play.now += builders.HOUR
    play.tick("tick")
    play.tick("other tick")
    return play


@small
def the_end_of_the_last_attempt_is_lost_and_verified() -> Play:
    """Nobody tells; a tick finds out."""
    play = Play()
    play.cloud.script.records = play.cloud.script.events = 0
    slot = at_second(play, RETRYING_ONCE)
    play.now += timedelta(minutes=10)
    play.tick("tick")
    play.cancel("cancel", RETRYING_ONCE, slot.run_id)
    return play


@small
def a_run_between_attempts_gives_way_to_the_next_occurrence() -> Play:
    """The next occurrence cancels it."""
    play = Play()
    at_second(play, RETRYING_OFTEN)
    play.now += builders.MINUTE
    play.tick("tick", verify=False)
    return play


@small
def a_run_between_attempts_is_cancelled() -> Play:
    """P7: no attempt follows a stop."""
    play = Play()
    slot = at_second(play, RETRYING)
    play.cancel("cancel", RETRYING, slot.run_id)
    return play


# -- cancellations in the other moments of a run's life --


@small
def a_run_before_its_fence_is_cancelled() -> Play:
    """P7: the request closes the fence, or the stop ends what passed it."""
    play = Play()
    slot = launched(play, play.add(RETRYING))
    play.cloud.script.picked_up = frozenset({RETRYING.id})
    play.cancel("cancel", RETRYING, slot.run_id)
    play.tick("tick")
    return play


@small
def a_run_that_nobody_has_picked_up_is_cancelled() -> Play:
    """P7: the worker meets a run that is over, or has it and loses it."""
    play = Play()
    play.add(RETRYING_ONCE)
    play.cloud.script.picked_up = frozenset({RETRYING_ONCE.id})
    slot = working(play, RETRYING_ONCE)
    play.cancel("cancel", RETRYING_ONCE, slot.run_id)
    play.now += timedelta(minutes=10)
    play.tick("tick")
    return play


@small
def a_run_that_stands_still_is_cancelled() -> Play:
    """P7: by two at once, while its worker looks again."""
    play = Play()
    slot = picked_up(play, play.add(PAUSABLE))
    play.pause_run("pause run", PAUSABLE, slot.run_id)
    play.stage.finish("pause run")
    cast_worker(play, "worker", slot, looks=2)
    for _ in range(3):
        play.step("worker")
    play.cancel("cancel", PAUSABLE, slot.run_id)
    play.cancel("other cancel", PAUSABLE, slot.run_id)
    return play


# -- pauses of runs --


@small
def a_run_is_paused_and_cancelled() -> Play:
    """Owner and worker, while the work ends by itself."""
    play = Play()
    slot = picked_up(play, play.add(PAUSABLE))
    play.pause_run("pause run", PAUSABLE, slot.run_id)
    cast_worker(play, "worker", slot, looks=1)
    play.cancel("cancel", PAUSABLE, slot.run_id)
    return play


@small
def a_run_is_paused_and_let_go_on() -> Play:
    """Two wishes, two looks of the worker, and the end of the work."""
    play = Play()
    slot = picked_up(play, play.add(PAUSABLE))
    play.pause_run("pause run", PAUSABLE, slot.run_id)
    play.resume_run("resume run", PAUSABLE, slot.run_id)
    cast_worker(play, "worker", slot, looks=2)
    return play


@small
def a_paused_run_loses_its_worker_and_is_attempted_again() -> Play:
    """The note of the lost worker's pause comes late; the wish is for the next attempt."""
    play = Play()
    slot = failing_first(play, RETRYING, lost=True)
    play.pause_run("pause run", RETRYING, slot.run_id)
    cast_worker(play, "worker", slot, looks=1)
    return play


@small
def a_paused_run_ends_unheard_and_is_verified() -> Play:
    """A tick ends the run whose worker notes a pause."""
    play = Play()
    play.cloud.script.records = play.cloud.script.events = 0
    slot = picked_up(play, play.add(PAUSABLE))
    play.now += timedelta(minutes=10)
    play.pause_run("pause run", PAUSABLE, slot.run_id)
    cast_worker(play, "worker", slot, looks=1)
    play.tick("tick")
    return play


@small
def a_run_is_paused_while_its_task_is_deleted() -> Play:
    """Nothing is left of it."""
    play = Play()
    slot = picked_up(play, play.add(PAUSABLE))
    play.pause_run("pause run", PAUSABLE, slot.run_id)
    cast_worker(play, "worker", slot, looks=1)
    play.delete("delete", PAUSABLE)
    return play
