"""Runs a command that ends when its starter does, however the starter ends.

Run as `python -m nightshift_toolkit.local_cloud.tether COMMAND...`, with a pipe as standard input.
When the pipe closes, the command is asked to stop, and killed with all it started if it does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 10.0


def main() -> int:
    """Return the command's exit code."""
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_starter, args=(command,), daemon=True).start()
    return command.wait()


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
