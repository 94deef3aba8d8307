"""The worker beside the local cloud: started with it, and again whenever it dies by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nightshift_toolkit.local_cloud.errors import WorkerStoppedError
from nightshift_toolkit.local_cloud.stack import LOCAL_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from nightshift_toolkit.local_cloud.stack import LocalCloud

NIGHTSHIFT = str(Path(sys.executable).parent / "nightshift")
_MOST_STARTS = 5
_WITHIN_SECONDS = 60.0
_SIGNAL_BASE = 128


class LocalWorker:
    """A worker for everything that the local cloud's tasks may ask for; a context manager.

    Args:
        cloud: the running local cloud.
        agent_command: what runs for a prompt.
        say: shows one line to the user.

    """

    def __init__(
        self, cloud: LocalCloud, agent_command: Sequence[str], say: Callable[[str], None]
    ) -> None:
        """Remember what to start; nothing runs before the context is entered."""
        self._cloud = cloud
        self._command = worker_command(cloud, agent_command)
        self._say = say
        self._log_path = cloud.state_dir / "worker.log"
        self._starts: list[float] = []
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self) -> None:
        """Start the worker again if it has ended by itself; the runs it had end `worker_lost`.

        Raises:
            WorkerStoppedError: it has ended five times within a minute.

        """
        if self._process is None or self._process.poll() is None:
            return
        how = _how_it_ended(self._process.returncode)
        recent = [at for at in self._starts if time.monotonic() - at < _WITHIN_SECONDS]
        if len(recent) >= _MOST_STARTS:
            raise WorkerStoppedError(how, self._log_path)
        self._say(f"The worker {how}; starting another. What it was doing ends as worker_lost.")
        self._start("ab")

    def _start(self, mode: str) -> None:
        self._starts.append(time.monotonic())
        with self._log_path.open(mode) as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "nightshift_toolkit.local_cloud.tether", *self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**_without_aws(), **self._cloud.engine.environment()},
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        """Start the worker, its log empty."""
        self._start("wb")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the worker and wait until it is gone."""
        if self._process is None:
            return
        # What the tether waits for; it asks the worker to stop, and kills it if it does not.
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def worker_command(cloud: LocalCloud, agent_command: Sequence[str]) -> list[str]:
    """What works off the local cloud's queue, as many places as there are seats."""
    return [
        *(NIGHTSHIFT, "worker", "--queue-url", cloud.outputs["WorkerQueueUrl"]),
        *("--table", cloud.outputs["TableName"]),
        *("--output-bucket", cloud.outputs["OutputBucketName"]),
        # A stop waits for the look at the queue that is going on.
        *("--drain-seconds", "2", "--poll-seconds", "1", *worker_options(agent_command)),
    ]


def worker_options(agent_command: Sequence[str]) -> list[str]:
    """What every worker of the local cloud is told, whoever starts it."""
    return [
        *("--silence-seconds", LOCAL_PARAMETERS["WorkerSilenceSeconds"]),
        *("--allow-shell", "--concurrency", "10", "--", *agent_command),
    ]


def _without_aws() -> dict[str, str]:
    # A profile of the user's would be looked for before the made-up credentials.
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def _how_it_ended(exit_code: int) -> str:
    number = exit_code - _SIGNAL_BASE if exit_code > _SIGNAL_BASE else -exit_code
    try:
        return f"was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"stopped by itself (exit code {exit_code})"
