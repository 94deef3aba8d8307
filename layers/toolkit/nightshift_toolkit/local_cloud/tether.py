"""Runs a command that ends when its starter does, however the starter ends.

Run as `python -m nightshift_toolkit.local_cloud.tether COMMAND...`, with a pipe as standard input.
When the pipe closes, the command is asked to stop, and killed with all it started if it does not.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading

# Longer than a worker takes that gives its commands two seconds to end, and ten when it stops them.
GRACE_SECONDS = 15.0
_SIGNAL_BASE = 128
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Return the command's exit code; 128 plus the number of the signal that ended it."""
    command = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        # Whoever kills this process asks the command to stop as well.
        preexec_fn=_stop_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
    )
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_starter, args=(command,), daemon=True).start()
    exit_code = command.wait()
    return exit_code if exit_code >= 0 else _SIGNAL_BASE - exit_code


def _stop_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end_with_starter(command: subprocess.Popen[bytes]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    command.terminate()
    try:
        command.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
