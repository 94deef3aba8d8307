"""What would grow without end is cut at every start; what functions log is put where one looks."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ministack.services import cloudwatch_logs as logs  # type: ignore[import-untyped]
from ministack.services import lambda_svc as functions
from ministack.services import stepfunctions as states

if TYPE_CHECKING:
    from pathlib import Path

_KEPT = timedelta(days=1)


def forget_old() -> None:
    """Forget executions and log streams older than a day; AWS would by its own retention."""
    oldest = datetime.now(UTC) - _KEPT
    for key, execution in list(states._executions._data.items()):
        ended = execution["stopDate"]
        if ended is not None and datetime.fromisoformat(ended) < oldest:
            del states._executions._data[key]
    for group in logs._log_groups.all_values():
        for name, stream in list(group["streams"].items()):
            if stream["creationTime"] < oldest.timestamp() * 1000:
                del group["streams"][name]


def copy_logs_to(path: Path) -> None:
    """Write what functions log into the file `path` too: ministack shows it by its API alone."""
    emit = functions._emit_lambda_logs
    file = path.open("w", buffering=1)

    def emit_and_copy(
        function: dict[str, Any],
        request_id: str,
        text: str,
        error: bool,  # noqa: FBT001
        duration: int,
        **options: Any,
    ) -> None:
        name = function.get("config", function).get("FunctionName")
        for line in (text or "").splitlines():
            file.write(f"{name} {line}\n")
        if error:
            file.write(f"{name} {_failure(request_id, duration)}\n")
        emit(function, request_id, text, error, duration, **options)

    functions._emit_lambda_logs = emit_and_copy


def _failure(request_id: str, duration: int) -> str:
    facts = {"action": "function_failed", "request_id": request_id, "milliseconds": duration}
    return json.dumps({"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **facts})
