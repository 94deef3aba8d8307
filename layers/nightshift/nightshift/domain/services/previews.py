"""When a schedule would run, before there is a task: the same rules, and nothing is written."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightshift.domain.commands import PreviewSchedule
from nightshift.domain.model.instants import parse_rfc3339
from nightshift.domain.model.jitter import widest_jitter
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import Schedule, ScheduleLimits
from nightshift.domain.model.words import describe, fire_note
from nightshift.domain.model.zones import load_zone


@dataclass(frozen=True, slots=True)
class Fire:
    """One occurrence: its nominal instant (UTC), the same in its zone, and what touched it.

    `effective_until` is when it starts at the latest; None without jitter. The start itself
    depends on the id that the task will have.
    """

    nominal: datetime
    local: datetime
    note: str | None
    effective_until: datetime | None


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """A schedule in words, and its next occurrences."""

    schedule: Schedule
    words: str
    fires: tuple[Fire, ...]


def preview_schedule(
    command: PreviewSchedule, limits: ScheduleLimits, now: datetime
) -> SchedulePreview:
    """Say when a schedule would run if it were submitted now, or at the `after` of the command.

    Fewer times than asked for where the schedule ends.

    Raises:
        InvalidSchedule, InvalidTimeZone, NotInFuture, TooFrequent, NeverFires: a task with it
            would be refused just so.
    """
    start = now if command.after is None else parse_rfc3339(command.after, field="after")
    request = command.schedule
    bounds = parse_bounds(
        starts_at=request.starts_at,
        ends_at=request.ends_at,
        max_runs=request.max_runs,
    )
    schedule = parse_schedule(request.spec, zone=request.timezone, now=start, bounds=bounds)
    schedule.ensure_launchable(start, limits)
    count = min(command.count, bounds.max_runs or command.count)
    times = schedule.occurrences(start, count)
    return SchedulePreview(
        schedule=schedule,
        words=describe(schedule, command.language),
        fires=tuple(_fire(schedule, time, command) for time in times),
    )


def _fire(schedule: Schedule, nominal: datetime, command: PreviewSchedule) -> Fire:
    return Fire(
        nominal=nominal,
        local=nominal.astimezone(load_zone(schedule.zone)),
        note=fire_note(schedule, nominal, command.language),
        effective_until=_latest_start(schedule, nominal, command.jitter_seconds),
    )


def _latest_start(schedule: Schedule, nominal: datetime, jitter_seconds: int) -> datetime | None:
    if not jitter_seconds:
        return None
    widest = widest_jitter(jitter_seconds, nominal, schedule.next_after(nominal))
    return nominal + timedelta(seconds=widest)
