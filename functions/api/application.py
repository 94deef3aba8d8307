"""Brings requests to their routes and turns what comes back, or is raised, into HTTP."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from api.answer import Answer
from api.errors import CONTENT_TYPE, code_of, headers_of, problem, status_of
from api.event import HttpEvent
from api.identity import Caller, caller_of
from api.limits import UNKNOWN, Throttle
from api.query import Query
from api.request import Body, Request
from api.routes import ROUTES
from api.routing import Router
from nightshift.composition.api import ApiServices
from nightshift.domain.exchanged import Event

if TYPE_CHECKING:
    from api.routes import Route

UNROUTED: Final = "none"
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_FAULT: Final = 500
_LONGEST_ID: Final = 128
_NO_STORE: Final = {"Cache-Control": "no-store"}


class Application:
    """The API over its services; `now` gives the instant of each request (UTC).

    `throttle` is what the gateway before it lets through, for people to see.
    """

    def __init__(
        self, services: ApiServices, now: Callable[[], datetime], throttle: Throttle = UNKNOWN
    ) -> None:
        self._services = services
        self._throttle = throttle
        self._now = now
        self._router = Router(ROUTES)

    def answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """API Gateway's answer to one of its events (payload 2.0), also where something failed."""
        sent = HttpEvent.read(event)
        began = time.monotonic()
        rule, named, failure = UNROUTED, NOTHING, None
        try:
            route, named = self._router.find(sent.method, sent.path)
            rule = route.rule
            response = _rendered(self._run(route, named, sent))
        except Exception as error:  # noqa: BLE001 - the caller is answered, the operator told
            failure = error
            response = _refused(error, sent)
        facts = {
            **_ids(named, response),
            "method": sent.method,
            "route": rule,
            "status": response["statusCode"],
            "code": code_of(failure) if failure else None,
            "user_id": sent.claims.get("sub"),
            "milliseconds": round((time.monotonic() - began) * 1000),
        }
        faulty = response["statusCode"] >= _FAULT
        word = "request_failed" if faulty else "request_answered"
        self._services.observe(Event(word, facts, failure if faulty else None))
        return response

    def _run(self, route: "Route", path: Mapping[str, str], sent: HttpEvent) -> Answer:
        caller: Caller | None = None
        if route.scope is not None:
            caller = caller_of(sent.claims)
            caller.require(route.scope)
        query = Query.read(sent.query)
        query.allow(*route.parameters)
        request = Request(
            caller=caller,
            now=self._now(),
            path=path,
            query=query,
            content=Body(sent.body, sent.is_base64, sent.headers.get("content-type")),
            headers=sent.headers,
            route=f"{route.method} {route.rule}",
            throttle=self._throttle,
        )
        return route.run(self._services, request)


def _ids(named: Mapping[str, str], response: Mapping[str, Any]) -> dict[str, str | None]:
    """The ids in the path; that of a task just made is in the answer's `Location`."""
    made = str(response["headers"].get("Location") or "").rpartition("/")[2] or None
    return {"task_id": made} | {name: value[:_LONGEST_ID] for name, value in named.items()}


def _rendered(answer: Answer) -> dict[str, Any]:
    if answer.body is None:
        return _response(answer.status.value, "", answer.headers)
    body = answer.body if isinstance(answer.body, str) else answer.body.model_dump_json()
    headers = {"Content-Type": answer.media_type, **answer.headers}
    return _response(answer.status.value, body, headers)


def _refused(error: Exception, sent: HttpEvent) -> dict[str, Any]:
    document = problem(error, sent.request_id)
    body = "" if sent.method == "HEAD" else json.dumps(document, ensure_ascii=False)
    headers = {"Content-Type": CONTENT_TYPE, **headers_of(error)}
    return _response(status_of(error), body, headers)


def _response(status: int, body: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {**_NO_STORE, **headers},
        "cookies": [],
        "body": body,
        "isBase64Encoded": False,
    }
