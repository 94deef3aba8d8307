"""Standard output that is closed, full, or cannot show every character."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nightshift_toolkit.cli.failures import ExitCode, Failure


@contextmanager
def safe_output() -> Iterator[None]:
    """Let the output go where it was sent, and end with a sentence when that is not possible.

    A reader that has read enough, as `head` does, is no fault of anybody's: the process ends
    quietly. What a terminal cannot show is shown as `?`.
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()
        raise SystemExit(ExitCode.FAULT) from None
    except OSError as error:
        _give_up_output()
        _tell(error)
        raise SystemExit(ExitCode.FAULT) from None


def _open_closed_streams() -> None:
    """Give a process that was started without them an output that nobody reads."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _give_up_output() -> None:
    """Keep the interpreter from trying once more, when it ends, what has just failed."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(error: OSError) -> None:
    reason = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    with suppress(OSError):
        Failure(f"The system does not let this go on: {reason}.", ExitCode.FAULT).show()
