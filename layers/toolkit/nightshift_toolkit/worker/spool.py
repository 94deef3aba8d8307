"""A run's whole output on disk, up to a limit, for a store that takes what a report cannot."""

import tempfile
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, Final, Self
from urllib.parse import quote

from nightshift_toolkit.worker.message import RunMessage

MAX_SPOOL_BYTES: Final = 64 * 2**20
_CUT: Final = b"\n[... cut: only the first %d bytes are kept ...]\n"


class Spool(AbstractContextManager["Spool"]):
    """The first `limit` bytes of a stream in a file without a name; says at its end when cut."""

    def __init__(self, limit: int = MAX_SPOOL_BYTES) -> None:
        self._room = limit
        self._limit = limit
        self._cut = False
        self._broken = False
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__

    def add(self, chunk: bytes) -> None:
        """Take the next piece; a disk without room ends the spool and nothing else."""
        if self._broken or self._cut:
            return
        self._cut = len(chunk) > self._room
        try:
            self._file.write(chunk[: self._room])
            self._room -= min(self._room, len(chunk))
            if self._cut:
                self._file.write(_CUT % self._limit)
        except OSError:
            self._broken = True

    def content(self) -> IO[bytes] | None:
        """The file, read from its beginning; None when the disk had no room for it."""
        try:
            self._file.seek(0)
        except OSError:
            return None
        return None if self._broken else self._file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
        except OSError:
            self._broken = True


def place_of(message: RunMessage) -> str:
    """Where an attempt's output is kept: nobody else's, and told by user, task and run."""
    parts = (message.user_id, message.task_id, message.run_id)
    return "/".join(quote(part, safe="") for part in parts) + f"/attempt-{message.attempt}.txt"
