"""What a scene is, and the tasks and runs that scenes begin with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import builders
from explorer.play import DUE, SEPARATOR, Play, single_file
from explorer.stage import Fate
from nightshift.domain.model.enums import OverlapPolicy
from nightshift.domain.model.slot import Slot
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


def small(build: Build) -> Build:
    """Let a scene be played in every order, and at random."""
    return _scene(build, small=True)


def large(build: Build) -> Build:
    """Let a scene be played at random."""
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
QUEUING: Final = builders.task(builders.every(60), number=8, overlap_policy=OverlapPolicy.QUEUE_ONE)
CANCELLING: Final = builders.task(
    builders.every(60), number=9, overlap_policy=OverlapPolicy.CANCEL_PREVIOUS
)
IMPATIENT: Final = builders.task(builders.every(60), number=16, pause_after_failures=1)
CURIOUS: Final = builders.task(builders.every(60), number=17, include_previous_result=True)
LIMITED: Final = builders.task(builders.every(3600, max_runs=1), number=7)


def due_later(task: Task) -> Task:
    """The task, its next time another hour away."""
    return builders.with_state(task, next_run_at=DUE + builders.HOUR, due_at=DUE + builders.HOUR)


def asleep(play: Play, task: Task) -> Task:
    """Let the owner have paused the task until now, when it is due."""
    play.add(task)
    now, play.now = play.now, play.now - builders.MINUTE
    play.pause("earlier pause", task, until=now)
    play.stage.finish("earlier pause")
    play.now = now
    return task


def launched(play: Play, task: Task) -> Slot:
    """Let a tick admit and launch the task; its execution waits at the fence."""
    play.tick("earlier tick")
    play.stage.finish("earlier tick")
    return _slot(play, task)


def working(play: Play, task: Task) -> Slot:
    """The same, and its execution is past the fence and at work."""
    slot = launched(play, task)
    play.step(f"execution {slot.run_id}")
    return _slot(play, task)


def lost(play: Play, task: Task) -> Slot:
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
