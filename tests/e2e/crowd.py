"""Many runs at once: tasks that the clock starts again and again, two workers, and a count."""

import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.place import Place, eventually
from nightshift_toolkit.local_cloud.errors import TickFailedError

_ENDED_WITHIN = 300
_RUN = "RUN#"
# The first runs go on when every place is taken, and then not all end in one moment. What a run
# leaves behind is in a session of its own, so that only its warden can find it.
_COMMAND = """\
note() {{ printf '%s %s %s\\n' "$1" "$NIGHTSHIFT_RUN_ID" "$(date +%s%N)" >> "$CROWD_LOG"; }}
note began
setsid sleep 3600 &
until [ "$(grep -c '^began ' "$CROWD_LOG")" -ge {places} ]; do sleep 0.5; done
sleep $(( {seconds} / 2 + $$ % {seconds} ))
note ended
"""


@dataclass(frozen=True)
class Size:
    """How large a crowd is; times in seconds."""

    places: int
    """How many runs may be at work at once, over both workers."""
    tasks: int
    work_seconds: int
    every_seconds: int
    for_seconds: int
    """How long the clock starts runs at least."""
    least_runs: int
    """How many it starts at least."""


@dataclass
class Tally:
    """What was done, by what the commands themselves wrote, and what is recorded."""

    began: Counter[str]
    ended: Counter[str]
    recorded: Counter[str]
    """How often each run that was not skipped is recorded as a success; others count 0."""
    most_at_once: int
    failed_ticks: int
    left_running: list[str] = field(default_factory=list)
    unreaped: list[str] = field(default_factory=list)


class Crowd:
    """Tasks and two workers on one local cloud, told apart from all else by a mark."""

    def __init__(self, place: Place, size: Size) -> None:
        self._place = place
        self._size = size
        self._failed_ticks = 0
        self._mark = uuid.uuid4().hex
        self._log = place.cloud.state_dir.parent / "crowd.log"
        self._variables = place.cloud.state_dir.parent / "crowd.env"
        self._log.touch()
        self._variables.write_text(f"CROWD_LOG={self._log}\nCROWD_MARK={self._mark}\n")

    def work(self, silence_seconds: str) -> Tally:
        """Let the clock start runs for the time given, let all end, and count."""
        ada = self._place.caller()
        half = str(self._size.places // 2)
        options = ("--allow-shell", "--concurrency", half, "--env-file", str(self._variables))
        workers = [
            self._place.worker(*options, "--silence-seconds", silence_seconds) for _ in range(2)
        ]
        command = _COMMAND.format(seconds=self._size.work_seconds, places=self._size.places)
        tasks = [
            self._place.create(
                ada,
                action={"kind": "shell", "command": command},
                schedule_spec={"every_seconds": self._size.every_seconds},
            )
            for _ in range(self._size.tasks)
        ]
        self._tick()
        for task in tasks:
            answer = ada.post(f"/api/scheduled-tasks/{task['id']}/pause", json={"reason": "over"})
            assert answer.status_code == 200, answer.text
        eventually(self._nothing_is_held, within=_ENDED_WITHIN, what="every run has ended")
        tally = self._count()
        tally.left_running = self._marked_processes()
        tally.unreaped = [name for worker in workers for name in _zombies_of(worker.pid)]
        return tally

    def _tick(self) -> None:
        size = self._size
        start = time.monotonic()

        def is_over() -> bool:
            self._look()
            enough = self._log.read_text().count("began ") >= size.least_runs
            return enough and time.monotonic() - start >= size.for_seconds

        within = size.for_seconds + _ENDED_WITHIN
        eventually(is_over, within=within, what="the clock has started enough for long enough")

    def _look(self) -> None:
        """Tick; where one engine does the work of all, an answer of its may come too late."""
        try:
            self._place.cloud.tick_now()
        except TickFailedError:
            self._failed_ticks += 1

    def _nothing_is_held(self) -> bool:
        self._look()
        return not self._place.held_keys()

    def _count(self) -> Tally:
        events = [line.split() for line in self._log.read_text().splitlines()]
        began = Counter(run for word, run, _ in events if word == "began")
        ended = Counter(run for word, run, _ in events if word == "ended")
        at_once = most = 0
        for word, _, _ in sorted(events, key=lambda event: int(event[2])):
            at_once += 1 if word == "began" else -1
            most = max(most, at_once)
        return Tally(began, ended, Counter(self._recorded()), most, self._failed_ticks)

    def _recorded(self) -> dict[str, int]:
        rows = [row for row in self._place.rows() if row["sk"]["S"].startswith(_RUN)]
        statuses = {row["sk"]["S"].removeprefix(_RUN): row["status"]["S"] for row in rows}
        return {
            run: int(status == "success") for run, status in statuses.items() if status != "skipped"
        }

    def _marked_processes(self) -> list[str]:
        """The processes that have the mark in their environment, wherever they went."""
        mark = f"CROWD_MARK={self._mark}".encode()
        return [name for name, environment in _each("environ") if mark in environment]


def _zombies_of(pid: int) -> list[str]:
    """The children of a process that have ended and were not reaped."""
    stats = ((name, stat.rpartition(b")")[2].split()) for name, stat in _each("stat"))
    return [name for name, fields in stats if fields[:2] == [b"Z", str(pid).encode()]]


def _each(what: str) -> list[tuple[str, bytes]]:
    """One file of every process that is there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry.name, (entry / what).read_bytes()))
            except OSError:
                continue
    return found


def as_line(size: Size, tally: Tally) -> str:
    """The figures of a crowd, for people."""
    facts: dict[str, Any] = {
        "places": size.places,
        "seconds": size.for_seconds,
        "runs": len(tally.began),
        "most_at_once": tally.most_at_once,
        "failed_ticks": tally.failed_ticks,
    }
    return json.dumps(facts)
