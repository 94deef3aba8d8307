"""Launches whose answers are lost, and which arrive after all."""

from datetime import timedelta

import builders
from explorer.play import Play
from explorer.scene import ONE, lost, small


@small
def a_lost_launch_is_recovered_and_arrives() -> Play:
    """Two ticks recover the same launch, and its first try arrives after all."""
    play = Play()
    task = play.add(ONE)
    lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.tick("other tick")
    return play


@small
def a_lost_launch_is_cancelled_and_arrives() -> Play:
    """A launch under way is cancelled, recovered and late."""
    play = Play()
    task = play.add(ONE)
    slot = lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.cancel("cancel", task, slot.run_id)
    return play


@small
def a_launch_arrives_when_its_deadline_is_over() -> Play:
    """Verification frees the keys, the next run takes them, the fence stops the latecomer."""
    play = Play()
    task = play.add(ONE)
    lost(play, task)
    play.now += builders.HOUR
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@small
def a_lost_trigger_is_recovered_while_its_task_is_deleted() -> Play:
    """Recovery needs the payload of a task that goes."""
    play = Play()
    task = play.add(ONE)
    lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.delete("delete", task)
    return play
