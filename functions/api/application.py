"""Brings requests to their routes and turns what comes back, or is raised, into HTTP."""

import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from api.answer import Answer
from api.errors import (
    CONTENT_TYPE,
    MethodNotAllowed,
    UnknownPath,
    code_of,
    headers_of,
    problem,
    status_of,
)
from api.identity import Caller, caller_of
from api.limits import UNKNOWN, Throttle
from api.query import Query
from api.request import Body, Request
from api.routes import ROUTES, Route
from nightshift.composition.api import ApiServices
from nightshift.domain.exchanged import Event

UNROUTED: Final = "none"
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_FAULT: Final = 500
_LONGEST_ID: Final = 128
_NO_STORE: Final = {"Cache-Control": "no-store"}
_PARAMETER: Final = re.compile(r"<\w+>")
_RULES: Final = tuple(
    (re.compile(_PARAMETER.sub("[^/]+", route.rule)), route.method) for route in ROUTES
)
_LITERAL: Final = {
    rule: sorted(route.method for route in ROUTES if route.rule == rule)
    for rule in {route.rule for route in ROUTES}
    if _PARAMETER.search(rule) is None
}
"""The methods of every path without a parameter, which no rule with one takes for an id."""


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
        self._router = APIGatewayHttpResolver(debug=False)
        for route in ROUTES:
            self._router.route(rule=route.rule, method=route.method)(self._served(route))
        self._router.not_found(self._miss)

    def answer(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """API Gateway's answer to one of its events (payload 2.0)."""
        return self._router.resolve(event, context)

    def _served(self, route: Route) -> Callable[..., Response[str]]:
        def serve(**path: str) -> Response[str]:
            return self._told(route.rule, lambda event: self._run(route, path, event), path)

        return serve

    def _miss(self, _missed: Exception) -> Response[str]:
        def refuse(event: APIGatewayProxyEventV2) -> Answer:
            allowed = _LITERAL.get(event.raw_path) or [
                method for rule, method in _RULES if rule.fullmatch(event.raw_path)
            ]
            # A path with characters that no id has misses its rule, though its shape is ours.
            if not allowed or event.http_method in allowed:
                raise UnknownPath
            raise MethodNotAllowed(sorted(allowed))

        return self._told(UNROUTED, refuse)

    def _run(self, route: Route, path: Mapping[str, str], event: APIGatewayProxyEventV2) -> Answer:
        if not event.raw_path.isprintable():
            raise UnknownPath
        if route.method not in _LITERAL.get(event.raw_path, (route.method,)):
            raise MethodNotAllowed(_LITERAL[event.raw_path])
        caller: Caller | None = None
        if route.scope is not None:
            caller = caller_of(event.request_context.authorizer.jwt_claim)
            caller.require(route.scope)
        query = Query.read(event.get("rawQueryString") or "")
        query.allow(*route.parameters)
        request = Request(
            caller=caller,
            now=self._now(),
            path=path,
            query=query,
            content=Body.of(event),
            headers={name.lower(): value for name, value in event.headers.items()},
            route=f"{route.method} {route.rule}",
            throttle=self._throttle,
        )
        return route.run(self._services, request)

    def _told(
        self,
        rule: str,
        answer: Callable[[APIGatewayProxyEventV2], Answer],
        named: Mapping[str, str] = NOTHING,
    ) -> Response[str]:
        """The response, or the problem; and one line that says how the request went.

        `named` are the ids in the path; that of a task just made is in the answer's `Location`.
        """
        event: APIGatewayProxyEventV2 = self._router.current_event
        began = time.monotonic()
        failure: Exception | None = None
        try:
            response = _rendered(answer(event))
        except Exception as error:  # noqa: BLE001 - the caller is answered, the operator told
            failure = error
            response = _refused(error, event)
        faulty = response.status_code >= _FAULT
        made = str(response.headers.get("Location") or "").rpartition("/")[2] or None
        facts = {
            "task_id": made,
            **{name: value[:_LONGEST_ID] for name, value in named.items()},
            "method": event.http_method,
            "route": rule,
            "status": response.status_code,
            "code": code_of(failure) if failure else None,
            "user_id": event.request_context.authorizer.jwt_claim.get("sub"),
            "milliseconds": round((time.monotonic() - began) * 1000),
        }
        word = "request_failed" if faulty else "request_answered"
        self._services.observe(Event(word, facts, failure if faulty else None))
        return response


def _rendered(answer: Answer) -> Response[str]:
    headers: dict[str, Any] = {**_NO_STORE, **answer.headers}
    if answer.body is None:
        return Response(answer.status.value, content_type=None, body="", headers=headers)
    body = answer.body if isinstance(answer.body, str) else answer.body.model_dump_json()
    return Response(answer.status.value, answer.media_type, body, headers=headers)


def _refused(error: Exception, event: APIGatewayProxyEventV2) -> Response[str]:
    document = problem(error, event.request_context.request_id)
    body = "" if event.http_method == "HEAD" else json.dumps(document, ensure_ascii=False)
    headers: dict[str, Any] = {**_NO_STORE, **headers_of(error)}
    return Response(status_of(error), CONTENT_TYPE, body, headers=headers)
