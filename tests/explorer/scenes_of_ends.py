"""The ends of runs, told twice, late or never, and cancelled meanwhile."""

from datetime import timedelta

import builders
from explorer.play import Play
from explorer.scene import (
    CANCELLING,
    CURIOUS,
    IMPATIENT,
    IN_SAME_THREAD,
    IN_THREAD,
    OFTEN,
    ONCE,
    ONE,
    QUEUING,
    small,
    working,
)


@small
def a_completion_comes_twice_while_the_next_is_due() -> Play:
    """The record step, its repetition, and a tick that wants the task again."""
    play = Play()
    task = play.add(OFTEN)
    play.cloud.script.records = 2
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick")
    return play


@small
def a_completion_is_lost_and_the_next_is_due() -> Play:
    """Nobody tells the end; two ticks verify it."""
    play = Play()
    task = play.add(ONE)
    play.cloud.script.records = play.cloud.script.events = 0
    working(play, task)
    play.now += builders.HOUR
    play.tick("tick")
    play.tick("other tick")
    return play


@small
def a_failure_is_told_while_the_task_is_deleted() -> Play:
    """The record step and the status change tell one end, and the task goes."""
    play = Play()
    task = play.add(ONE)
    play.cloud.script.failing = frozenset({task.id})
    working(play, task)
    play.delete("delete", task)
    return play


@small
def the_last_failure_is_told_twice_while_the_next_is_due() -> Play:
    """The failure that pauses a task, its repetition, and a tick that wants the task again."""
    play = Play()
    task = play.add(IMPATIENT)
    play.cloud.script.failing = frozenset({task.id})
    play.cloud.script.records = 2
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick")
    return play


@small
def the_last_failure_meets_its_owner() -> Play:
    """The failure that pauses a task, while its owner pauses and resumes it."""
    play = Play()
    task = play.add(IMPATIENT)
    play.cloud.script.failing = frozenset({task.id})
    working(play, task)
    play.pause("pause", task)
    play.resume("resume", task)
    return play


@small
def the_last_failure_meets_another_number() -> Play:
    """The failure that pauses a task, while its owner wants it to go on failing."""
    play = Play()
    task = play.add(IMPATIENT)
    play.cloud.script.failing = frozenset({task.id})
    working(play, task)
    play.patch("patch", task, pause_after_failures=None)
    return play


@small
def a_success_is_told_twice_while_the_next_run_wants_its_result() -> Play:
    """The record step, its repetition, a tick and a trigger that want the task again."""
    play = Play()
    task = play.add(CURIOUS)
    play.cloud.script.records = 2
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@small
def a_success_meets_an_owner_who_wants_no_more_results() -> Play:
    """The end of a run, an edit, and a trigger."""
    play = Play()
    task = play.add(CURIOUS)
    working(play, task)
    play.patch("patch", task, include_previous_result=False)
    play.trigger("trigger", task)
    return play


@small
def a_running_run_is_cancelled() -> Play:
    """A cancellation meets the end of the work."""
    play = Play()
    task = play.add(ONE)
    slot = working(play, task)
    play.cancel("cancel", task, slot.run_id)
    return play


@small
def a_running_once_task_is_cancelled_and_verified() -> Play:
    """A cancellation meets a tick that verifies and the end of the work."""
    play = Play()
    task = play.add(ONCE)
    slot = working(play, task)
    play.now += timedelta(minutes=10)
    play.cancel("cancel", task, slot.run_id)
    play.tick("tick")
    return play


@small
def a_once_task_ends_while_it_is_triggered_again() -> Play:
    """A trigger whose launch is refused puts back what it found, not what it had read before."""
    play = Play()
    task = play.add(ONCE)
    working(play, task)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    return play


@small
def a_thread_is_held_by_a_run_whose_end_nobody_heard() -> Play:
    """The holder of a thread is verified before an occurrence is skipped because of it."""
    play = Play()
    task = play.add(IN_THREAD)
    play.cloud.script.records = play.cloud.script.events = 0
    working(play, task)
    play.now += timedelta(minutes=30)
    play.trigger("trigger", play.add(IN_SAME_THREAD))
    return play


@small
def an_occurrence_waits_for_the_end_of_the_run_before_it() -> Play:
    """The record step, its repetition, and two ticks that want the occurrence which waits."""
    play = Play()
    task = play.add(QUEUING)
    play.cloud.script.records = 2
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick", verify=False)
    play.tick("other tick", verify=False)
    return play


@small
def an_occurrence_cancels_the_run_before_it() -> Play:
    """A tick stops what another wants to verify, while the work ends by itself."""
    play = Play()
    task = play.add(CANCELLING)
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick", verify=False)
    return play


@small
def an_occurrence_cancels_the_run_before_it_and_its_task_is_deleted() -> Play:
    """Nothing is left of either run."""
    play = Play()
    task = play.add(CANCELLING)
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick", verify=False)
    play.delete("delete", task)
    return play
