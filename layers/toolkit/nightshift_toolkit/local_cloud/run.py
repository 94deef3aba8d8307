"""`make run`: start the local cloud and a worker, say how to use them, stop them together."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from nightshift_toolkit.local_cloud.errors import (
    EngineStoppedError,
    LocalCloudError,
    WorkerStoppedError,
)
from nightshift_toolkit.local_cloud.loopback import LOOPBACK
from nightshift_toolkit.local_cloud.stack import LOCAL_PARAMETERS, PROJECT, LocalCloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DEFAULT_PORT = 4580
STATE_DIR = PROJECT / ".nightshift"
NIGHTSHIFT = str(Path(sys.executable).parent / "nightshift")
DEMO_AGENT = (sys.executable, "-m", "nightshift_toolkit.demo_agent")
# Also into a pipe or a file, where Python would keep it back.
SAY_AT_ONCE = partial(print, flush=True)
_WATCH_SECONDS = 0.2
# Windows of successive ticks overlap, so that the clock looks every two seconds without a hole.
_CLOCK = {"TickWindowSeconds": "65", "PollIntervalSeconds": "2", "TickTimeoutSeconds": "100"}


def run_local(
    *,
    port: int = DEFAULT_PORT,
    state_dir: Path = STATE_DIR,
    agent_command: Sequence[str] = DEMO_AGENT,
    say: Callable[[str], None] = SAY_AT_ONCE,
) -> int:
    """Run the local cloud with one worker until Ctrl-C, and return the exit code.

    Args:
        port: of the HTTP API; the two after it are used too.
        state_dir: where everything is kept between two runs.
        agent_command: what the worker starts for an agent action.
        say: shows one line to the user.

    """
    stop = threading.Event()
    # What is on this machine is not reached through a proxy.
    os.environ["NO_PROXY"] = ",".join(
        filter(None, (os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), LOOPBACK))
    )
    cloud = LocalCloud(state_dir, port=port, parameters=_CLOCK, clock=True)
    try:
        with _stopping(stop):
            _serve(stop, cloud, agent_command, say)
    except LocalCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _serve(
    stop: threading.Event,
    cloud: LocalCloud,
    agent_command: Sequence[str],
    say: Callable[[str], None],
) -> None:
    began = time.monotonic()
    say("Starting the local cloud ...")
    try:
        cloud.start()
        with _worker(cloud, agent_command) as worker:
            say(f"Ready after {time.monotonic() - began:.1f} s.")
            say(_greeting(cloud))
            _watch(stop, cloud, worker)
            say("Stopping ...")
    finally:
        cloud.stop()
    say(f"Stopped. Everything is kept in {cloud.state_dir} for the next run.")


def _watch(stop: threading.Event, cloud: LocalCloud, worker: subprocess.Popen[bytes]) -> None:
    while not stop.wait(_WATCH_SECONDS):
        if not cloud.engine.is_running():
            raise EngineStoppedError(cloud.engine.obituary())
        if worker.poll() is not None:
            raise WorkerStoppedError(worker.returncode, cloud.state_dir / "worker.log")


@contextlib.contextmanager
def _worker(cloud: LocalCloud, agent_command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    with (cloud.state_dir / "worker.log").open("wb") as log:
        worker = _start_worker(cloud, agent_command, log)
    try:
        yield worker
    finally:
        # What the tether waits for; it asks the worker to stop, and kills it if it does not.
        if worker.stdin is not None:
            worker.stdin.close()
        worker.wait()


def _start_worker(
    cloud: LocalCloud, agent_command: Sequence[str], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    command = [
        *(sys.executable, "-m", "nightshift_toolkit.local_cloud.tether"),
        *(NIGHTSHIFT, "worker", "--queue-url", cloud.outputs["WorkerQueueUrl"]),
        *("--table", cloud.outputs["TableName"]),
        *("--silence-seconds", LOCAL_PARAMETERS["WorkerSilenceSeconds"], "--drain-seconds", "2"),
        # Ctrl-C waits for the look at the queue that is going on.
        *("--poll-seconds", "1"),
        # As many places as there are seats: no run waits for a worker here.
        *("--allow-shell", "--concurrency", "10", "--", *agent_command),
    ]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**_without_aws(os.environ), **cloud.engine.environment()},
        start_new_session=True,
    )


def _without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    # A profile of the user's would be looked for before the made-up credentials.
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


def _greeting(cloud: LocalCloud) -> str:
    command = shlex.quote(os.path.relpath(NIGHTSHIFT))
    return f"""
  API      {cloud.api_url}
  Token    {cloud.mint_token("me")}
           (of the user "me", for a day; anybody else's: {command} token --user NAME)

Try, in another terminal:
  {command} tasks create --command "echo Hello from the night" --cron "* * * * *"
  {command} tasks list

Logs are in {os.path.relpath(cloud.state_dir)}. Ctrl-C stops everything; nothing is lost.
"""


@contextlib.contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set `stop` instead of tearing the process apart."""
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
