"""Takes notices to their receivers: EventBridge calls it every minute; what it does is in
`Announcing`.

Nothing waits for it: a run has ended and its keys are free before anybody is told.
"""

import os
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from nightshift.composition.notices import NoticesServices, build_notices
from nightshift.observability import TRACE_VARIABLE, invocation
from notices.settings import NoticesSettings
from wall_clock import utc_now

RESERVE_SECONDS: Final = 25.0
"""What one batch may still take: a webhook its whole deadline, bus and topic their time-outs."""


@cache
def deployed() -> NoticesServices:
    """The services of this function, made at its first invocation."""
    return build_notices(NoticesSettings.read(os.environ))


def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Try every notice that is due; `tried` says how many were.

    Raises what the outbox raises, so that the function's errors are counted and alarmed on.
    """

    def has_time() -> bool:
        return context.get_remaining_time_in_millis() / 1000 > RESERVE_SECONDS

    with invocation(context.aws_request_id, os.environ.get(TRACE_VARIABLE)):
        return {"tried": deployed().announcing.deliver_all(utc_now, has_time)}
