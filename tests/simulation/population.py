"""Who lives in a simulation: tasks of every kind, as their owners ask for them."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from nightshift.domain.commands import Action, CreateTask, ScheduleEdit, ScheduleRequest
from nightshift.domain.model.enums import (
    ActionKind,
    ContextMode,
    FailureClass,
    Jitter,
    OverlapPolicy,
)
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.retry import Retry

USERS = ("alice", "bob", "carol")
THREADS = ("daily", "weekly", "ops")
ZONES = (
    "UTC",
    "America/New_York",
    "America/Havana",
    "Europe/Berlin",
    "Europe/London",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Atlantic/Azores",
)
DAY = timedelta(days=1)
WIDE = 900
"""The window in which tasks start in the least crowded minute; in a narrow one, where they may."""
PATIENCE = (None, None, None, 1, 2, 3)
RETRIES = (
    Retry(max_attempts=3, backoff_seconds=60, backoff_rate=5),
    Retry(max_attempts=2, backoff_seconds=1800, on=(FailureClass.WORKER_LOST,)),
    Retry(max_attempts=4, backoff_seconds=1, on=(FailureClass.NONZERO_EXIT,)),
)


def new_task(random: Random, now: datetime) -> CreateTask:
    """What an owner asks for at `now`."""
    thread = random.choice(THREADS) if random.random() < 0.15 else None
    schedule = new_schedule(random, now)
    shell = random.random() < 0.1
    return CreateTask(
        user_id=random.choice(USERS),
        title="A task of the simulation",
        action=Action(ActionKind.SHELL if shell else ActionKind.AGENT, "Do it."),
        schedule=schedule,
        context_mode=ContextMode.REUSE_THREAD if thread else ContextMode.FRESH_THREAD,
        thread_id=thread,
        priority=random.choice((5, 5, 5, 0, 3, 7, 9)),
        timeout_seconds=random.choice((600, 3600, 6 * 3600)),
        max_lateness_seconds=random.choice((None, None, None, 300, 3600)),
        jitter_seconds=(window := random.choice((0, 0, 0, 60, WIDE))),
        jitter=Jitter.AUTO if window == WIDE else Jitter.HASH,
        retry=random.choice((*[None] * 5, *RETRIES)),
        pause_after_failures=None if "once" in schedule.spec else random.choice(PATIENCE),
        include_previous_result=random.random() < 0.5,
        overlap_policy=random.choice((*[OverlapPolicy.SKIP] * 4, *OverlapPolicy)),
    )


def new_schedule(random: Random, now: datetime) -> ScheduleRequest:
    """A schedule that may be submitted at `now`."""
    kind = random.random()
    zone = random.choice(ZONES)
    if kind < 0.2:
        ahead = timedelta(seconds=random.choice((300, 7200, 86400, 30 * 86400)))
        at = now + ahead * random.uniform(1, 2)
        return ScheduleRequest(spec={"once": format_instant(_whole(at))}, timezone=zone)
    if kind < 0.4:
        seconds = random.choice((900, 3 * 3600, 6 * 3600, 86400, 3 * 86400))
        bounds = _bounds(random, now, always=seconds == 900)
        spec: dict[str, Any] = {"every_seconds": seconds}
        return ScheduleRequest(spec=spec, timezone=zone, **bounds)
    spec = {"cron": new_cron(random)}
    if random.random() < 0.1:
        first = now.date() + random.randrange(60) * DAY
        spec["exclude"] = {"dates": [f"{first}/{first + 9 * DAY}"], "times": ["12:00-13:30"]}
    return ScheduleRequest(spec=spec, timezone=zone, **_bounds(random, now))


def edited_schedule(random: Random, now: datetime) -> ScheduleEdit:
    """Another schedule for a task, of any kind."""
    request = new_schedule(random, now)
    return ScheduleEdit(
        spec=request.spec,
        timezone=request.timezone,
        starts_at=request.starts_at,
        ends_at=request.ends_at,
        max_runs=request.max_runs,
    )


def new_cron(random: Random) -> str | list[str]:
    """One expression or two; many name hours in which clocks change."""
    minute, hour = random.choice((0, 0, 15, 30, 59)), random.choice((0, 1, 2, 2, 3, 9, 17, 23))
    day = random.randrange(1, 29)
    return random.choice(
        (
            f"{minute} {hour} * * *",
            f"{minute} {hour} * * 1-5",
            f"{minute} {hour} * * 0",
            f"{minute} {hour} {day} * *",
            f"{minute} {hour} L * *",
            f"{minute} {hour} * * 5#2",
            f"{minute} */6 * * *",
            f"*/20 {hour} * * *",
            "0 */3 * * *",
            "30 1 * * *",
            [f"{minute} 6 * * 1-5", f"{minute} 2 * * 6,7"],
        )
    )


def _bounds(random: Random, now: datetime, *, always: bool = False) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    if random.random() < 0.1:
        bounds["starts_at"] = format_instant(_whole(now + random.uniform(0.1, 5) * DAY))
    if always or random.random() < 0.1:
        bounds["ends_at"] = format_instant(_whole(now + random.uniform(40, 80) * DAY))
    if always or random.random() < 0.1:
        bounds["max_runs"] = random.randrange(1, 40)
    return bounds


def _whole(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)
