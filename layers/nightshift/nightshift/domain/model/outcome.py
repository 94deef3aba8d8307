"""How the workflow's words become a run's outcome: the one place that knows the protocol.

The record step, the status-change event and the verification all see the same end of the same
execution; they read it here, so that whoever comes first writes the same record (SPEC section 6).
What cannot be read is a failure and never a success (SPEC section 8).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.run import MAX_ERROR_BYTES, MAX_RESULT_BYTES, RunOutcome, bounded

MALFORMED: Final = "malformed_report"
UNSPOKEN: Final = "error"
_REASON: Final = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_ERROR_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,127}", re.ASCII)
_ERRORS_OF_THE_WORKFLOW: Final = ("States.", "DynamoDb.", "DynamoDB.", "SQS.", "Sqs.", "Lambda.")


def outcome_of_execution(
    run_id: str,
    status: str,
    *,
    output: str | None,
    error: str | None,
    cause: str | None,
    finished_at: datetime,
) -> RunOutcome | None:
    """How the run of an execution ended, or None while it may still end differently.

    Args:
        run_id: the execution's name.
        status: as Step Functions spells it; one that is not known here decides nothing.
        output: the JSON text of a succeeded execution.
        error: the error name of a failed one.
        cause: its cause; the worker's report as JSON text where there was one.
        finished_at: when it ended (UTC).
    """
    match status:
        case "SUCCEEDED":
            said = _parsed(output)
            named = isinstance(said, Mapping) and said.get("run_id") == run_id
            report = said.get("report") if isinstance(said, Mapping) and named else None
            return outcome_of_report(run_id, report, finished_at=finished_at)
        case "FAILED":
            return outcome_of_error(run_id, error, cause, finished_at=finished_at)
        case "TIMED_OUT":
            return _ended(run_id, Outcome.FAILED, "timeout", finished_at)
        case "ABORTED":
            return _ended(run_id, Outcome.INTERRUPTED, "cancelled", finished_at)
        case _:
            return None


def outcome_of_report(run_id: str, report: object, *, finished_at: datetime) -> RunOutcome:
    """How the run ended by its worker's own report; only an explicit success is one.

    Text and result are cut to their limits, and characters that no store accepts are replaced (K8).
    The worker's clock is not believed: `finished_at` is when the end was seen (UTC).
    """
    if not isinstance(report, Mapping) or not isinstance(report.get("outcome"), str):
        return _ended(run_id, Outcome.FAILED, MALFORMED, finished_at)
    try:
        outcome = Outcome(report["outcome"])
    except ValueError:
        return _ended(run_id, Outcome.FAILED, MALFORMED, finished_at)
    reason = report.get("reason")
    if not isinstance(reason, str) or _REASON.fullmatch(reason) is None:
        reason = UNSPOKEN
    return RunOutcome(
        run_id=run_id,
        outcome=outcome,
        finished_at=finished_at,
        reason=None if outcome is Outcome.SUCCESS else reason,
        error=None if outcome is Outcome.SUCCESS else _text(report.get("error")),
        result=bounded_result(report.get("result")),
    )


def outcome_of_error(
    run_id: str, error: str | None, cause: str | None, *, finished_at: datetime
) -> RunOutcome:
    """How the run ended when the workflow caught an error or failed with one; never a success.

    A cause that is a worker's report speaks for itself. Of the workflow's own errors only the name
    is kept: their causes quote input and addresses.
    """
    if error == "Fenced":
        return _ended(run_id, Outcome.INTERRUPTED, "fenced", finished_at)
    if error == "States.HeartbeatTimeout":
        silent = _ended(run_id, Outcome.FAILED, "worker_lost", finished_at)
        return replace(silent, silent=True)
    if error == "States.Timeout":
        return _ended(run_id, Outcome.FAILED, "timeout", finished_at)
    said = _parsed(cause)
    if isinstance(said, Mapping) and "outcome" in said:
        told = outcome_of_report(run_id, said, finished_at=finished_at)
        if told.outcome is not Outcome.SUCCESS:
            return told
    if error is None or error.startswith(_ERRORS_OF_THE_WORKFLOW):
        named = error if error and _ERROR_NAME.fullmatch(error) else "an error without a name"
        text = f"The workflow ended with {named}."
        return _ended(run_id, Outcome.FAILED, "workflow_error", finished_at, text)
    text = _text(cause) or _text(error) or ""
    return _ended(run_id, Outcome.FAILED, UNSPOKEN, finished_at, text)


def bounded_result(result: object) -> Mapping[str, Any] | None:
    """A worker's result as plain JSON of at most 16 KiB; its output gives way first (K8)."""
    if not isinstance(result, Mapping):
        return None
    kept = dict(result)
    output = kept.get("output")
    while (data := _encoded(kept)) is None or len(data) > MAX_RESULT_BYTES:
        if data is None or not isinstance(output, str) or not output:
            return {"truncated": True}
        room = len(output) * MAX_RESULT_BYTES // len(data)
        output = output[: min(room, len(output) - 1)]
        kept |= {"output": output, "truncated": True}
    plain: dict[str, Any] = json.loads(data)
    return plain


def _encoded(value: object) -> bytes | None:
    """The value as compact JSON in UTF-8, or None when it is too deep or no JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return text.encode(errors="replace")


def _parsed(text: str | None) -> object:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return bounded(value.encode(errors="replace").decode(), MAX_ERROR_BYTES)


def _ended(
    run_id: str,
    outcome: Outcome,
    reason: str,
    finished_at: datetime,
    error: str | None = None,
) -> RunOutcome:
    return RunOutcome(
        run_id=run_id,
        outcome=outcome,
        finished_at=finished_at,
        reason=reason,
        error=error,
    )
