"""From what a user sends to a schedule (SPEC section 5): one selector, strictly typed."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypeGuard

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.cron import parse_cron
from nightshift.domain.model.exclusions import NOTHING_EXCLUDED, parse_exclusions
from nightshift.domain.model.instants import (
    EPOCH,
    has_offset,
    is_time_text,
    parse_local,
    parse_rfc3339,
    truncate,
)
from nightshift.domain.model.spec import (
    NO_BOUNDS,
    Bounds,
    CronSchedule,
    EverySchedule,
    OnceSchedule,
    Schedule,
)
from nightshift.domain.model.wall import WallRule
from nightshift.domain.model.zones import FIRST_SECOND, LAST_SECOND, load_zone, local_to_utc

MAX_EXPRESSIONS: Final = 10
"""Most cron expressions in one schedule."""
MAX_SECONDS: Final = 3650 * 86_400
"""Longest `every_seconds` and `after_seconds`: ten years."""

_OPTIONAL: Final[dict[str, frozenset[str]]] = {
    "cron": frozenset({"exclude"}),
    "every_seconds": frozenset({"anchor"}),
    "once": frozenset(),
    "after_seconds": frozenset(),
}
_EARLIEST: Final = EPOCH + timedelta(seconds=FIRST_SECOND)
_LATEST: Final = EPOCH + timedelta(seconds=LAST_SECOND)


def parse_schedule(
    spec: Mapping[str, Any],
    *,
    zone: str,
    now: datetime,
    bounds: Bounds = NO_BOUNDS,
    previous: Schedule | None = None,
) -> Schedule:
    """Build a schedule from its wire form: `cron`, `every_seconds`, `once` or `after_seconds`.

    Args:
        spec: exactly one selector, with `exclude` beside `cron` or `anchor` beside `every_seconds`.
        zone: the task's zone.
        now: UTC; the anchor of an `every` that names none, and the start of `after_seconds`.
        bounds: `starts_at`, `ends_at`, `max_runs`, for recurring kinds only.
        previous: the schedule being edited; an `every` sent again with the same length and no
            anchor keeps its grid, so that a form sent back unchanged moves nothing.

    Raises InvalidSchedule, InvalidTimeZone or NeverFires. Whether the result may be submitted is
    `ensure_launchable`'s question.
    """
    load_zone(zone)
    selector = _selector(spec)
    value = spec[selector]
    if selector == "cron":
        return _cron(value, spec, zone, bounds)
    if selector == "every_seconds":
        return _every(value, spec, zone, now, bounds, previous)
    if bounds != NO_BOUNDS:
        raise InvalidSchedule("starts_at, ends_at and max_runs bound recurring schedules only")
    if selector == "after_seconds":
        at = _later(now, _seconds(value, "schedule_spec.after_seconds"))
    else:
        at = parse_moment(value, zone=zone, field="schedule_spec.once")
    return OnceSchedule(at, zone)


def parse_moment(text: object, *, zone: str, field: str) -> datetime:
    """Read a time as `once` accepts it, as a UTC instant.

    RFC 3339 with an offset, or local `YYYY-MM-DDTHH:MM:SS[.mmm]` in the zone. A local time that
    does not exist is refused; one that exists twice is the earlier (SPEC section 5). `field` names
    the request field in the error. Raises InvalidSchedule.
    """
    if not is_time_text(text) or has_offset(text):
        return _instant(text, field)
    try:
        placed = local_to_utc(parse_local(text, field=field), zone).first
    except OverflowError:
        raise InvalidSchedule("the time lies outside the calendar", field=field) from None
    if placed is None:
        raise InvalidSchedule(
            "this local time does not exist: the clock is moved forward over it", field=field
        )
    return _in_calendar(placed, field)


def parse_bounds(*, starts_at: object, ends_at: object, max_runs: object) -> Bounds:
    """Read the bounds of a recurring schedule, RFC 3339 with an offset; None leaves one open.

    Raises InvalidSchedule for a malformed time, a `max_runs` below 1 and an end before the start.
    """
    start = None if starts_at is None else _instant(starts_at, "starts_at")
    end = None if ends_at is None else _instant(ends_at, "ends_at")
    if start is not None and end is not None and end < start:
        raise InvalidSchedule("ends_at lies before starts_at", field="ends_at")
    if max_runs is not None and (not _is_integer(max_runs) or max_runs < 1):
        raise InvalidSchedule("max_runs must be a whole number from 1 up", field="max_runs")
    return Bounds(start, end, max_runs)


def _selector(spec: object) -> str:
    if not isinstance(spec, Mapping):
        raise InvalidSchedule("the schedule must be an object", field="schedule_spec")
    named = [name for name in _OPTIONAL if name in spec]
    if len(named) != 1:
        raise InvalidSchedule(
            f"the schedule must hold exactly one of {', '.join(_OPTIONAL)}", field="schedule_spec"
        )
    if spec.keys() - {named[0]} - _OPTIONAL[named[0]]:
        raise InvalidSchedule(
            f"the schedule holds a field that does not go with {named[0]}", field="schedule_spec"
        )
    return named[0]


def _cron(value: object, spec: Mapping[str, Any], zone: str, bounds: Bounds) -> CronSchedule:
    texts = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(texts) <= MAX_EXPRESSIONS:
        raise InvalidSchedule(
            f"cron must hold 1 to {MAX_EXPRESSIONS} expressions", field="schedule_spec.cron"
        )
    # The same expression written twice is one; the order written is kept for the reader.
    expressions = tuple(dict.fromkeys(parse_cron(text) for text in texts))
    exclude = parse_exclusions(spec["exclude"]) if "exclude" in spec else NOTHING_EXCLUDED
    if not any(WallRule.of(expression, exclude).times for expression in expressions):
        raise NeverFires("exclude leaves no time of day", field="schedule_spec.exclude")
    return CronSchedule(expressions, zone, exclude, bounds)


def _every(
    value: object,
    spec: Mapping[str, Any],
    zone: str,
    now: datetime,
    bounds: Bounds,
    previous: Schedule | None,
) -> EverySchedule:
    seconds = _seconds(value, "schedule_spec.every_seconds")
    if "anchor" in spec:
        anchor = _instant(spec["anchor"], "schedule_spec.anchor")
    elif isinstance(previous, EverySchedule) and previous.every_seconds == seconds:
        anchor = previous.anchor
    else:
        anchor = truncate(now)
    return EverySchedule(seconds, anchor, zone, bounds)


def _later(now: datetime, seconds: int) -> datetime:
    field = "schedule_spec.after_seconds"
    try:
        return _in_calendar(truncate(now + timedelta(seconds=seconds)), field)
    except OverflowError:
        raise InvalidSchedule("the time lies outside the calendar", field=field) from None


def _seconds(value: object, field: str) -> int:
    if not _is_integer(value) or not 1 <= value <= MAX_SECONDS:
        raise InvalidSchedule(f"must be a whole number from 1 to {MAX_SECONDS}", field=field)
    return value


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _instant(text: object, field: str) -> datetime:
    return _in_calendar(parse_rfc3339(text, field=field), field)


def _in_calendar(instant: datetime, field: str) -> datetime:
    if not _EARLIEST <= instant <= _LATEST:
        raise InvalidSchedule("the time lies outside the calendar", field=field)
    return instant
