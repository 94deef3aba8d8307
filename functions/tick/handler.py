"""The clock's function: EventBridge calls it every minute; what it does is in `Clock.look`.

The event says nothing that is used. Whoever calls it, however late and however often, gets the
same: what is due now by the wall clock is dealt with once.
"""

import os
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from nightshift.composition.tick import TickServices, build_tick
from nightshift.observability import TRACE_VARIABLE, invocation
from tick.settings import TickSettings
from tick.window import Clockwork, run_window

CLOCKWORK = Clockwork()


@cache
def deployed() -> tuple[TickServices, TickSettings]:
    """The services and settings of this function, made at its first invocation."""
    settings = TickSettings.read(os.environ)
    return build_tick(settings), settings


def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Recover, verify, dispatch what is due.

    Raises whatever a look raises, so that the function's errors are counted and alarmed on.
    """

    def remaining_seconds() -> float:
        return context.get_remaining_time_in_millis() / 1000

    with invocation(context.aws_request_id, os.environ.get(TRACE_VARIABLE)):
        services, settings = deployed()
        return {"looks": run_window(services, settings, remaining_seconds, CLOCKWORK)}
