"""The OpenAPI 3.1 document, made from the route table and the models."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final, Protocol

from pydantic.json_schema import models_json_schema

from api.conditional import KEY, KEY_HEADER, MATCH, MATCH_HEADER, MAX_MATCH_CHARACTERS
from api.contracts import CONTRACTS, EVERYWHERE, NAMED, SIGNED_IN, Contract
from api.errors import CONTENT_TYPE, headers_of, problem, status_of
from api.examples import EXAMPLES
from api.limits import PolicyResponse, Throttle
from api.parameters import PATH_PARAMETERS, QUERY_PARAMETERS
from api.wire import Wire
from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.override import PolicyInForce
from nightshift.domain.model.policy import Policy

JSON: Final = "application/json"
_PARAMETER: Final = re.compile(r"<(\w+)>")
_SCHEMAS: Final = "#/components/schemas/"
_REQUEST_ID: Final = "ZkR3dgTdFiAEJbQ="
_GATEWAY: Final = {
    HTTPStatus.UNAUTHORIZED: "Unauthorized",
    HTTPStatus.FORBIDDEN: "Forbidden",
    HTTPStatus.TOO_MANY_REQUESTS: "Too Many Requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "Service Unavailable",
}
"""What API Gateway answers by itself, before any request reaches the API."""


class Documented(Protocol):
    """A route as far as the document shows it."""

    @property
    def method(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def scope(self) -> str | None: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def run(self) -> Callable[..., Any]: ...


def document(routes: Iterable[Documented]) -> dict[str, Any]:
    """The document of these routes."""
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    models: set[type[Wire]] = set()
    for route in routes:
        contract = CONTRACTS[route.run.__name__]
        models |= {model for model in (contract.takes, contract.gives) if model}
        path = _PARAMETER.sub(r"{\1}", route.rule)
        paths[path][route.method.lower()] = _operation(route, contract)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nightshift",
            "version": "1",
            "description": "Runs agent prompts and commands at the times that were asked for, and"
            " keeps an honest record. Times are UTC, `YYYY-MM-DDTHH:MM:SS.mmmZ`. Errors are problem"
            " documents (RFC 9457) with a stable `code`. What API Gateway rejects by itself has"
            ' AWS\'s body, `{"message": ...}`. A token that belongs to a run may only read.',
        },
        "servers": [{"url": "/"}],
        "paths": dict(paths),
        "components": {
            "schemas": _schemas(models) | {"Problem": _PROBLEM, "GatewayMessage": _MESSAGE},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "An access token with the scope that the operation names.",
                }
            },
        },
    }


def _operation(route: Documented, contract: Contract) -> dict[str, Any]:
    described = [contract.summary + "."]
    if route.scope is not None:
        described.append(f"Needs the scope `{route.scope}`.")
    operation: dict[str, Any] = {
        "operationId": route.run.__name__,
        "summary": contract.summary,
        "description": " ".join([" ".join((route.run.__doc__ or "").split()), *described[1:]]),
        "security": [] if route.scope is None else [{"token": []}],
        "parameters": _parameters(route, contract),
        "responses": _responses(route, contract),
    }
    if contract.takes is not None:
        operation["requestBody"] = {
            "required": not contract.body_is_optional,
            "content": {JSON: _content(contract.takes)},
        }
    return operation


def _parameters(route: Documented, contract: Contract) -> list[dict[str, Any]]:
    named = [PATH_PARAMETERS[name] for name in _PARAMETER.findall(route.rule)]
    named += [QUERY_PARAMETERS[route.run.__name__, name] for name in route.parameters]
    if contract.is_keyed:
        named.append(
            _header(
                KEY_HEADER,
                "Makes the request safe to repeat for 24 hours: the same key with the same body is"
                " answered with what the first one made, as it is now; another body is refused.",
                pattern=f"^{KEY.pattern}$",
            )
        )
    if contract.is_conditional:
        named.append(
            _header(
                MATCH_HEADER,
                "Only if the task is still at the revision of one of these entity tags.",
                pattern=f"^(?:{MATCH.pattern})$",
                maxLength=MAX_MATCH_CHARACTERS,
            )
        )
    return named


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    text = {"type": "string", **schema}
    return {"name": name, "in": "header", "description": description, "schema": text}


def _responses(route: Documented, contract: Contract) -> dict[str, Any]:
    success: dict[str, Any] = {"description": contract.summary + "."}
    if contract.gives is not None:
        success["content"] = {contract.media_type: _content(contract.gives)}
    elif contract.status is not HTTPStatus.NO_CONTENT:
        kind = "object" if contract.media_type == JSON else "string"
        success["content"] = {contract.media_type: {"schema": {"type": kind}}}
    headers = {"ETag": "The revision of the task."} if contract.is_tagged else {}
    if contract.status is HTTPStatus.CREATED:
        headers["Location"] = "The path of what was made."
    if headers:
        success["headers"] = {
            name: {"description": text, "required": True, "schema": {"type": "string"}}
            for name, text in headers.items()
        }
    return {str(contract.status.value): success} | _refusals(route, contract)


def _refusals(route: Documented, contract: Contract) -> dict[str, Any]:
    kinds = [*EVERYWHERE, *contract.refuses]
    kinds += NAMED if "<" in route.rule else ()
    gateway = set(_GATEWAY)
    if route.scope is None:
        gateway -= {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    else:
        kinds += SIGNED_IN
    by_status: dict[int, list[type[NightshiftError]]] = defaultdict(list)
    for kind in dict.fromkeys(kinds):
        by_status[status_of(kind())].append(kind)
    answers = {}
    for status in sorted(by_status.keys() | gateway):
        named = by_status.get(status, [])
        words = [f"`{kind.code}`" for kind in named]
        content: dict[str, Any] = {}
        if named:
            content[CONTENT_TYPE] = {"schema": _ref("Problem"), "examples": _examples(named)}
        if status in gateway:
            words.append("or by API Gateway itself" if named else "By API Gateway itself")
            said = {"message": _GATEWAY[HTTPStatus(status)]}
            content[JSON] = {"schema": _ref("GatewayMessage"), "example": said}
        answers[str(status)] = {"description": ", ".join(words) + ".", "content": content}
        headers = {name for kind in named for name in headers_of(kind())}
        if headers and status not in gateway:
            answers[str(status)]["headers"] = {
                name: {"schema": {"type": "string"}} for name in sorted(headers)
            }
    return answers


def _examples(kinds: Iterable[type[NightshiftError]]) -> dict[str, Any]:
    return {kind.code: {"value": problem(kind(), _REQUEST_ID)} for kind in kinds}


def _content(model: type[Wire]) -> dict[str, Any]:
    example = EXAMPLES.get(model.__name__)
    if model is PolicyResponse:
        example = PolicyResponse.from_domain(PolicyInForce(Policy()), Throttle(50, 100)).model_dump(
            mode="json"
        )
    return {"schema": _ref(model.__name__), "example": example}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"{_SCHEMAS}{name}"}


def _schemas(models: Iterable[type[Wire]]) -> dict[str, Any]:
    named = sorted(models, key=lambda model: model.__name__)
    _, described = models_json_schema(
        [(model, "validation") for model in named], ref_template=_SCHEMAS + "{model}"
    )
    schemas: dict[str, Any] = described["$defs"]
    return schemas


_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "An error (RFC 9457). `code` is stable; input is never repeated.",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "additionalProperties": False,
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "additionalProperties": False,
                "properties": {
                    "field": {"type": ["string", "null"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
_MESSAGE: Final[dict[str, Any]] = {
    "type": "object",
    "description": "What API Gateway answers when it rejects a request by itself.",
    "required": ["message"],
    "properties": {"message": {"type": ["string", "null"]}},
}
