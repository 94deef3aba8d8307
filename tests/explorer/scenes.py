"""The sets of actors that are explored: small ones in every order, large ones at random."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import builders
from explorer.play import DUE, SEPARATOR, Play, single_file
from explorer.stage import Fate
from nightshift.domain.model.run import Slot
from nightshift.domain.model.task import Task

Build = Callable[[], Play]


@dataclass(frozen=True, slots=True)
class Scene:
    """A play ready to begin; `small` ones are played in every order."""

    name: str
    build: Build
    small: bool

    def open(self) -> Play:
        """A new play, always the same."""
        with single_file():
            return self.build()


SCENES: Final[dict[str, Scene]] = {}
"""Every scene, by name."""


def _small(build: Build) -> Build:
    return _scene(build, small=True)


def _large(build: Build) -> Build:
    return _scene(build, small=False)


def _scene(build: Build, *, small: bool) -> Build:
    name = build.__name__.replace("_", " ")
    SCENES[name] = Scene(name, build, small)
    return build


# -- tasks, and runs that are under way when a play begins --

ONE: Final = builders.task(builders.every(3600), number=1)
OFTEN: Final = builders.task(builders.every(60), number=2)
OTHER: Final = builders.task(builders.every(3600), number=3, priority=7)
ONCE: Final = builders.task(builders.once(DUE), number=4)
IN_THREAD: Final = builders.task(builders.every(3600), number=5, thread_id="talk")
IN_SAME_THREAD: Final = builders.task(builders.every(3600), number=6, thread_id="talk")
LIMITED: Final = builders.task(builders.every(3600, max_runs=1), number=7)


def _due_later(task: Task) -> Task:
    """The task, its next time another hour away."""
    return builders.with_state(task, next_run_at=DUE + builders.HOUR, due_at=DUE + builders.HOUR)


def _launched(play: Play, task: Task) -> Slot:
    """Let a tick admit and launch the task; its execution waits at the fence."""
    play.tick("earlier tick")
    play.stage.finish("earlier tick")
    return _slot(play, task)


def _working(play: Play, task: Task) -> Slot:
    """The same, and its execution is past the fence and at work."""
    slot = _launched(play, task)
    play.step(f"execution {slot.run_id}")
    return _slot(play, task)


def _lost(play: Play, task: Task) -> Slot:
    """Let a tick admit the task, and its launch be lost on the way; it may still arrive."""
    play.tick("earlier tick")
    while play.stage.options()["earlier tick"].operation != "cloud.launch":
        play.step("earlier tick")
    play.step(f"earlier tick{SEPARATOR}{Fate.UNREACHED}")
    play.stage.finish("earlier tick")
    return _slot(play, task)


def _slot(play: Play, task: Task) -> Slot:
    slot = play.rows.runs.slot(task.id, task.slot_shard)
    assert slot is not None
    return slot


# -- admission --


@_small
def two_ticks_meet_one_due_task() -> Play:
    """Two ticks, one of them two minutes ahead."""
    play = Play()
    play.add(ONE)
    play.tick("tick")
    play.tick("tick ahead", skew=timedelta(minutes=2))
    return play


@_small
def a_tick_and_a_trigger_meet_one_task() -> Play:
    """The clock and the owner want the same task."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@_small
def two_triggers_meet_one_task() -> Play:
    """The owner triggers twice."""
    play = Play()
    task = play.add(ONE)
    play.trigger("trigger", task)
    play.trigger("other trigger", task)
    return play


@_small
def a_once_task_is_due_and_triggered() -> Play:
    """A `once` task has one run, whoever comes first."""
    play = Play()
    task = play.add(ONCE)
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@_small
def two_tasks_want_the_last_seat() -> Play:
    """Two ticks, two due tasks, one seat."""
    play = Play(max_concurrent_runs=1)
    play.add(ONE, OTHER)
    play.tick("tick", verify=False)
    play.tick("other tick", verify=False)
    return play


@_small
def two_tasks_share_a_thread() -> Play:
    """The clock starts one task of a thread while the owner triggers the other."""
    play = Play()
    play.add(IN_THREAD)
    other = play.add(_due_later(IN_SAME_THREAD))
    play.tick("tick")
    play.trigger("trigger", other)
    return play


@_small
def a_task_with_one_run_left_is_due_twice() -> Play:
    """`max_runs` holds, however many ticks there are."""
    play = Play()
    play.add(LIMITED)
    play.tick("tick")
    play.tick("other tick")
    return play


@_small
def the_budget_is_lowered() -> Play:
    """An operator takes seats away while a tick and a trigger use them."""
    play = Play(max_concurrent_runs=2)
    play.add(ONE)
    other = play.add(_due_later(OTHER))
    play.tick("tick")
    play.limit_runs("operator", 1)
    play.trigger("trigger", other)
    return play


# -- owners --


@_small
def a_due_task_is_given_another_prompt() -> Play:
    """An edit meets an admission."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.patch("patch", task)
    return play


@_small
def a_due_task_is_paused_and_resumed() -> Play:
    """A pause and a resumption meet an admission."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.pause("pause", task)
    play.resume("resume", task)
    return play


