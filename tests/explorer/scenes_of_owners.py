"""Owners who edit, pause and delete what is being started."""

from datetime import timedelta

from explorer.play import Play
from explorer.scene import ONCE, ONE, OTHER, asleep, lost, small, working


@small
def a_due_task_is_given_another_prompt() -> Play:
    """An edit meets an admission."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.patch("patch", task)
    return play


@small
def a_due_task_is_paused_and_resumed() -> Play:
    """A pause and a resumption meet an admission."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.pause("pause", task)
    play.resume("resume", task)
    return play


@small
def a_due_task_is_deleted() -> Play:
    """A deletion meets an admission and a trigger."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.delete("delete", task)
    return play


@small
def a_triggered_task_is_deleted() -> Play:
    """A deletion meets a trigger whose launch is refused."""
    play = Play()
    task = play.add(ONCE)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    play.delete("delete", task)
    return play


@small
def a_refused_trigger_meets_a_tick() -> Play:
    """A `once` task is put back as it was while the clock looks."""
    play = Play()
    task = play.add(ONCE)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    play.tick("tick")
    return play


@small
def a_running_task_is_edited_and_deleted() -> Play:
    """Past the fence a run needs nothing of its task."""
    play = Play()
    task = play.add(ONE)
    working(play, task)
    play.patch("patch", task)
    play.delete("delete", task)
    return play


@small
def a_running_task_is_paused_and_its_run_cancelled() -> Play:
    """One change and one cancellation, or neither, while the work ends by itself."""
    play = Play()
    task = play.add(ONE)
    working(play, task)
    play.pause("pause", task, cancel_active=True)
    return play


@small
def a_task_that_is_being_launched_is_deleted_and_its_run_cancelled() -> Play:
    """A run that is not yet launched is never launched, or stopped; nothing of it is left."""
    play = Play()
    task = play.add(ONE)
    lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.delete("delete", task, cancel_active=True)
    return play


@small
def a_task_wakes_while_two_ticks_look() -> Play:
    """One of them ends the pause, and what is due by then runs once."""
    play = Play()
    asleep(play, ONE)
    play.tick("tick")
    play.tick("other tick")
    return play


@small
def a_task_that_wakes_is_paused_anew_and_resumed() -> Play:
    """The end of a pause meets its owner, who has the last word."""
    play = Play()
    task = asleep(play, ONE)
    play.tick("tick")
    play.pause("pause", task)
    play.resume("resume", task)
    return play


@small
def a_single_time_that_wakes_is_triggered() -> Play:
    """Its one run consumes it, or a refused launch puts its pause back, whoever comes first."""
    play = Play()
    task = asleep(play, ONCE)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    play.tick("tick")
    return play


@small
def a_task_that_wakes_is_edited_and_deleted() -> Play:
    """The end of a pause meets an edit and a deletion."""
    play = Play()
    task = asleep(play, ONE)
    play.tick("tick")
    play.patch("patch", task)
    play.delete("delete", task)
    return play


@small
def a_due_task_is_explained_while_it_is_started() -> Play:
    """What is read at different moments of an admission makes no nonsense, and writes nothing."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.explain("explain", task)
    return play


@small
def all_tasks_are_paused_and_one_resumed_while_a_tick_looks() -> Play:
    """Each is a change of its own, whatever becomes of the others."""
    play = Play()
    play.add(ONE, OTHER)
    play.tick("tick")
    play.pause_all("pause", ONE.user_id)
    play.resume("resume", OTHER)
    return play
