"""Where a run's command works: a folder of its own, its thread's, or one that all runs share."""

import hashlib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nightshift.domain.model.run_ids import fresh_thread_id
from nightshift_toolkit.worker.message import RunMessage
from nightshift_toolkit.worker.settings import WorkerSettings

THREAD_FOLDER: Final = "NIGHTSHIFT_THREAD_FOLDER"
"""The variable in which a command finds where its thread's runs may keep what they need."""
_ONLY_FOR_ME: Final = 0o700
_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 120


@dataclass(frozen=True)
class RunFolder:
    """Where a command works, and where its thread keeps things; None for a thread of one run."""

    path: Path
    thread: Path | None = None


@contextmanager
def folder_for(message: RunMessage, settings: WorkerSettings) -> Iterator[RunFolder]:
    """A folder for one attempt of one run, as the operator decided.

    A folder that the operator named for all comes first; then that of the run's thread, if threads
    are kept and this one is for more than this run; then an empty one, which is removed afterwards
    unless such folders are kept. Raises OSError when there is no room.
    """
    thread = _thread_folder(message, settings.threads)
    if settings.folder is not None:
        yield RunFolder(settings.folder, thread)
    elif thread is not None:
        yield RunFolder(_made(thread / "work"), thread)
    else:
        prefix = f"{_as_name(message.run_id)}-{message.attempt}-"
        parent = None if settings.folders is None else _made(settings.folders)
        if settings.keep_folders:
            yield RunFolder(Path(tempfile.mkdtemp(prefix=prefix, dir=parent)))
            return
        with tempfile.TemporaryDirectory(
            prefix=prefix, dir=parent, ignore_cleanup_errors=True
        ) as folder:
            yield RunFolder(Path(folder))


def _thread_folder(message: RunMessage, threads: Path | None) -> Path | None:
    if threads is None or message.thread_id == fresh_thread_id(message.run_id):
        return None
    # Users name their threads, so the same name is another thread for another user, and no name
    # can lead out of the folder.
    whose = f"{message.user_id}\0{message.thread_id}".encode()
    return _made(threads / hashlib.blake2b(whose, digest_size=16).hexdigest())


def _made(folder: Path) -> Path:
    folder.mkdir(mode=_ONLY_FOR_ME, parents=True, exist_ok=True)
    return folder


def _as_name(run_id: str) -> str:
    return _IN_NAMES.sub("_", run_id)[:_LONGEST_NAME]
