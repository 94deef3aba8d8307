"""`make run`: start the local cloud and a worker, say how to use them, stop them together."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from nightshift_toolkit.local_cloud.errors import (
    EngineStoppedError,
    LocalCloudError,
    NoOutputError,
    StateFolderError,
)
from nightshift_toolkit.local_cloud.local_worker import NIGHTSHIFT, LocalWorker, worker_options
from nightshift_toolkit.local_cloud.loopback import LOOPBACK
from nightshift_toolkit.local_cloud.stack import PROJECT, LocalCloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEFAULT_PORT = 4580
STATE_DIR = PROJECT / ".nightshift"
DEMO_AGENT = (sys.executable, "-m", "nightshift_toolkit.demo_agent")
_WATCH_SECONDS = 0.2
_DRAIN_SECONDS = 60.0
_SETTLE_SECONDS = 5.0
# Windows of successive ticks overlap, so that the clock looks every two seconds without a hole.
_CLOCK = {"TickWindowSeconds": "65", "PollIntervalSeconds": "2", "TickTimeoutSeconds": "100"}


def say_at_once(line: str) -> None:
    """Print a line, also into a pipe or a file, where Python would keep it back.

    Raises:
        NoOutputError: it cannot be printed; from then on standard output leads nowhere.

    """
    if sys.stdout is None:
        raise NoOutputError("it is closed")
    try:
        print(line, flush=True)
    except OSError as error:
        # What is left in the buffer would fail once more when the process ends.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise NoOutputError(error.strerror or str(error)) from error


@dataclass(frozen=True)
class _Stops:
    """The wish to stop, and the wish not to wait for anything."""

    stop: threading.Event = field(default_factory=threading.Event)
    at_once: threading.Event = field(default_factory=threading.Event)

    def wish(self) -> None:
        """Take one more signal."""
        if self.stop.is_set():
            self.at_once.set()
        self.stop.set()


def run_local(
    *,
    port: int = DEFAULT_PORT,
    state_dir: Path = STATE_DIR,
    agent_command: Sequence[str] | None = DEMO_AGENT,
    say: Callable[[str], None] = say_at_once,
) -> int:
    """Run the local cloud with one worker until Ctrl-C, and return the exit code.

    Args:
        port: of the HTTP API; the two after it are used too.
        state_dir: where everything is kept between two runs.
        agent_command: what the worker starts for a prompt; None starts no worker.
        say: shows one line to the user.

    """
    stops = _Stops()
    # What is on this machine is not reached through a proxy.
    os.environ["NO_PROXY"] = ",".join(
        filter(None, (os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), LOOPBACK))
    )
    try:
        cloud = LocalCloud(state_dir, port=port, parameters=_CLOCK, clock=True)
        with _hearing(stops):
            _serve(stops, cloud, agent_command, say)
    except LocalCloudError as error:
        return _refused(error)
    except OSError as error:
        return _refused(StateFolderError(Path(error.filename or state_dir), error))
    return 0


def _refused(error: LocalCloudError) -> int:
    with contextlib.suppress(OSError):
        print(error, file=sys.stderr)
    return error.exit_code


def _serve(
    stops: _Stops,
    cloud: LocalCloud,
    agent_command: Sequence[str] | None,
    say: Callable[[str], None],
) -> None:
    began = time.monotonic()
    say("Starting the local cloud ...")
    try:
        cloud.start()
        worker = None if agent_command is None else LocalWorker(cloud, agent_command, say)
        with worker or nullcontext():
            say(f"Ready after {time.monotonic() - began:.1f} s.")
            say(_greeting(cloud, agent_command))
            while not stops.stop.wait(_WATCH_SECONDS):
                _look_after(cloud, worker)
            with _engine_failures(cloud):
                _let_runs_end(cloud, worker, stops, say)
            say("Stopping ...")
        with _engine_failures(cloud):
            _tell_what_did_not_end(cloud, worker, say)
    finally:
        cloud.stop()
    say(f"Stopped. Everything is kept in {cloud.state_dir} for the next run.")


def _look_after(cloud: LocalCloud, worker: LocalWorker | None) -> None:
    if not cloud.engine.is_running():
        raise EngineStoppedError(cloud.engine.obituary())
    if worker is not None:
        worker.watch()


def _let_runs_end(
    cloud: LocalCloud, worker: LocalWorker | None, stops: _Stops, say: Callable[[str], None]
) -> None:
    """Start nothing any more, and give what is at work a minute: executions end with the engine."""
    cloud.stop_clock()
    deadline = time.monotonic() + _DRAIN_SECONDS
    at_work = cloud.runs_at_work()
    if at_work:
        say(
            f"Waiting for the end of what runs, at most {_DRAIN_SECONDS:g} s; "
            "Ctrl-C again stops at once:"
        )
        say("\n".join(f"  {run_id}" for run_id in at_work))
    while at_work and time.monotonic() < deadline and not stops.at_once.wait(_WATCH_SECONDS):
        _look_after(cloud, worker)
        at_work = cloud.runs_at_work()


def _tell_what_did_not_end(
    cloud: LocalCloud, worker: LocalWorker | None, say: Callable[[str], None]
) -> None:
    # A worker that is stopped reports each of its runs; the workflow then writes that down.
    deadline = time.monotonic() + (0.0 if worker is None else _SETTLE_SECONDS)
    while at_work := cloud.runs_at_work():
        if time.monotonic() > deadline:
            say("Not ended, and recorded as failed (workflow_error) at the next start:")
            say("\n".join(f"  {run_id}" for run_id in at_work))
            return
        time.sleep(_WATCH_SECONDS)


@contextlib.contextmanager
def _engine_failures(cloud: LocalCloud) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise cloud.engine.failure(error) from error


def _greeting(cloud: LocalCloud, agent_command: Sequence[str] | None) -> str:
    command = shlex.quote(os.path.relpath(NIGHTSHIFT))
    return f"""
  API      {cloud.api_url}
  Token    {cloud.mint_token("me")}
           (of the user "me", for a day; anybody else's: {command} token --user NAME)
  Prompts  {_who_works(command, agent_command)}

Try, in another terminal:
  {command} tasks create --command "echo Hello from the night" --cron "* * * * *"
  {command} tasks list

Logs are in {os.path.relpath(cloud.state_dir)}. Ctrl-C stops everything; your tasks are kept.
"""


def _who_works(command: str, agent_command: Sequence[str] | None) -> str:
    if agent_command is None:
        options = shlex.join(worker_options(["my-agent", "--flag"]))
        return f"and commands wait for a worker of yours:\n           {command} worker {options}"
    if tuple(agent_command) == DEMO_AGENT:
        return 'go to a demonstration agent; to your own with make run AGENT="my-agent --flag"'
    return f"go to {shlex.join(agent_command)}"


@contextlib.contextmanager
def _hearing(stops: _Stops) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM be wishes instead of tearing the process apart."""
    before = {
        number: signal.signal(number, lambda *_: stops.wish())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
