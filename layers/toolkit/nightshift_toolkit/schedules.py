"""Next times without a cloud: what `nightshift next --batch` answers, line by line.

Every line in gives one line out, whatever it holds: a wrong line is answered with an error and the
next one is read.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from nightshift.domain.errors import InvalidRequest, InvalidSchedule, NightshiftError
from nightshift.domain.model.instants import EPOCH, format_instant, parse_rfc3339
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.zones import FIRST_SECOND

MAX_COUNT: Final = 100
"""Most times that one line may ask for."""
DEFAULT_COUNT: Final = 3

_FIELDS: Final = frozenset(
    {"expr", "schedule", "zone", "after", "count", "starts_at", "ends_at", "max_runs"}
)
_EXPECTED: Final = frozenset({"next", "why"})
_EARLIEST: Final = EPOCH + timedelta(seconds=FIRST_SECOND)
_NO_NOW: Final = datetime(1970, 1, 1, tzinfo=UTC)


def next_batch(lines: Iterable[str], *, now: datetime | None = None) -> Iterator[str]:
    """Answer JSON lines `{expr|schedule, zone, after, count}` with one JSON line each.

    Args:
        lines: `expr` is a cron expression or a list of them, `schedule` a `schedule_spec` object;
            `zone` is UTC by default, `after` (RFC 3339) is now by default, `count` is 3 by default
            and 1 to 100. `starts_at`, `ends_at` and `max_runs` bound a recurring schedule. `next`
            and `why` are ignored, so that rows with the expected answer can be sent as they are;
            any other field, and one that comes twice, is refused.
        now: UTC; what `after` means where it is left out; the clock's time by default.

    Yields `{"next": [...]}`, with fewer times where the schedule ends, or
    `{"error": {"code", "message"}}`. An `every` without an anchor and `after_seconds` count from
    `after`.
    """
    for line in lines:
        yield json.dumps(_answer(line, now or datetime.now(UTC)))


def short_instant(instant: datetime) -> str:
    """Write a UTC instant with `Z`, and with milliseconds only where there are any."""
    text = format_instant(instant)
    return f"{text[:-5]}Z" if text.endswith(".000Z") else text


def parse_after(text: object) -> datetime:
    """Read the time after which times are asked for, as a UTC instant.

    A time before the first that every zone can show is refused: what comes next would not be known.
    Raises InvalidSchedule.
    """
    after = parse_rfc3339(text, field="after")
    if after < _EARLIEST:
        raise InvalidSchedule("the time lies outside the calendar", field="after")
    return after


def sentence_of(error: NightshiftError) -> str:
    """What was wrong, with the name of the field where the message leaves it out."""
    nameless = error.message.startswith(("must ", "may ", "is "))
    return f"{error.field} {error.message}" if error.field and nameless else error.message


def _answer(line: str, now: datetime) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=_once_each)
    except NightshiftError as refused:
        return _error(refused)
    except (ValueError, RecursionError):
        return _error(InvalidRequest("the line is not valid JSON"))
    if not isinstance(row, dict):
        return _error(InvalidRequest("the line must be a JSON object"))
    try:
        return {"next": [short_instant(instant) for instant in _next(row, now)]}
    except NightshiftError as refused:
        return _error(refused)


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise InvalidRequest("a field comes twice in the line")
    return row


def _next(row: Mapping[str, Any], now: datetime) -> tuple[datetime, ...]:
    if not row.keys() <= _FIELDS | _EXPECTED:
        raise InvalidRequest(f"the line may hold {', '.join(sorted(_FIELDS))} and nothing else")
    count = row.get("count", DEFAULT_COUNT)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_COUNT:
        raise InvalidRequest(f"count must be a whole number from 1 to {MAX_COUNT}")
    after = parse_after(row["after"]) if "after" in row else now
    schedule = _schedule(row, after)
    return schedule.occurrences(after, min(count, schedule.bounds.max_runs or count))


def _schedule(row: Mapping[str, Any], after: datetime) -> Schedule:
    if ("expr" in row) == ("schedule" in row):
        raise InvalidRequest("the line must hold either expr or schedule")
    zone = row.get("zone", "UTC")
    bounds = {name: row.get(name) for name in ("starts_at", "ends_at", "max_runs")}
    expression = row.get("expr")
    if isinstance(expression, str) and isinstance(zone, str) and not any(bounds.values()):
        return _cron(expression, zone)
    spec = row.get("schedule", {"cron": expression})
    return parse_schedule(spec, zone=zone, now=after, bounds=parse_bounds(**bounds))


@lru_cache(maxsize=4096)
def _cron(expression: str, zone: str) -> Schedule:
    return parse_schedule({"cron": expression}, zone=zone, now=_NO_NOW)


def _error(error: NightshiftError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": sentence_of(error)}}
