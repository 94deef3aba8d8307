"""The three kinds of schedule, and the two questions they answer (SPEC sections 3 and 5).

`next_after(now)` says when it is next and serves every re-planning. `ensure_launchable(now,
limits)` says whether it may be submitted: the same, plus what binds only at submission. Re-planning
with the second would refuse a healthy task.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Protocol

from nightshift.domain.errors import NeverFires, NotInFuture, TooFrequent
from nightshift.domain.model.calendar import Calendar
from nightshift.domain.model.cron import CronExpression
from nightshift.domain.model.exclusions import NOTHING_EXCLUDED, Exclusions
from nightshift.domain.model.folding import NOTHING_FOLDED, Folded, folded_fires
from nightshift.domain.model.instants import (
    MILLISECOND,
    format_instant,
    from_milliseconds,
    to_milliseconds,
)
from nightshift.domain.model.jitter import jitter_offset
from nightshift.domain.model.wall_union import WallUnion
from nightshift.domain.model.zones import LAST_SECOND

__all__ = [
    "NO_BOUNDS",
    "Bounds",
    "CronSchedule",
    "EverySchedule",
    "Folded",
    "OnceSchedule",
    "Schedule",
    "ScheduleLimits",
    "jitter_offset",
]


class ScheduleLimits(Protocol):
    """What the operator's policy says about schedules (SPEC section 9), all in seconds."""

    @property
    def min_once_delay_seconds(self) -> int:
        """A `once` lies at least so far ahead when it is submitted (P10)."""

    @property
    def min_every_seconds(self) -> int:
        """Shortest interval of an `every`."""

    @property
    def min_interval_seconds(self) -> int:
        """Two occurrences of a cron schedule are never named closer than this (floor)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What limits a recurring schedule."""

    starts_at: datetime | None = None
    """No occurrence before this instant (UTC); one at it is allowed."""
    ends_at: datetime | None = None
    """No occurrence after this instant (UTC); one at it is allowed."""
    max_runs: int | None = None
    """Runs admitted by the clock before the task is completed; the task counts them."""

    def opened(self, after: datetime) -> datetime:
        """Give the later of `after` and the last instant before `starts_at`."""
        if self.starts_at is None:
            return after
        return max(after, self.starts_at - MILLISECOND)

    def closed(self, instant: datetime | None) -> datetime | None:
        """Give the instant unless it lies after `ends_at`."""
        if instant is None or (self.ends_at is not None and instant > self.ends_at):
            return None
        return instant

    def to_dict(self) -> dict[str, Any]:
        """Give what is set, as plain JSON."""
        return {
            "starts_at": self.starts_at and format_instant(self.starts_at),
            "ends_at": self.ends_at and format_instant(self.ends_at),
            "max_runs": self.max_runs,
        }


NO_BOUNDS: Final = Bounds()


class _Occurring:
    """What every kind can do once it can say when it is next."""

    def next_after(self, now: datetime) -> datetime | None:
        raise NotImplementedError

    def occurrences(self, after: datetime, count: int) -> tuple[datetime, ...]:
        """Give the next `count` occurrences strictly later than a UTC instant; fewer if it ends."""
        found: list[datetime] = []
        upcoming = self.next_after(after)
        while upcoming is not None and len(found) < count:
            found.append(upcoming)
            upcoming = self.next_after(upcoming)
        return tuple(found)


@dataclass(frozen=True)
class CronSchedule(_Occurring):
    """The union of one or more cron expressions in a zone, less what is excluded (P9)."""

    kind: ClassVar[Literal["cron"]] = "cron"
    recurring: ClassVar[bool] = True

    expressions: tuple[CronExpression, ...]
    zone: str
    exclude: Exclusions = NOTHING_EXCLUDED
    bounds: Bounds = NO_BOUNDS

    @cached_property
    def calendar(self) -> Calendar:
        """The fires without the bounds."""
        return Calendar(self.expressions, self.zone, self.exclude)

    def next_after(self, now: datetime) -> datetime | None:
        """Give the first occurrence strictly later than a UTC instant, or None."""
        return self.bounds.closed(self.calendar.next_after(self.bounds.opened(now)))

    def ensure_launchable(self, now: datetime, limits: ScheduleLimits) -> None:
        """Refuse what may not be submitted at `now` (UTC).

        Raises NeverFires if no occurrence is left, TooFrequent if two are named closer than the
        floor anywhere in the cycle.
        """
        if self.next_after(now) is None:
            raise NeverFires("the schedule has no time left to run", field="schedule_spec")
        floor = limits.min_interval_seconds
        gap = WallUnion(self.calendar.rules).gap_below(floor)
        if gap is not None:
            raise TooFrequent(
                f"two runs would be {gap} seconds apart; at least {floor} are required",
                field="schedule_spec.cron",
            )

    def folded(self, after: datetime, through: datetime) -> Folded:
        """Count the occurrences later than `after` and not later than `through`, UTC (P15)."""
        start, end = self.bounds.opened(after), self.bounds.closed(through) or self.bounds.ends_at
        return folded_fires(self.calendar, start, end) if end else NOTHING_FOLDED

    def spec(self) -> dict[str, Any]:
        """Give the schedule as a user may send it, in its normal form."""
        texts = [expression.normalised for expression in self.expressions]
        spec: dict[str, Any] = {"cron": texts[0] if len(texts) == 1 else texts}
        if self.exclude:
            spec["exclude"] = self.exclude.to_dict()
        return spec

    def to_dict(self) -> dict[str, Any]:
        """Give the whole schedule as plain JSON for the table."""
        return _stored(self)

    def same_times_as(self, other: object) -> bool:
        """Tell whether an edit from one to the other leaves every time where it is."""
        return isinstance(other, CronSchedule) and _without_run_limit(self) == _without_run_limit(
            other
        )


