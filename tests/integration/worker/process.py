"""A worker as a process of its own at a place, its log, and what its commands leave running."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from integration.worker.place import Place
from unit.worker.fakes import eventually

USUAL = ("--poll-seconds", "1", "--heartbeat-seconds", "0.3", "--grace-seconds", "0.5")

Worker = subprocess.Popen[bytes]


@contextmanager
def worker(place: Place, log: Path, *options: str) -> Iterator[Worker]:
    command = [sys.executable, "-m", "nightshift_toolkit.cli", "worker"]
    where = ["--queue-url", place.queue_url, "--table", place.table_name]
    with (
        log.open("ab") as file,
        subprocess.Popen(
            [*command, *where, *USUAL, *options],
            stderr=file,
            env={**os.environ, **place.engine.environment()},
        ) as process,
    ):
        try:
            assert eventually(lambda: b"worker_started" in log.read_bytes())
            yield process
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()


def actions(log: Path) -> list[str]:
    return [json.loads(line)["action"] for line in log.read_text().splitlines()]


def ended(place: Place, execution: str) -> Callable[[], bool]:
    return lambda: place.status(execution) != "RUNNING"


def working_in(folder: Path) -> list[Any]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == folder:
                    found.append(entry.name)
            except OSError:
                continue
    return found
