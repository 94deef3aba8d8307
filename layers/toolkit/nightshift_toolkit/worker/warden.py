"""The process between the worker and a command: it alone ends the command, and ends with all of it.

Run by itself, `python warden.py FD`, with nothing but the standard library, once per run. On Linux
it adopts whatever its descendants leave behind, so that a child in a session of its own is still
found, stopped and reaped. It watches the channel `FD` to the worker and outlives no worker: when
the channel closes, because the worker was killed, the command is stopped like any other time.

Worker to warden: one JSON line, the order; then `beat AGE` (a heartbeat was answered, sent AGE
seconds ago), `pause`, `go_on` and `stop`. Warden to worker: JSON lines
`{"event": "started", "pid"}`, then `{"event": "ended", "cause", "exit_code"}`; or else
`{"event": "refused", "error"}`.
"""

import contextlib
import ctypes
import json
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_AGAIN_SECONDS = 0.05
_GIVE_UP_SECONDS = 5.0
_ON_LINUX = sys.platform == "linux"


class Channel:
    """Lines to and from the worker over one socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""
        self.closed = False

    def fileno(self) -> int:
        return self._connection.fileno()

    def receive(self) -> list[str]:
        """The lines that are there, waiting for something to arrive; sets `closed` at the end."""
        with contextlib.suppress(ConnectionError):
            if piece := self._connection.recv(65536):
                *lines, self._rest = (self._rest + piece).split(b"\n")
                return [line.decode() for line in lines]
        self.closed = True
        return []

    def send(self, **event: object) -> None:
        """Tell the worker; a worker that is gone is not missed."""
        with contextlib.suppress(OSError):
            self._connection.sendall(json.dumps(event).encode() + b"\n")


class DescendantTree:
    """Every process below this one, on Linux, where nothing can leave it."""

    def __init__(self, _group: int) -> None:
        pass

    def send(self, number: int) -> None:
        for pid in self._pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    @staticmethod
    def empty() -> bool:
        """Whether nothing is left: whoever has no child has, as a subreaper, no descendant."""
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    @staticmethod
    def _pids() -> list[int]:
        children: dict[int, list[int]] = {}
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
        found: list[int] = []
        level = [os.getpid()]
        while level:
            level = [child for parent in level for child in children.get(parent, [])]
            found += level
        return found


class GroupTree:
    """The command's process group, where the system offers no more; a child may leave it."""

    def __init__(self, group: int) -> None:
        self._group = group

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)

    def empty(self) -> bool:
        """Whether no process of the group is left."""
        try:
            os.killpg(self._group, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False


class Warden:
    """Starts one command, watches it until something ends it, and ends the rest of it."""

    def __init__(self, channel: Channel, order: dict[str, Any], early: list[str]) -> None:
        self._channel = channel
        self._order = order
        self._early = early
        self._exit_code: int | None = None
        self._paused_since: float | None = None
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._woken, wake = socket.socketpair()
        for end in (self._woken, wake):
            os.set_blocking(end.fileno(), False)
        self._wake = wake
        self._selector.register(self._woken, selectors.EVENT_READ)

    def run(self) -> None:
        """Carry out the order and report; returns when no process of it is left."""
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        # Handlers that do nothing instead of SIG_IGN, which the command would inherit: the worker
        # decides about stopping, not who happens to signal the whole group or container.
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: None)
        _hear_again()
        try:
            self._pid = self._start()
        except (OSError, ValueError) as error:
            self._channel.send(event="refused", error=_sentence(error))
            return
        now = time.monotonic()
        self._deadline = now + self._order["timeout_seconds"]
        self._lease = now + self._order["silence_seconds"]
        self._channel.send(event="started", pid=self._pid)
        tree = (DescendantTree if _ON_LINUX else GroupTree)(self._pid)
        cause = self._watch(tree)
        self._end(tree, self._order["grace_seconds"])
        self._channel.send(event="ended", cause=cause, exit_code=self._exit_code)

    def _start(self) -> int:
        process = subprocess.Popen(
            self._order["argv"],
            stderr=subprocess.STDOUT,
            cwd=self._order["folder"],
            env=self._order["environment"],
            start_new_session=True,
            preexec_fn=_die_with_parent if _ON_LINUX else None,  # noqa: PLW1509
        )
        process.returncode = 0  # reaped here, with everything else, not by the Popen object
        # The command alone holds the pipes now, so that their ends are seen where they are.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        return process.pid

    def _watch(self, tree: "DescendantTree | GroupTree") -> str:
        while True:
            now = time.monotonic()
            self._reap()
            if self._exit_code is not None:
                return "exit"
            deadline = self._deadline if self._paused_since is None else math.inf
            if now >= deadline:
                return "timeout"
            if now >= self._lease:
                return "silence"
            lines = self._early or self._wait(min(deadline, self._lease) - now)
            self._early = []
            for line in lines:
                word, _, age = line.partition(" ")
                if word == "stop":
                    return "stop"
                if word in ("pause", "go_on"):
                    self._hold(tree, paused=word == "pause")
                if word == "beat":
                    beaten = time.monotonic() - float(age)
                    self._lease = max(self._lease, beaten + self._order["silence_seconds"])
            if self._channel.closed:
                return "worker_gone"

    def _hold(self, tree: "DescendantTree | GroupTree", *, paused: bool) -> None:
        """Stop or continue every process; the time limit stands still with them."""
        now = time.monotonic()
        if paused and self._paused_since is None:
            self._paused_since = now
            # What is stopped starts nothing; a second look finds what was started meanwhile.
            tree.send(signal.SIGSTOP)
            tree.send(signal.SIGSTOP)
        elif not paused and self._paused_since is not None:
            self._deadline += now - self._paused_since
            self._paused_since = None
            tree.send(signal.SIGCONT)

    def _end(self, tree: DescendantTree | GroupTree, grace_seconds: float) -> None:
        self._reap()
        if tree.empty():
            return
        tree.send(signal.SIGTERM)
        tree.send(signal.SIGCONT)  # a stopped process sees no SIGTERM until it goes on
        if self._until(tree.empty, grace_seconds):
            return
        self._until(lambda: tree.send(signal.SIGKILL) or tree.empty(), _GIVE_UP_SECONDS)

    def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            self._reap()
            if done():
                return True
            if time.monotonic() >= end:
                return False
            self._wait(min(_LOOK_AGAIN_SECONDS, seconds))

    def _wait(self, seconds: float) -> list[str]:
        """Sleep until a line arrives, a child ends or the time is over; return the lines."""
        lines: list[str] = []
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._channel:
                lines = self._channel.receive()
                if self._channel.closed:
                    self._selector.unregister(self._channel)
            else:
                with contextlib.suppress(BlockingIOError):
                    self._woken.recv(4096)
        return lines

    def _reap(self) -> None:
        """Collect every process that has ended, the command's own exit code among them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid:
                self._exit_code = os.waitstatus_to_exitcode(status)


def _hear_again() -> None:
    """Undo what a shell that put the worker into the background ignores, such as SIGQUIT.

    The two that Python itself ignores are put back for the command when it is started.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _sentence(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
    return str(error)


def main() -> None:
    """Read the order from the channel named on the command line and carry it out."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    lines: list[str] = []
    while not lines and not channel.closed:
        lines = channel.receive()
    if not lines:
        return
    if _ON_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    Warden(channel, json.loads(lines[0]), lines[1:]).run()


if __name__ == "__main__":
    main()
