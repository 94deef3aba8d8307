"""Writes down how runs ended: called by the workflow's record step and by the status-change rule.

Whatever fails raises, so that the workflow and EventBridge ask again; asking twice is harmless.
"""

import os
import zlib
from datetime import datetime
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from completion.settings import CompletionSettings
from completion.signals import outcome_of
from nightshift.composition.completion import CompletionServices, build_completion
from nightshift.domain.exchanged import Event
from nightshift.domain.model.run_ids import task_id_of
from nightshift.observability import TRACE_VARIABLE, invocation
from wall_clock import utc_now

PRUNE_ONE_IN: Final = 8
"""History is pruned after one run in so many, off the path of every dispatch (K10)."""


@cache
def deployed() -> CompletionServices:
    """The services of this function, made at its first invocation."""
    return build_completion(CompletionSettings.read(os.environ))


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, bool]:
    """Record the end that this event tells; `recorded` says that it was news."""
    with invocation(context.aws_request_id, os.environ.get(TRACE_VARIABLE)):
        return {"recorded": record(deployed(), event, utc_now())}


def record(services: CompletionServices, event: dict[str, Any], now: datetime) -> bool:
    """Whether the event told an end that was not yet written down; foreign ones change nothing."""
    outcome = outcome_of(event, now)
    if outcome is None:
        services.observe(Event("signal_ignored", {"source": _source(event)}))
        return False
    recorded = services.lifecycle.record_outcome(outcome)
    if recorded and zlib.crc32(outcome.run_id.encode()) % PRUNE_ONE_IN == 0:
        keep = services.policies.current().max_history_entries_per_task
        services.runs.prune(task_id_of(outcome.run_id), keep)
    return recorded


def _source(event: dict[str, Any]) -> str:
    source = event.get("source")
    return source if source in ("nightshift.workflow", "aws.states") else "unknown"