@dataclass(frozen=True)
class EverySchedule(_Occurring):
    """A fixed interval on the grid of its anchor; the grid reaches before the anchor, too."""

    kind: ClassVar[Literal["every"]] = "every"
    recurring: ClassVar[bool] = True

    every_seconds: int
    anchor: datetime
    """One point of the grid (UTC, milliseconds)."""
    zone: str
    """Zone in which the times are shown; the grid does not depend on it."""
    bounds: Bounds = NO_BOUNDS

    def next_after(self, now: datetime) -> datetime | None:
        """Give the first point of the grid strictly later than a UTC instant, or None."""
        anchor, step = to_milliseconds(self.anchor), self.every_seconds * 1000
        passed = (to_milliseconds(self.bounds.opened(now)) - anchor) // step
        found = anchor + (passed + 1) * step
        return self.bounds.closed(from_milliseconds(found)) if found <= LAST_SECOND * 1000 else None

    def ensure_launchable(self, now: datetime, limits: ScheduleLimits) -> None:
        """Refuse what may not be submitted at `now` (UTC).

        Raises NeverFires if no occurrence is left, TooFrequent below `min_every_seconds`.
        """
        if self.every_seconds < limits.min_every_seconds:
            raise TooFrequent(
                f"every_seconds must be at least {limits.min_every_seconds}",
                field="schedule_spec.every_seconds",
            )
        if self.next_after(now) is None:
            raise NeverFires("the schedule has no time left to run", field="schedule_spec")

    def folded(self, after: datetime, through: datetime) -> Folded:
        """Count the occurrences later than `after` and not later than `through`, UTC (P15)."""
        first = self.next_after(after)
        end = self.bounds.closed(through) or self.bounds.ends_at
        if first is None or end is None or first > end:
            return NOTHING_FOLDED
        step = self.every_seconds * 1000
        more = (to_milliseconds(end) - to_milliseconds(first)) // step
        return Folded(more + 1, from_milliseconds(to_milliseconds(first) + more * step))

    def spec(self) -> dict[str, Any]:
        """Give the schedule as a user may send it, in its normal form."""
        return {"every_seconds": self.every_seconds, "anchor": format_instant(self.anchor)}

    def to_dict(self) -> dict[str, Any]:
        """Give the whole schedule as plain JSON for the table."""
        return _stored(self)

    def same_times_as(self, other: object) -> bool:
        """Tell whether an edit from one to the other leaves every time where it is."""
        return isinstance(other, EverySchedule) and _without_run_limit(
            replace(self, zone=other.zone)
        ) == _without_run_limit(other)


@dataclass(frozen=True)
class OnceSchedule(_Occurring):
    """One instant; what is stored is UTC only."""

    kind: ClassVar[Literal["once"]] = "once"
    recurring: ClassVar[bool] = False
    bounds: ClassVar[Bounds] = NO_BOUNDS

    at: datetime
    zone: str
    """Zone in which the time is shown."""

    def next_after(self, now: datetime) -> datetime | None:
        """Give the instant if it is strictly later than `now` (UTC), or None."""
        return self.at if self.at > now else None

    def ensure_launchable(self, now: datetime, limits: ScheduleLimits) -> None:
        """Refuse what may not be submitted at `now` (UTC).

        Raises NotInFuture unless it lies `min_once_delay_seconds` ahead; a rule of submission
        alone, never of re-planning (P10).
        """
        delay = limits.min_once_delay_seconds
        if self.at < now + timedelta(seconds=delay):
            raise NotInFuture(
                f"the time must lie at least {delay} seconds in the future", field="schedule_spec"
            )

    def folded(self, after: datetime, through: datetime) -> Folded:
        """Count the occurrences later than `after` and not later than `through`, UTC (P15)."""
        return Folded(1, self.at) if after < self.at <= through else NOTHING_FOLDED

    def spec(self) -> dict[str, Any]:
        """Give the schedule as a user may send it, in its normal form."""
        return {"once": format_instant(self.at)}

    def to_dict(self) -> dict[str, Any]:
        """Give the whole schedule as plain JSON for the table."""
        return _stored(self)

    def same_times_as(self, other: object) -> bool:
        """Tell whether an edit from one to the other leaves the time where it is."""
        return isinstance(other, OnceSchedule) and self.at == other.at


Schedule = CronSchedule | EverySchedule | OnceSchedule


def _stored(schedule: Schedule) -> dict[str, Any]:
    stored = {"kind": schedule.kind, "zone": schedule.zone, "spec": schedule.spec()}
    limits = {name: value for name, value in schedule.bounds.to_dict().items() if value is not None}
    return {**stored, "bounds": limits} if limits else stored


def _without_run_limit(schedule: CronSchedule | EverySchedule) -> CronSchedule | EverySchedule:
    return replace(schedule, bounds=replace(schedule.bounds, max_runs=None))