@_small
def a_due_task_is_deleted() -> Play:
    """A deletion meets an admission and a trigger."""
    play = Play()
    task = play.add(ONE)
    play.tick("tick")
    play.delete("delete", task)
    return play


@_small
def a_triggered_task_is_deleted() -> Play:
    """A deletion meets a trigger whose launch is refused."""
    play = Play()
    task = play.add(ONCE)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    play.delete("delete", task)
    return play


@_small
def a_refused_trigger_meets_a_tick() -> Play:
    """A `once` task is put back as it was while the clock looks."""
    play = Play()
    task = play.add(ONCE)
    play.cloud.script.refused = frozenset({task.id})
    play.trigger("trigger", task)
    play.tick("tick")
    return play


@_small
def a_running_task_is_edited_and_deleted() -> Play:
    """Past the fence a run needs nothing of its task."""
    play = Play()
    task = play.add(ONE)
    _working(play, task)
    play.patch("patch", task)
    play.delete("delete", task)
    return play


# -- the end of a run --


@_small
def a_completion_comes_twice_while_the_next_is_due() -> Play:
    """The record step, its repetition, and a tick that wants the task again."""
    play = Play()
    task = play.add(OFTEN)
    play.cloud.script.records = 2
    _working(play, task)
    play.now += builders.MINUTE
    play.tick("tick")
    return play


@_small
def a_completion_is_lost_and_the_next_is_due() -> Play:
    """Nobody tells the end; two ticks verify it."""
    play = Play()
    task = play.add(ONE)
    play.cloud.script.records = play.cloud.script.events = 0
    _working(play, task)
    play.now += builders.HOUR
    play.tick("tick")
    play.tick("other tick")
    return play


@_small
def a_failure_is_told_while_the_task_is_deleted() -> Play:
    """The record step and the status change tell one end, and the task goes."""
    play = Play()
    task = play.add(ONE)
    play.cloud.script.failing = frozenset({task.id})
    _working(play, task)
    play.delete("delete", task)
    return play


@_small
def a_running_run_is_cancelled() -> Play:
    """A cancellation meets the end of the work."""
    play = Play()
    task = play.add(ONE)
    slot = _working(play, task)
    play.cancel("cancel", task, slot.run_id)
    return play


@_small
def a_running_once_task_is_cancelled_and_verified() -> Play:
    """A cancellation meets a tick that verifies and the end of the work."""
    play = Play()
    task = play.add(ONCE)
    slot = _working(play, task)
    play.now += timedelta(minutes=10)
    play.cancel("cancel", task, slot.run_id)
    play.tick("tick")
    return play


# -- launches that are lost --


@_small
def a_lost_launch_is_recovered_and_arrives() -> Play:
    """Two ticks recover the same launch, and its first try arrives after all."""
    play = Play()
    task = play.add(ONE)
    _lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.tick("other tick")
    return play


@_small
def a_lost_launch_is_cancelled_and_arrives() -> Play:
    """A launch under way is cancelled, recovered and late."""
    play = Play()
    task = play.add(ONE)
    slot = _lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.cancel("cancel", task, slot.run_id)
    return play


@_small
def a_launch_arrives_when_its_deadline_is_over() -> Play:
    """Verification frees the keys, the next run takes them, the fence stops the latecomer."""
    play = Play()
    task = play.add(ONE)
    _lost(play, task)
    play.now += builders.HOUR
    play.tick("tick")
    play.trigger("trigger", task)
    return play


@_small
def a_lost_trigger_is_recovered_while_its_task_is_deleted() -> Play:
    """Recovery needs the payload of a task that goes."""
    play = Play()
    task = play.add(ONE)
    _lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.delete("delete", task)
    return play


# -- everything at once --


@_large
def everybody_is_at_one_task() -> Play:
    """Two ticks, a trigger, an edit, a pause, a cancellation and a doubled signal."""
    play = Play()
    task = play.add(OFTEN)
    slot = _lost(play, task)
    play.now += timedelta(seconds=90)
    play.tick("tick")
    play.tick("tick behind", skew=timedelta(minutes=-2))
    play.trigger("trigger", task)
    play.patch("patch", task)
    play.pause("pause", task)
    play.cancel("cancel", task, slot.run_id)
    return play


@_large
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


@_large
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


@_large
def a_lost_launch_meets_its_deadline() -> Play:
    """Recovery, verification, cancellation and a latecomer around one lost launch."""
    play = Play(max_concurrent_runs=1)
    task = play.add(ONE)
    slot = _lost(play, task)
    play.now += timedelta(seconds=479)
    play.tick("tick behind", skew=timedelta(minutes=-2))
    play.tick("tick")
    play.tick("tick ahead", skew=timedelta(minutes=2))
    play.cancel("cancel", task, slot.run_id)
    play.trigger("trigger", task)
    play.delete("delete", task)
    return play
