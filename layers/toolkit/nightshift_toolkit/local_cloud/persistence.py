"""What survives: snapshots of the whole engine in generations, and a journal behind each.

    CURRENT      the number of the generation in force; replaced as the last step of a snapshot
    <n>/         ministack's own state files, and COMPLETE with their names
    <n>.journal  what was acknowledged after that snapshot

ministack saves only at a clean stop, one service after the other into files in use. A kill in
between would mix two days; here the old generation stands until the new one is whole.
"""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING, Any

from ministack import app as ministack  # type: ignore[import-untyped]
from ministack.core import persistence as files  # type: ignore[import-untyped]
from ministack.core.responses import now_iso  # type: ignore[import-untyped]
from ministack.services import lambda_svc as functions  # type: ignore[import-untyped]
from ministack.services import stepfunctions as states

from nightshift_toolkit.local_cloud.housekeeping import forget_old
from nightshift_toolkit.local_cloud.journal import Journal, recording, replay
from nightshift_toolkit.local_cloud.soundness import (
    CURRENT,
    journal_path,
    mark_complete,
    sound_generation,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TRIES = 20
_LARGE_JOURNAL_BYTES = 64 * 2**20
_RESTARTED = "States.ServiceRestart"


class Memory:
    """The engine's state on disk.

    Args:
        folder: this engine's alone.

    Raises:
        DamagedStateError: the generation in force cannot be read; nothing was changed.

    """

    def __init__(self, folder: Path) -> None:
        """Point ministack at the generation in force."""
        self._folder = folder
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        # ministack begins anew, without a word, where it cannot read a file.
        self._generation = sound_generation(folder)
        self._began = now_iso()
        self._point_at(self._generation)
        self._journal = Journal(self._journal_path(self._generation))
        self._tables = ministack.SERVICE_HANDLERS["dynamodb"]
        self._announce = states._emit_execution_status_event
        # ministack loads at start; saving is done here, once and whole.
        ministack.SERVICE_HANDLERS["dynamodb"] = recording(self._tables, self._append)
        states._emit_execution_status_event = self._status_changed

    async def restore(self) -> None:
        """Bring back what was acknowledged after the snapshot that ministack has loaded."""
        ministack.PERSIST_STATE = False
        replayed = await replay(self._tables, self._journal.entries())
        changed = [e["execution"] for e in self._journal.entries() if "execution" in e]
        for execution in changed:
            states._executions[execution["executionArn"]] = execution
        forget_old()
        self._fail_interrupted()
        # Also after nothing but a line that a kill tore apart: it stays the last of its journal.
        if replayed or changed or self._journal.size():
            self.snapshot()

    def _fail_interrupted(self) -> None:
        # ministack does the same to those of its snapshot: an execution lives in its process.
        for execution in states._executions.all_values():
            if execution["status"] == "RUNNING":
                execution.update(
                    status="FAILED",
                    stopDate=now_iso(),
                    error=_RESTARTED,
                    cause="Execution was running when service restarted",
                )

    def announce_interrupted(self) -> None:
        """Tell EventBridge of the executions that this restart has failed, as AWS tells of all."""
        for execution in list(states._executions.all_values()):
            if execution.get("error") == _RESTARTED and execution["stopDate"] >= self._began:
                self._announce(execution)

    def snapshot(self) -> None:
        """Write everything down as a new generation; runs on the event loop, so nothing changes.

        Raises:
            OSError: it could not be written; the old generation and its journal stay in force.

        """
        with self._lock:
            new = self._generation + 1
            self._discard(new)
            self._point_at(new)
            try:
                self._write(self._folder / str(new))
            except BaseException:
                self._point_at(self._generation)
                raise
            journal = Journal(self._journal_path(new))
            draft = self._folder / f"{CURRENT}.new"
            draft.write_text(str(new))
            draft.replace(self._folder / CURRENT)
            old, self._generation = self._generation, new
            self._journal.close()
            self._journal = journal
            self._discard(old)

    def snapshot_if_large(self) -> None:
        """Make a snapshot if the journal has become long."""
        if self._journal.size() > _LARGE_JOURNAL_BYTES:
            self.snapshot()

    def _write(self, folder: Path) -> None:
        for service, get_state in ministack._build_persistence_save_dict().items():
            state = _copied(get_state)
            if state is None:
                continue
            files.save_state(service, state)
            if not (folder / f"{service}.json").exists():
                raise OSError(f"The state of {service} could not be written to {folder}.")
        mark_complete(folder)

    def _append(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._journal.append(entry)

    def _status_changed(self, execution: dict[str, Any]) -> None:
        self._append({"execution": {**execution, "events": []}})
        self._announce(execution)

    def _journal_path(self, generation: int) -> Path:
        return journal_path(self._folder, generation)

    def _point_at(self, generation: int) -> None:
        folder = self._folder / str(generation)
        folder.mkdir(exist_ok=True)
        files.STATE_DIR = str(folder)
        functions.CODE_BLOB_DIR = str(folder / "lambda-blobs")

    def _discard(self, generation: int) -> None:
        shutil.rmtree(self._folder / str(generation), ignore_errors=True)
        self._journal_path(generation).unlink(missing_ok=True)


def _copied(get_state: Callable[[], Any]) -> Any:
    # Executions go on in threads of their own while they are copied.
    for _ in range(_TRIES):
        try:
            return get_state()
        except RuntimeError:
            continue
    raise OSError("The engine's state changes faster than it can be copied.")
