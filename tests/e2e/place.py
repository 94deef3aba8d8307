"""The local cloud as users meet it: the API over HTTP, the command line, workers as processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

import planted
from nightshift_toolkit.local_cloud.stack import LocalCloud

Value = TypeVar("Value")

QUICK = {
    "MinOnceDelaySeconds": "1",
    "LaunchLeaseSeconds": "5",
    "LaunchDeadlineSeconds": "315",
    "VerifyAfterSeconds": "5",
    "WorkerSilenceSeconds": "30",
    "TickWindowSeconds": "0",
}
"""Limits that keep a test from waiting; the rules behind them are the same."""

LEAVING_SECONDS = 15


def eventually(question: Callable[[], Value | None], *, within: float, what: str) -> Value:
    """The first answer that is not None or False, asked for up to `within` seconds."""
    end = time.monotonic() + within
    breath = threading.Event()
    while time.monotonic() < end:
        answer = question()
        if answer is not None and answer is not False:
            return answer
        breath.wait(0.05)
    raise AssertionError(f"{what}: not within {within} s")


@dataclass
class Place:
    """One local cloud and what a test does with it."""

    cloud: LocalCloud
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    callers: list[httpx.Client] = field(default_factory=list)

    # -- logs --

    @property
    def worker_log(self) -> Path:
        """What all workers log."""
        return self.cloud.state_dir / "worker.log"

    def lines(self, *paths: Path) -> list[dict[str, Any]]:
        """The lines of logs that have an `action` word."""
        found = []
        for path in paths or (self.cloud.engine.functions_log_path, self.worker_log):
            for line in path.read_text(encoding="utf-8").splitlines():
                start = line.find("{")
                if start >= 0 and '"action"' in line and line.endswith("}"):
                    found.append(json.loads(line[start:]))
        return found

    def leaks(self) -> list[str]:
        """The lines of every log of this cloud that have a planted secret or a token of a person.

        The first part of a token says nothing; the rest of one is in no log.
        """
        signatures = [
            caller.headers["Authorization"].rpartition(".")[2]
            for caller in self.callers
            if "Authorization" in caller.headers
        ]
        texts = {
            path: path.read_text(encoding="utf-8", errors="replace")
            for path in self.cloud.state_dir.rglob("*.log")
        }
        shown = [
            f"{path.name}: a token"
            for path, text in texts.items()
            for signature in signatures
            if signature in text
        ]
        return planted.leaks_of(self.cloud.state_dir) + shown

    # -- workers --

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a worker as an operator does."""
        command = [sys.executable, "-m", "nightshift_toolkit.cli", "worker", *options]
        with self.worker_log.open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.cloud.state_dir.parent,
                env=self.environment(),
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.workers.append(process)
        return process

    def dismiss(self) -> None:
        """End every worker that still runs, hang up, and see that no log shows a secret."""
        for process in self.workers:
            process.terminate()
            try:
                process.wait(LEAVING_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.workers.clear()
        assert self.leaks() == []
        for caller in self.callers:
            caller.close()
        self.callers.clear()

    def environment(self) -> dict[str, str]:
        """What a worker or the command line finds in its environment."""
        card = self.cloud.card()
        return {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": card["region"],
            "AWS_ENDPOINT_URL": card["endpoint_url"],
        }

    # -- people --

    def caller(self, user: str = "ada", **token: Any) -> httpx.Client:
        """An HTTP client that is signed in as `user`."""
        headers = {"Authorization": f"Bearer {self.cloud.mint_token(user, **token)}"}
        caller = httpx.Client(base_url=self.cloud.api_url, headers=headers, timeout=30)
        self.callers.append(caller)
        return caller

    def create(self, caller: httpx.Client, **body: Any) -> dict[str, Any]:
        """Create a task that is expected to be accepted."""
        wanted = {"title": "A task", "schedule_spec": {"cron": "0 3 * * *"}} | body
        answer = caller.post("/api/scheduled-tasks", json=wanted)
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def runs(self, caller: httpx.Client, task: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The task's runs, newest first."""
        answer = caller.get(f"/api/scheduled-tasks/{task['id']}/runs")
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def ended(
        self, caller: httpx.Client, task: Mapping[str, Any], *, within: float = 60
    ) -> dict[str, Any]:
        """The task's newest run once it has ended, ticking meanwhile."""

        def ended_run() -> dict[str, Any] | None:
            self.cloud.tick_now()
            runs = self.runs(caller, task)
            if runs and runs[0]["status"] not in ("queued", "running"):
                return runs[0]
            return None

        return eventually(ended_run, within=within, what="the run ended")

    def in_status(
        self, caller: httpx.Client, task: Mapping[str, Any], status: str, *, within: float = 30
    ) -> dict[str, Any]:
        """The task's newest run once it has this status."""

        def run() -> dict[str, Any] | None:
            self.cloud.tick_now()
            runs = self.runs(caller, task)
            return runs[0] if runs and runs[0]["status"] == status else None

        return eventually(run, within=within, what=f"the run is {status}")

    # -- behind the scenes --

    def take_back_limits(self) -> None:
        """The limits as deployed again, for everybody who comes after a change of them."""
        deployed = {"max_concurrent_runs": None, "max_concurrent_runs_per_user": None}
        answer = self.caller("operator").patch("/api/policy", json=deployed)
        assert answer.status_code == 200, answer.text

    def rows(self) -> list[dict[str, Any]]:
        """Every row of the table, raw."""
        client = self.cloud.client("dynamodb")
        pages = client.get_paginator("scan").paginate(TableName=self.cloud.outputs["TableName"])
        return [row for page in pages for row in page["Items"]]

    def held_keys(self) -> list[str]:
        """The partitions of every slot, seat and thread lock that is held."""
        kinds = ("ACTIVE#", "SEAT#", "THREADLOCK#")
        return [row["pk"]["S"] for row in self.rows() if row["pk"]["S"].startswith(kinds)]

    def command_line(self, *words: str) -> Any:
        """What the command line answers with `--json`."""
        command = [sys.executable, "-m", "nightshift_toolkit.cli", *words, "--json"]
        answer = subprocess.run(
            command, cwd=self.cloud.state_dir.parent, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)


def local_cloud(folder: Path, **parameters: str) -> LocalCloud:
    """A local cloud for whoever works in `folder`, not yet started; only tests make it tick."""
    return LocalCloud(folder / ".nightshift", parameters=QUICK | parameters)
