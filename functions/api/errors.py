"""Every way the API says no: the one table from error class to status, and the problem document.

Documents follow RFC 9457. They hold a stable `code`, the request id, and the fields that are
wrong; never input, and of our own faults nothing but that there was one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nightshift.domain.errors import (
    Conflict,
    InvalidCursor,
    InvalidRequest,
    LaunchFailed,
    NightshiftError,
    NotFound,
    PersistenceUncertain,
    PreconditionFailed,
    Unauthenticated,
)

CONTENT_TYPE: Final = "application/problem+json"


class Forbidden(NightshiftError):
    """The token does not have the scope that this needs."""

    code = "forbidden"


class UnknownPath(NotFound):
    """There is nothing at this path."""


class MethodNotAllowed(NightshiftError):
    """This path does not know this method."""

    code = "method_not_allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__()
        self.allowed = tuple(allowed)


class UnsupportedMediaType(NightshiftError):
    """The body must be sent as application/json in UTF-8."""

    code = "unsupported_media_type"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field, named by its dotted path."""

    field: str | None
    message: str


class InvalidFields(InvalidRequest):
    """The request has fields that are not valid."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__()
        self.problems = tuple(problems)


STATUSES: Final[Mapping[type[NightshiftError], int]] = {
    InvalidCursor: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    MethodNotAllowed: 405,
    Conflict: 409,
    PreconditionFailed: 412,
    UnsupportedMediaType: 415,
    InvalidRequest: 422,
    LaunchFailed: 502,
    PersistenceUncertain: 503,
    NightshiftError: 500,
}
"""A class that is not named here has the status of the nearest class above it."""

_SERVER_FAULT: Final = 500
_FAULT: Final = "Something went wrong on our side; the request id tells an operator where to look."


def status_of(error: Exception) -> int:
    """The HTTP status of an error; one that nobody foresaw is a fault of ours."""
    for kind in type(error).__mro__:
        if kind in STATUSES:
            return STATUSES[kind]
    return _SERVER_FAULT


def code_of(error: Exception) -> str:
    """The stable code of an error."""
    return error.code if isinstance(error, NightshiftError) else NightshiftError.code


def problem(error: Exception, request_id: str) -> dict[str, Any]:
    """The problem document of an error."""
    code = code_of(error)
    known = isinstance(error, NightshiftError) and code != NightshiftError.code
    title = _sentence(type(error)) if known else "Something went wrong."
    document: dict[str, Any] = {
        "type": f"urn:problem-type:nightshift:{code}",
        "title": title,
        "status": status_of(error),
        "code": code,
        "detail": _detail(error, title) if known else _FAULT,
        "request_id": request_id,
    }
    problems = _field_problems(error)
    if problems:
        document["errors"] = [
            {"field": entry.field, "message": entry.message} for entry in problems
        ]
    return document


def headers_of(error: Exception) -> dict[str, str]:
    """What the status obliges us to say in headers."""
    match error:
        case Unauthenticated():
            return {"WWW-Authenticate": "Bearer"}
        case MethodNotAllowed():
            return {"Allow": ", ".join(error.allowed)}
        case PersistenceUncertain():
            return {"Retry-After": "1"}
        case _:
            return {}


def _sentence(kind: type[Exception]) -> str:
    """The class's own sentence, up to its first semicolon."""
    return " ".join((kind.__doc__ or "").split()).partition(";")[0].rstrip(".") + "."


def _detail(error: Exception, title: str) -> str:
    """What was said when it was raised, as a sentence; of a fault only what its class says."""
    if not isinstance(error, NightshiftError) or status_of(error) >= _SERVER_FAULT:
        return " ".join((type(error).__doc__ or title).split())
    problems = _field_problems(error)
    if len(problems) == 1:
        return _about(problems[0])
    return error.message


def _about(entry: FieldProblem) -> str:
    """A field's problem with its subject; some messages name it themselves."""
    named = entry.message
    if entry.field is not None and named.startswith(("must ", "may ", "is ")):
        named = f"{entry.field} {named}"
    elif "_" not in named.partition(" ")[0]:
        named = named[:1].upper() + named[1:]
    return named if named.endswith(".") else f"{named}."


def _field_problems(error: Exception) -> Sequence[FieldProblem]:
    if isinstance(error, InvalidFields):
        return error.problems
    if isinstance(error, NightshiftError) and error.field is not None:
        return (FieldProblem(error.field, error.message),)
    return ()
