"""Secrets that tests plant where people have theirs, and the watch over every line of a log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PROMPT: Final = "Summarise yesterday's tickets. (planted-prompt-6f1d2c)"
COMMAND: Final = "planted-command-0b83ae"
BEARER: Final = "planted.bearer.57c9e4"
TASK_TOKEN: Final = "planted-task-token-d4417f"
SECRETS: Final = ("planted-prompt-6f1d2c", COMMAND, BEARER, TASK_TOKEN)


def found_in(text: str) -> list[str]:
    """The planted secrets that a text has."""
    return [secret for secret in SECRETS if secret in text]


def told(record: logging.LogRecord) -> str:
    """Everything that a formatter could write of a record, whichever logger it is of."""
    extra = {name: value for name, value in vars(record).items() if name not in ("args", "msg")}
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    return f"{record.getMessage()} {extra!r} {trace}"


class Watch:
    """Reads every line of every logger of this process, and keeps those that have a secret."""

    def __init__(self) -> None:
        self.lines = 0
        self.leaks: list[str] = []

    def read(self, record: logging.LogRecord) -> None:
        """Look at one line."""
        self.lines += 1
        line = told(record)
        if found_in(line):
            self.leaks.append(f"{record.name}: {line}")


@contextmanager
def watching() -> Iterator[Watch]:
    """Watch every logger for a while."""
    watch = Watch()
    handle = logging.Logger.handle

    def reading(logger: logging.Logger, record: logging.LogRecord) -> None:
        watch.read(record)
        handle(logger, record)

    logging.Logger.handle = reading  # type: ignore[method-assign, assignment]
    try:
        yield watch
    finally:
        logging.Logger.handle = handle  # type: ignore[method-assign]


def leaks_of(folder: Path) -> list[str]:
    """The lines of the logs in a folder that have a secret, each after the name of its file."""
    return [
        f"{path.name}: {line}"
        for path in sorted(folder.rglob("*.log"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if found_in(line)
    ]
