"""One command under its warden, as the worker sees it: start, keep alive, stop, await."""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from nightshift_toolkit.worker import warden
from nightshift_toolkit.worker.output import Sink

_PIECE_BYTES = 64 * 1024
_LAST_PIECES = 64
# Nothing of this installation is read at its start: a warden comes up in 20 ms.
_WARDEN = (sys.executable, "-I", "-S", "-X", "utf8", warden.__file__)


@dataclass(frozen=True)
class Order:
    """What to run, with all that it can read as `stdin`, and for how long; times in seconds."""

    argv: tuple[str, ...] = field(repr=False)
    stdin: bytes = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    folder: Path
    timeout_seconds: float
    silence_seconds: float
    grace_seconds: float


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    `cause` is `exit`, `timeout`, `silence` (no heartbeat for `silence_seconds`), `stop` (asked to),
    `refused` (it could not be started, `error` says why) or `lost` (the warden was killed).
    `exit_code` is that of the command itself, negative for the signal that ended it.
    """

    cause: str
    exit_code: int | None = None
    error: str | None = None


class SupervisedCommand:
    """A running command. Once `wait` has returned no process of it is left.

    Its standard input is a file without a name, so that a command that never reads it is no
    different from one that does. `beat` and `stop` may be called from any thread, at any time.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", channel: socket.socket, output: IO[bytes]
    ) -> None:
        self._process = process
        self._channel = channel
        self._output = output
        self._sending = threading.Lock()
        self._pid: int | None = None
        self._said = b""

    @classmethod
    def start(cls, order: Order) -> Self:
        """Start the warden and give it the order. Raises OSError when the system has no room."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, tempfile.TemporaryFile() as stdin:
                stdin.write(order.stdin)
                stdin.seek(0)
                process = subprocess.Popen(
                    [*_WARDEN, str(theirs.fileno())],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        except OSError:
            ours.close()
            raise
        if process.stdout is None:
            raise RuntimeError("the warden has no output")
        command = cls(process, ours, process.stdout)
        command._send(_as_line(order))
        return command

    def beat(self, sent_at: float) -> None:
        """Prolong the command's life: a heartbeat sent at `sent_at` (monotonic) was answered."""
        self._send(b"beat %.3f\n" % max(0.0, time.monotonic() - sent_at))

    def stop(self) -> None:
        """Have the command ended: asked first, killed after the grace; returns at once."""
        self._send(b"stop\n")

    def pause(self) -> None:
        """Have the command and all its processes stand still; its time limit does too."""
        self._send(b"pause\n")

    def go_on(self) -> None:
        """Have a paused command go on."""
        self._send(b"go_on\n")

    def wait(self, collector: Sink) -> Ending:
        """Collect the output until the warden says that the command has ended; return how."""
        ending: Ending | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            selector.register(self._channel, selectors.EVENT_READ)
            while ending is None:
                for key, _ in selector.select():
                    if key.fileobj is self._output:
                        if not self._collect(collector):
                            selector.unregister(self._output)
                        continue
                    ending = self._hear()
        self._collect_rest(collector)
        self._close()
        return ending

    def _collect(self, collector: Sink) -> bool:
        piece = os.read(self._output.fileno(), _PIECE_BYTES)
        collector.add(piece)
        return bool(piece)

    def _collect_rest(self, collector: Sink) -> None:
        """Take what is in the pipe by now; somebody out of reach may hold it open and write on."""
        os.set_blocking(self._output.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(_LAST_PIECES):
                if not self._collect(collector):
                    return

    def _hear(self) -> Ending | None:
        try:
            piece = self._channel.recv(_PIECE_BYTES)
        except ConnectionError:
            piece = b""
        if not piece:
            return self._bereaved()
        *lines, self._said = (self._said + piece).split(b"\n")
        for event in map(json.loads, lines):
            if event["event"] == "started":
                self._pid = event["pid"]
            elif event["event"] == "refused":
                return Ending("refused", error=event["error"])
            else:
                return Ending(event["cause"], event["exit_code"])
        return None

    def _bereaved(self) -> Ending:
        """The warden was killed: the command died with it, what shares its group is ended here."""
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
        return Ending("lost", error="the process around the command was killed")

    def _send(self, line: bytes) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._channel.sendall(line)

    def _close(self) -> None:
        with self._sending:
            self._channel.close()
        self._output.close()
        self._process.wait()


def _as_line(order: Order) -> bytes:
    content: dict[str, Any] = {
        "argv": order.argv,
        "environment": dict(order.environment),
        "folder": str(order.folder),
        "timeout_seconds": order.timeout_seconds,
        "silence_seconds": order.silence_seconds,
        "grace_seconds": order.grace_seconds,
    }
    return json.dumps(content).encode() + b"\n"
