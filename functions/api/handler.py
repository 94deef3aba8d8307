"""The api function: API Gateway calls it with every request that its authorizer let pass."""

import os
from functools import cache
from typing import Any

from api.application import Application
from api.settings import ApiSettings
from nightshift.composition.api import build_api
from nightshift.observability import TRACE_VARIABLE, invocation
from wall_clock import utc_now


@cache
def deployed() -> Application:
    """The application of this function, made at its first invocation."""
    settings = ApiSettings.read(os.environ)
    return Application(build_api(settings), utc_now, settings.throttle)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """The answer to one request; its log lines bear the request id that the caller is told."""
    with invocation(event["requestContext"]["requestId"], os.environ.get(TRACE_VARIABLE)):
        return deployed().answer(event)
