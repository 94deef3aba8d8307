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

from nightshift_toolkit.local_cloud.errors import (
    EngineStoppedError,
    LocalCloudError,
    NoOutputError,
)
from nightshift_toolkit.local_cloud.local_worker import NIGHTSHIFT, LocalWorker
from nightshift_toolkit.local_cloud.loopback import LOOPBACK
from nightshift_toolkit.local_cloud.stack import PROJECT, LocalCloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEFAULT_PORT = 4580
STATE_DIR = PROJECT / ".nightshift"
DEMO_AGENT = (sys.executable, "-m", "nightshift_toolkit.demo_agent")
_WATCH_SECONDS = 0.2
_DRAIN_SECONDS = 60.0
# Windows of successive ticks overlap, so that the clock looks every two seconds without a hole.
_CLOCK = {"TickWindowSeconds": "65", "PollIntervalSeconds": "2", "TickTimeoutSeconds": "100"}


def say_at_once(line: str) -> None:
    """Print a line, also into a pipe or a file, where Python would keep it back."""
    try:
        print(line, flush=True)
    except OSError as error:
        raise NoOutputError(error) from error


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
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


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
            _let_runs_end(cloud, worker, stops, say)
            say("Stopping ...")
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
        say("Waiting for the end of what runs; Ctrl-C again stops at once:")
        say("\n".join(f"  {run_id}" for run_id in at_work))
    while at_work and time.monotonic() < deadline and not stops.at_once.wait(_WATCH_SECONDS):
        _look_after(cloud, worker)
        at_work = cloud.runs_at_work()
    if at_work:
        say("Not ended, and recorded as failed (workflow_error) at the next start:")
        say("\n".join(f"  {run_id}" for run_id in at_work))


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

Logs are in {os.path.relpath(cloud.state_dir)}. Ctrl-C stops everything; nothing is lost.
"""


def _who_works(command: str, agent_command: Sequence[str] | None) -> str:
    if agent_command is None:
        return f"wait for a worker of yours: {command} worker --allow-shell -- my-agent --flag"
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
