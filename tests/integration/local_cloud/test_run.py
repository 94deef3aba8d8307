"""`make run` as its user meets it: ready, stopped, refused, and after a kill."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from integration.local_cloud.probes import eventually
from nightshift_toolkit.local_cloud.claim import claim
from nightshift_toolkit.local_cloud.errors import (
    AlreadyRunningError,
    DamagedStateError,
    EngineStoppedError,
    PortBusyError,
    StateFolderError,
)
from nightshift_toolkit.local_cloud.issuer import mint_token
from nightshift_toolkit.local_cloud.loopback import listen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READY_SECONDS = 40.0
RUN = """
import sys
from pathlib import Path
from nightshift_toolkit.local_cloud import run_local
sys.exit(run_local(port=int(sys.argv[1]), state_dir=Path(sys.argv[2])))
"""


def free_port() -> int:
    """Return the first of three ports in a row that nobody listens on."""
    while True:
        with contextlib.suppress(PortBusyError), listen(0) as first:
            port: int = first.getsockname()[1]
            for following in (1, 2):
                listen(port + following).close()
            return port


class Run:
    """A local cloud started as `make run` starts it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self._said = folder.with_name(f"said on {port}")
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-c", RUN, str(port), str(folder)],
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self) -> dict[str, str]:
        """Return what the cloud says of itself, once it is ready."""
        eventually(self._is_ready, READY_SECONDS)
        card: dict[str, str] = json.loads((self.folder / "local.json").read_text())
        return card

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(self.output())
        try:
            card = json.loads((self.folder / "local.json").read_text())
        except FileNotFoundError:
            return False
        return bool(card["pid"] == self.process.pid)

    def output(self) -> str:
        return self._said.read_text()

    def end(self, number: int) -> int:
        """Send the signal `number` and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(READY_SECONDS)

    def close(self) -> None:
        """End it without waiting for what runs."""
        self.process.send_signal(signal.SIGINT)
        self.end(signal.SIGTERM)

    def told_by_worker(self, action: str) -> bool:
        return f'"{action}"' in (self.folder / "worker.log").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".nightshift"


@pytest.fixture
def run(folder: Path) -> Iterator[Run]:
    started = Run(folder, free_port())
    yield started
    started.close()


def test_ctrl_c_stops_everything_that_was_started(run: Run) -> None:
    api = run.ready()["api_url"]
    assert httpx.get(f"{api}/api/health").status_code == 200
    eventually(lambda: run.told_by_worker("worker_started"))
    token = eventually(lambda: re.search(r"Token +(\S+)", run.output()))[1]
    headers = {"authorization": f"Bearer {token}"}
    assert httpx.get(f"{api}/api/scheduled-tasks", headers=headers).status_code == 200
    assert run.end(signal.SIGINT) == 0
    said = run.output()
    assert api in said
    assert "Traceback" not in said
    assert run.told_by_worker("worker_stopped")
    assert not (run.folder / "local.json").exists()
    os.close(claim(run.folder))
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{api}/api/health")


class Api:
    """The API of a run, as its user `me`."""

    def __init__(self, run: Run) -> None:
        card = run.ready()
        token = mint_token("me", state_dir=run.folder, issuer=card["issuer"])
        self._tasks = f"{card['api_url']}/api/scheduled-tasks"
        self._headers = {"authorization": f"Bearer {token}"}

    def _ask(self, method: str, path: str = "", **options: Any) -> Any:
        answer = httpx.request(method, self._tasks + path, headers=self._headers, **options)
        assert answer.is_success, answer.text
        return answer.json()

    def create(self, command: str) -> str:
        body = {
            "title": command,
            "action": {"kind": "shell", "command": command},
            "schedule_spec": {"cron": "0 3 * * *"},
        }
        return str(self._ask("POST", json=body)["id"])

    def titles(self) -> list[str]:
        return [task["title"] for task in self._ask("GET")["items"]]

    def trigger(self, task: str) -> None:
        self._ask("POST", f"/{task}/trigger")

    def statuses(self, task: str) -> list[str]:
        return [run["status"] for run in self._ask("GET", f"/{task}/runs")["items"]]

    def reasons(self, task: str) -> list[str]:
        return [run["reason"] for run in self._ask("GET", f"/{task}/runs")["items"]]


@contextlib.contextmanager
def another(folder: Path) -> Iterator[Run]:
    run = Run(folder, free_port())
    try:
        yield run
    finally:
        run.close()


def test_the_next_run_finds_the_tasks_of_the_last_even_after_a_kill(run: Run, folder: Path) -> None:
    task = Api(run).create("true")
    run.end(signal.SIGKILL)
    with another(folder) as again:
        api = Api(again)
        assert api.titles() == ["true"]
        api.trigger(task)
        eventually(lambda: api.statuses(task) == ["success"], READY_SECONDS)


def test_a_run_that_the_engine_did_not_survive_has_failed_after_the_next_start(
    run: Run, folder: Path
) -> None:
    api = Api(run)
    task = api.create("sleep 600")
    api.trigger(task)
    eventually(lambda: run.told_by_worker("run_picked_up"), READY_SECONDS)
    os.kill(int(run.ready()["engine_pid"]), signal.SIGKILL)
    run.process.wait(READY_SECONDS)
    with another(folder) as again:
        api = Api(again)
        eventually(lambda: api.statuses(task) == ["failed"], READY_SECONDS)
        other = api.create("true")
        api.trigger(other)
        eventually(lambda: api.statuses(other) == ["success"], READY_SECONDS)


def test_nothing_outlives_a_killed_run(run: Run) -> None:
    run.ready()
    eventually(lambda: run.told_by_worker("worker_started"))
    run.end(signal.SIGKILL)
    eventually(lambda: run.told_by_worker("worker_stopped"), READY_SECONDS)
    os.close(claim(run.folder))


def test_a_second_start_says_in_one_sentence_that_one_runs(run: Run, folder: Path) -> None:
    run.ready()
    second = Run(folder, free_port())
    assert second.process.wait(READY_SECONDS) == AlreadyRunningError.exit_code
    said = second.output().strip().splitlines()
    assert said[-1].startswith("A local cloud already runs on")
    assert "Traceback" not in "\n".join(said)
    assert str(run.ready()["pid"]) == str(run.process.pid)


def test_a_busy_port_is_named_in_one_sentence(folder: Path) -> None:
    port = free_port()
    with listen(port):
        busy = Run(folder, port)
        assert busy.process.wait(READY_SECONDS) == PortBusyError.exit_code
    said = busy.output()
    assert f"Port {port} on 127.0.0.1 is in use" in said
    assert "Traceback" not in said


def test_an_engine_that_dies_ends_the_run_with_one_sentence(run: Run) -> None:
    os.kill(int(run.ready()["engine_pid"]), signal.SIGKILL)
    assert run.process.wait(READY_SECONDS) == EngineStoppedError.exit_code
    said = run.output()
    assert "The engine was killed by signal 9" in said
    assert "Traceback" not in said


def worker_pid(run: Run) -> int:
    """Return the process id of the worker, which is not that of the tether that holds it."""
    queue = run.ready()["queue_url"]
    listed = subprocess.run(
        ["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True
    )
    found = [
        int(line.split()[0])
        for line in listed.stdout.splitlines()
        if queue in line and "tether" not in line
    ]
    # A child that it is just starting still has its name.
    return min(found)


def test_a_worker_that_is_killed_is_replaced_and_the_next_run_succeeds(run: Run) -> None:
    """P18: what it was doing ends as `worker_lost`; nothing else of the cloud ends."""
    api = Api(run)
    task = api.create("sleep 600")
    api.trigger(task)
    eventually(lambda: run.told_by_worker("run_picked_up"), READY_SECONDS)
    os.kill(worker_pid(run), signal.SIGKILL)
    eventually(lambda: "The worker was ended by SIGKILL; starting another." in run.output())
    other = api.create("true")
    api.trigger(other)
    eventually(lambda: api.statuses(other) == ["success"], READY_SECONDS)
    eventually(lambda: api.reasons(task) == ["worker_lost"], 2 * READY_SECONDS)


def test_ctrl_c_lets_a_run_end_and_its_record_says_how(run: Run, folder: Path) -> None:
    api = Api(run)
    task = api.create("sleep 4; echo done")
    api.trigger(task)
    eventually(lambda: run.told_by_worker("run_picked_up"), READY_SECONDS)
    assert run.end(signal.SIGINT) == 0
    assert "Waiting for the end of what runs" in run.output()
    with another(folder) as again:
        assert Api(again).statuses(task) == ["success"]


def test_a_second_ctrl_c_stops_what_runs_and_its_record_says_so(run: Run, folder: Path) -> None:
    api = Api(run)
    task = api.create("sleep 600")
    api.trigger(task)
    eventually(lambda: run.told_by_worker("run_picked_up"), READY_SECONDS)
    run.process.send_signal(signal.SIGINT)
    eventually(lambda: "Waiting for the end" in run.output())
    assert run.end(signal.SIGINT) == 0
    assert "at the next start" not in run.output()
    with another(folder) as again:
        assert Api(again).reasons(task) == ["worker_stopped"]


def test_a_damaged_store_is_told_and_left_as_it_is(run: Run, folder: Path) -> None:
    Api(run).create("true")
    run.end(signal.SIGINT)
    engine = folder / "engine"
    table = engine / (engine / "CURRENT").read_text() / "dynamodb.json"
    torn = table.read_bytes()[:-40]
    table.write_bytes(torn)
    second = Run(folder, free_port())
    assert second.process.wait(READY_SECONDS) == EngineStoppedError.exit_code
    assert f"{table} is damaged, and nothing in it was changed" in second.output()
    assert "Ready" not in second.output()
    assert "Traceback" not in second.output()
    assert table.read_bytes() == torn


def test_a_state_folder_that_is_a_file_is_told_in_one_sentence(folder: Path) -> None:
    folder.write_text("no folder")
    refused = Run(folder, free_port())
    assert refused.process.wait(READY_SECONDS) == StateFolderError.exit_code
    assert f"Nothing can be kept in {folder}" in refused.output()
    assert "Traceback" not in refused.output()


def test_a_damaged_key_is_told_in_one_sentence(folder: Path) -> None:
    folder.mkdir()
    (folder / "issuer-key.pem").write_text("no key")
    refused = Run(folder, free_port())
    assert refused.process.wait(READY_SECONDS) == DamagedStateError.exit_code
    assert f"{folder / 'issuer-key.pem'} is damaged" in refused.output()
    assert "Traceback" not in refused.output()
