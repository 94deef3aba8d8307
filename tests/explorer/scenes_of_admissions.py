"""Admissions that meet: ticks, triggers, seats, threads and bounds."""

from datetime import timedelta

import builders
from explorer.play import Play
from explorer.scene import (
    IN_SAME_THREAD,
    IN_THREAD,
    LIMITED,
    OFTEN,
    ONCE,
    ONE,
    OTHER,
    due_later,
    small,
    working,
)


@small
def two_ticks_meet_one_due_task() -> Play:
    """Two ticks, one of them two minutes ahead."""
    play = Play()
    play.add(ONE)
    play.tick("tick")
    play.tick("tick ahead", skew=timedelta(minutes=2))
    return play


@small
def a_tick_and_a_trigger_meet_one_task() -> Play:
    """The clock and the owner want the same task."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@small
def two_triggers_meet_one_task() -> Play:
    """The owner triggers twice."""
    play = Play()
    task = play.add(ONE)
    play.trigger("trigger", task)
    play.trigger("other trigger", task)
    return play


@small
def a_once_task_is_due_and_triggered() -> Play:
    """A `once` task has one run, whoever comes first."""
    play = Play()
    task = play.add(ONCE)
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@small
def two_tasks_want_the_last_seat() -> Play:
    """Two ticks, two due tasks, one seat."""
    play = Play(max_concurrent_runs=1)
    play.add(ONE, OTHER)
    play.tick("tick", verify=False)
    play.tick("other tick", verify=False)
    return play


@small
def two_tasks_share_a_thread() -> Play:
    """The clock starts one task of a thread while the owner triggers the other."""
    play = Play()
    play.add(IN_THREAD)
    other = play.add(due_later(IN_SAME_THREAD))
    play.tick("tick")
    play.trigger("trigger", other)
    return play


@small
def a_task_with_one_run_left_is_due_twice() -> Play:
    """`max_runs` holds, however many ticks there are."""
    play = Play()
    play.add(LIMITED)
    play.tick("tick")
    play.tick("other tick")
    return play


@small
def the_budget_is_lowered() -> Play:
    """An operator takes seats away while a tick and a trigger use them."""
    play = Play(max_concurrent_runs=2)
    play.add(ONE)
    other = play.add(due_later(OTHER))
    play.tick("tick")
    play.limit_runs("operator", 1)
    play.trigger("trigger", other)
    return play


@small
def an_occurrence_has_its_record_already() -> Play:
    """A clock that was ahead has run it, and its owner's resumption made it the next one again."""
    play = Play()
    task = play.add(ONE)
    play.now -= builders.MINUTE
    play.tick("earlier tick", skew=2 * builders.MINUTE)
    play.finish()
    play.pause("earlier pause", task)
    play.finish()
    play.resume("earlier resumption", task)
    play.finish()
    play.now += builders.MINUTE
    play.tick("tick")
    play.tick("other tick")
    play.pause("pause", task)
    return play


@small
def an_overlap_is_skipped_while_its_task_is_edited() -> Play:
    """A tombstone meets an edit, and the end of the run that stands in the way."""
    play = Play()
    task = play.add(OFTEN)
    working(play, task)
    play.now += builders.MINUTE
    play.tick("tick")
    play.patch("patch", task)
    return play


@small
def two_tasks_want_the_last_seat_of_their_user() -> Play:
    """A tick and a trigger, and one seat of the user's own among many."""
    play = Play(max_concurrent_runs=3, max_concurrent_runs_per_user=1)
    play.add(ONE)
    other = play.add(due_later(OTHER))
    play.tick("tick", verify=False)
    play.trigger("trigger", other)
    return play
