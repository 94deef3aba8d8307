"""Everything at once, too much to be played in every order."""

from datetime import timedelta

import builders
from explorer.play import Play
from explorer.scene import IN_SAME_THREAD, IN_THREAD, OFTEN, ONCE, ONE, OTHER, large, lost


@large
def everybody_is_at_one_task() -> Play:
    """Two ticks, a trigger, an edit, a pause, a cancellation and a doubled signal."""
    play = Play()
    task = play.add(OFTEN)
    slot = lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.tick("tick behind", skew=timedelta(minutes=-2))
    play.trigger("trigger", task)
    play.patch("patch", task)
    play.pause("pause", task)
    play.cancel("cancel", task, slot.run_id)
    return play


@large
def a_whole_table_is_at_work() -> Play:
    """Six tasks, two seats that become one, a shared thread, owners, and ticks that differ."""
    play = Play(max_concurrent_runs=2)
    play.add(ONE, OTHER, IN_THREAD, IN_SAME_THREAD)
    once = play.add(ONCE)
    often = play.add(OFTEN)
    play.tick("tick")
    play.tick("tick ahead", skew=timedelta(minutes=2))
    play.tick("tick behind", skew=timedelta(minutes=-2))
    play.limit_runs("operator", 1)
    play.trigger("trigger", once)
    play.trigger("other trigger", IN_THREAD)
    play.patch("patch", often)
    play.delete("delete", OTHER)
    return play


@large
def runs_end_while_ticks_verify() -> Play:
    """Old runs are verified, cancelled, completed twice and deleted while the next are due."""
    play = Play(max_concurrent_runs=2)
    play.add(ONE)
    once = play.add(ONCE)
    play.cloud.script.failing = frozenset({ONE.id})
    play.cloud.script.events = 2
    play.tick("earlier tick")
    play.stage.finish("earlier tick")
    slots = {slot.task_id: slot for slot in play.rows.runs.slots()}
    for slot in slots.values():
        play.step(f"execution {slot.run_id}")
    play.now += builders.HOUR
    play.tick("tick")
    play.tick("other tick", skew=timedelta(minutes=2))
    play.cancel("cancel", once, slots[once.id].run_id)
    play.trigger("trigger", ONE)
    play.delete("delete", once)
    play.limit_runs("operator", 1)
    return play


@large
def a_lost_launch_meets_its_deadline() -> Play:
    """Recovery, verification, cancellation and a latecomer around one lost launch."""
    play = Play(max_concurrent_runs=1)
    task = play.add(ONE)
    slot = lost(play, task)
    play.now += timedelta(seconds=479)
    play.tick("tick behind", skew=timedelta(minutes=-2))
    play.tick("tick")
    play.tick("tick ahead", skew=timedelta(minutes=2))
    play.cancel("cancel", task, slot.run_id)
    play.trigger("trigger", task)
    play.delete("delete", task)
    return play
