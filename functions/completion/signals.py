"""The two events that tell how a run ended, read into one outcome; everything else tells nothing.

What the words of the workflow mean is the domain's (`model/outcome.py`); here are only the shapes.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeGuard

from nightshift.domain.model.outcome import (
    outcome_of_error,
    outcome_of_execution,
    outcome_of_report,
)
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.run_ids import task_id_of

RECORD_STEP: Final = "nightshift.workflow"
STATUS_CHANGE: Final = "Step Functions Execution Status Change"
_RUN_ID: Final = re.compile(r"[A-Za-z0-9_]{1,40}-[A-Za-z0-9_-]{1,40}", re.ASCII)
_TELLING: Final[Mapping[str, str]] = {"SUCCEEDED": "output", "FAILED": "error"}
"""Without these an event does not say how the run ended; it is left to the verification, which
asks. EventBridge leaves out what is too large for it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def outcome_of(signal: Mapping[str, Any], now: datetime) -> RunOutcome | None:
    """How a run ended by this signal, or None when it tells no end of a run.

    Args:
        signal: the record step's payload, or EventBridge's event of a status change.
        now: when it was received (UTC); the end of a run whose signal names no time.
    """
    if signal.get("source") == RECORD_STEP:
        return _of_record_step(signal, now)
    if signal.get("source") == "aws.states" and signal.get("detail-type") == STATUS_CHANGE:
        return _of_status_change(signal.get("detail"), now)
    return None


def _of_record_step(signal: Mapping[str, Any], now: datetime) -> RunOutcome | None:
    run_id = signal.get("run_id")
    if not _is_run_id(run_id) or signal.get("task_id") != task_id_of(run_id):
        return None
    caught = signal.get("caught")
    if signal.get("report") is None and isinstance(caught, Mapping):
        return outcome_of_error(
            run_id,
            _text(caught.get("Error")),
            _text(caught.get("Cause")),
            finished_at=now,
        )
    return outcome_of_report(run_id, signal.get("report"), finished_at=now)


def _of_status_change(detail: object, now: datetime) -> RunOutcome | None:
    run_id = detail.get("name") if isinstance(detail, Mapping) else None
    if not isinstance(detail, Mapping) or not _is_run_id(run_id):
        return None
    status = _text(detail.get("status")) or ""
    if detail.get(_TELLING.get(status, "status")) is None:
        return None
    return outcome_of_execution(
        run_id,
        status,
        output=_text(detail.get("output")),
        error=_text(detail.get("error")),
        cause=_text(detail.get("cause")),
        finished_at=_instant(detail.get("stopDate")) or now,
    )


def _is_run_id(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and _RUN_ID.fullmatch(name) is not None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _instant(milliseconds: object) -> datetime | None:
    """The event's milliseconds since 1970, which EventBridge sends as a number."""
    if not isinstance(milliseconds, int) or isinstance(milliseconds, bool):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
