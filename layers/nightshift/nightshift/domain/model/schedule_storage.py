"""Back from the table: a stored schedule is read by the grammar that wrote it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from nightshift.domain.errors import CorruptRecord, InvalidSchedule
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import Schedule

_NO_NOW: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STORED_SELECTORS: Final = {
    "cron": {"cron"},
    "every": {"every_seconds", "anchor"},
    "once": {"once"},
}
_BOUNDS: Final = frozenset({"starts_at", "ends_at", "max_runs"})


def schedule_from_dict(stored: Mapping[str, Any]) -> Schedule:
    """Read what a schedule's `to_dict` wrote.

    Raises CorruptRecord for everything else: a row that cannot be read is the operator's matter and
    never the client's mistake (P20).
    """
    try:
        kind, spec, zone = stored["kind"], stored["spec"], stored["zone"]
        limits = stored.get("bounds", {})
        if not _STORED_SELECTORS[kind] <= spec.keys() or not limits.keys() <= _BOUNDS:
            raise CorruptRecord
        bounds = parse_bounds(**{name: limits.get(name) for name in sorted(_BOUNDS)})
        # Everything stored is absolute, so no instant of reading can have a part in it.
        return parse_schedule(spec, zone=zone, now=_NO_NOW, bounds=bounds)
    except (InvalidSchedule, KeyError, TypeError, AttributeError) as unreadable:
        raise CorruptRecord from unreadable
