"""What a trigger that is sent again under its key comes to (SPEC section 7)."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.domain.errors import Conflict, LaunchFailed, RunNotFound, TaskNotFound
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.run import Run
from nightshift.domain.ports import RunStore, TaskStore

if TYPE_CHECKING:
    from nightshift.domain.commands import TriggerTask


def once_by_key(
    tasks: TaskStore,
    runs: RunStore,
    command: "TriggerTask",
    now: datetime,
    trigger: Callable[[], Run],
) -> Run:
    """The run that this very request made before, as it is now; or what `trigger` returns.

    Raises:
        IdempotencyMismatch: the key was used for another request.
        TaskNotFound, RunNotFound: what was made is gone, and is not made again.
        LaunchFailed: its launch was refused, which is the answer that it had.
    """
    made = _made_before(tasks, runs, command, now)
    if made is not None:
        return made
    try:
        return trigger()
    except Conflict:
        # A twin of this request may have come first; then its run is what stands in the way.
        made = _made_before(tasks, runs, command, now)
        if made is None:
            raise
        return made


def _made_before(
    tasks: TaskStore, runs: RunStore, command: "TriggerTask", now: datetime
) -> Run | None:
    if command.key is None:
        return None
    used = tasks.recall(command.user_id, command.key.name, now)
    if used is None:
        return None
    run_id = command.key.made_by(used)
    if tasks.get(TaskRef(command.user_id, command.task_id)) is None:
        raise TaskNotFound
    run = runs.get(command.task_id, run_id)
    if run is None:
        raise RunNotFound
    if run.reason == LaunchFailed.code:
        raise LaunchFailed
    return run
