"""One local cloud per state folder, and one sentence for who comes second."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

from nightshift_toolkit.local_cloud.errors import AlreadyRunningError, StateFolderError

if TYPE_CHECKING:
    from pathlib import Path

_LOCK = "lock"
_HANDOVER_SECONDS = 15.0


def claim(folder: Path) -> int:
    """Take `folder` for this process and return the descriptor that holds it.

    It is held until every process that has the descriptor is gone: pass it on to those that write
    into the folder. If its owner is dead and only what it started is still saving, this waits.

    Raises:
        AlreadyRunningError: somebody has it.
        StateFolderError: it cannot be written.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StateFolderError(folder, error) from error
    deadline = time.monotonic() + _HANDOVER_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(descriptor)
            if _lives(owner) or time.monotonic() > deadline:
                os.close(descriptor)
                raise AlreadyRunningError(folder, owner) from None
            time.sleep(0.05)
        else:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            return descriptor


def _owner(descriptor: int) -> int:
    written = os.pread(descriptor, 32, 0)
    return int(written) if written.isdigit() else 0


def _lives(pid: int) -> bool:
    if pid == 0:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
