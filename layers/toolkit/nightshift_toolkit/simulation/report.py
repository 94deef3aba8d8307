"""What a simulation found, counted while it runs."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.run import Run

MAX_RUNS_KEPT: Final = 10_000
"""Most single runs and skips that a report lists."""


@dataclass(slots=True)
class Waits:
    """How long runs waited from their due time to their start, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one wait."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)

    def to_dict(self) -> dict[str, float]:
        """Plain JSON."""
        mean = self.total / self.count if self.count else 0.0
        return {"mean_seconds": round(mean, 1), "longest_seconds": round(self.longest, 1)}


@dataclass(slots=True)
class TaskTally:
    """What became of one task's occurrences."""

    title: str
    runs: int = 0
    failed: int = 0
    folded: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    waits: Waits = field(default_factory=Waits)
    blocked: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "title": self.title,
            "runs": self.runs,
            "failed": self.failed,
            "skipped": dict(self.skipped),
            "folded": self.folded,
            "waiting": self.waits.to_dict(),
            "blocked": self.blocked,
        }


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant and how many of something there were at it."""

    at: datetime | None = None
    count: int = 0

    def or_more(self, at: datetime, count: int) -> "Moment":
        """This one, or the other if there were more."""
        return Moment(at, count) if count > self.count else self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"at": self.at and format_instant(self.at), "count": self.count}


@dataclass(slots=True)
class Report:
    """What would run, be skipped and why, and how long it would wait.

    `looks` are those of ticks that had something to do, `looks_missed` those that an outage took.
    `folded` occurrences passed while their task waited; each belongs to the run or skip after it.
    `busiest` is the minute in which most runs start, `longest_line` the tick that found most tasks
    due, `most_active` the one after which most runs are active. `waiting_at_the_end` tasks are due
    and have no seat yet when the time is over.
    """

    start: datetime
    end: datetime
    tasks: dict[str, TaskTally] = field(default_factory=dict)
    not_simulated: list[tuple[str, str]] = field(default_factory=list)
    looks: int = 0
    looks_missed: int = 0
    busiest: Moment = field(default_factory=Moment)
    longest_line: Moment = field(default_factory=Moment)
    most_active: Moment = field(default_factory=Moment)
    waiting_at_the_end: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)
    runs_cut: bool = False

    def list_run(self, run: Run, at: datetime) -> None:
        """Keep a run or a skip, as far as there is room."""
        if len(self.runs) >= MAX_RUNS_KEPT:
            self.runs_cut = True
            return
        self.runs.append(
            {
                "task_id": run.task_id,
                "scheduled_for": run.scheduled_for and format_instant(run.scheduled_for),
                "at": format_instant(at),
                "what": "skipped" if run.keys is None else "run",
                "reason": run.reason,
                "folded": run.folded,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        tallies = self.tasks.values()
        skipped: Counter[str] = sum((tally.skipped for tally in tallies), Counter())
        waits = Waits(
            count=sum(tally.waits.count for tally in tallies),
            total=sum(tally.waits.total for tally in tallies),
            longest=max((tally.waits.longest for tally in tallies), default=0.0),
        )
        return {
            "from": format_instant(self.start),
            "to": format_instant(self.end),
            "looks": self.looks,
            "looks_missed": self.looks_missed,
            "runs": sum(tally.runs for tally in tallies),
            "failed": sum(tally.failed for tally in tallies),
            "skipped": dict(skipped),
            "folded": sum(tally.folded for tally in tallies),
            "waiting": waits.to_dict(),
            "waiting_at_the_end": self.waiting_at_the_end,
            "busiest_minute": self.busiest.to_dict(),
            "longest_line": self.longest_line.to_dict(),
            "most_active": self.most_active.to_dict(),
            "tasks": {task_id: tally.to_dict() for task_id, tally in self.tasks.items()},
            "not_simulated": [
                {"title": title, "reason": reason} for title, reason in self.not_simulated
            ],
        }
