"""A worker that follows its owner's wishes for a pause, as an actor: the real one's own code."""

from typing import TYPE_CHECKING, Any, cast

import builders
from explorer.ports import about_run
from explorer.stage import Stage
from nightshift.domain.model.instants import parse_instant
from nightshift_toolkit.memory.work import MemoryWork
from nightshift_toolkit.worker.message import Action, RunMessage
from nightshift_toolkit.worker.pausing import Pausing

if TYPE_CHECKING:
    from explorer.play import Play
    from nightshift.domain.model.slot import Slot
    from nightshift_toolkit.worker.supervision import SupervisedCommand


class Command:
    """A command that may stand still."""

    def __init__(self) -> None:
        self.still = False

    def pause(self) -> None:
        """See `SupervisedCommand.pause`."""
        self.still = True

    def go_on(self) -> None:
        """See `SupervisedCommand.go_on`."""
        self.still = False


class Pickups:
    """What a worker reads and writes of pauses, guarded by a stage."""

    def __init__(self, stage: Stage, work: MemoryWork) -> None:
        self._stage = stage
        self._work = work

    def pause_wanted(self, message: RunMessage) -> bool:
        """See `Pickups.pause_wanted`."""
        self._stage.reach(about_run("worker.look", message.run_id))
        return self._work.pause_wanted(message.run_id)

    def note_pause(
        self, message: RunMessage, paused_at: str | None, paused_seconds: int, *, spent: bool
    ) -> None:
        """See `Pickups.note_pause`."""
        self._stage.reach(about_run("worker.note", message.run_id))
        self._work.note_pause(
            message.run_id,
            message.nonce,
            message.attempt,
            parse_instant(paused_at) if paused_at else None,
            paused_seconds,
            spent=spent,
        )


def pausing_of(stage: Stage, work: MemoryWork, run_id: str, nonce: str, attempt: int) -> Pausing:
    """The real worker's following of pauses, for one attempt of a run."""
    message = RunMessage(
        task_token="token",
        run_id=run_id,
        task_id="task",
        user_id=builders.ALICE,
        nonce=nonce,
        attempt=attempt,
        trigger="schedule",
        scheduled_for=None,
        thread_id="thread",
        assistant_id=None,
        title="A task",
        action=Action("agent", "Do it."),
        timeout_seconds=600,
        max_pause_seconds=3600,
    )
    pickups: Any = Pickups(stage, work)
    return Pausing(pickups, message, lambda: builders.NOW)


def cast_worker(play: "Play", name: str, slot: "Slot", *, looks: int) -> None:
    """Cast the worker that has a run, which looks so often at what is wished for."""
    made, attempt = play.cloud.made[slot.run_id], play.cloud.made[slot.run_id].attempt
    pausing = pausing_of(play.stage, play.rows.work, made.run_id, made.nonce, attempt)

    def look() -> None:
        command = Command()
        for _ in range(looks):
            play.stage.reach(about_run("worker.beat", made.run_id))
            if not made.working or made.attempt != attempt:
                return
            pausing.follow(cast("SupervisedCommand", command))

    play.stage.cast(name, look)
