"""A worker's surroundings for a test: fakes, settings that hurry, and messages to send."""

import itertools
import json
import os
import sys
from dataclasses import replace
from typing import Any

import planted
from nightshift_toolkit.worker.settings import WorkerSettings
from nightshift_toolkit.worker.work import Work, Workbench
from unit.worker.fakes import FakeCallbacks, FakePickups, FakeQueue

ECHO = (sys.executable, "-c", "import sys; print('asked:', sys.stdin.read())")

_HURRIED = WorkerSettings(
    agent_command=ECHO,
    allow_shell=True,
    concurrency=1,
    silence_seconds=60.0,
    heartbeat_seconds=0.05,
    grace_seconds=0.3,
    drain_seconds=10.0,
    poll_seconds=0.05,
    environment={"PATH": os.environ["PATH"], "AWS_SECRET_ACCESS_KEY": "not for commands"},
)


class Desk:
    """Queue, table and workflow, and what is needed to put a run before a worker."""

    def __init__(self, **settings: Any) -> None:
        self._numbers = itertools.count(1)
        self.queue = FakeQueue()
        self.pickups = FakePickups()
        self.callbacks = FakeCallbacks()
        self.settings = replace(_HURRIED, **settings)

    def bench(self) -> Workbench:
        return Workbench(self.queue, self.pickups, self.callbacks, self.settings)

    def message(self, **fields: Any) -> dict[str, Any]:
        """A message of a run that has just passed the fence."""
        number = next(self._numbers)
        message: dict[str, Any] = {
            "task_token": f"{planted.TASK_TOKEN}-{number}",
            "run_id": f"tsk_1-2026010{number}T090000000Z",
            "task_id": "tsk_1",
            "user_id": "ada",
            "nonce": f"nonce-{number}",
            "attempt": 1,
            "trigger": "schedule",
            "scheduled_for": "2026-01-01T09:00:00.000Z",
            "thread_id": "thr_1",
            "assistant_id": None,
            "title": "Tickets",
            "action": {"kind": "agent", "prompt": planted.PROMPT},
            "timeout_seconds": 60,
        } | fields
        self.pickups.running(message)
        self.callbacks.waiting.add(message["task_token"])
        return message

    def send(self, **fields: Any) -> dict[str, Any]:
        """Put a run's message on the queue and return it."""
        message = self.message(**fields)
        self.queue.send(json.dumps(message))
        return message

    def shell(self, command: str, **fields: Any) -> dict[str, Any]:
        """Put a command's message on the queue and return the message."""
        hidden = f"{command}\n# {planted.COMMAND}"
        return self.send(action={"kind": "shell", "command": hidden}, **fields)

    def take(self) -> Work:
        """Receive the next message."""
        (delivery,) = self.queue.receive(1, 0)
        return Work(self.bench(), delivery)

    def report_on(self, message: dict[str, Any]) -> dict[str, Any]:
        """The report on the message's run; KeyError when there is none."""
        return self.callbacks.reports[message["task_token"]]
