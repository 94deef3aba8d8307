"""API Gateway's event of one HTTP request (payload 2.0), as far as anybody here reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpEvent:
    """What was sent, and what the gateway says of it; the names of `headers` are in lower case.

    `claims` are those of the verified token, empty where there was none.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: str | None
    is_base64: bool
    claims: Mapping[str, Any]
    request_id: str

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> "HttpEvent":
        """The event; what the gateway leaves out or sends as null is empty."""
        context = event["requestContext"]
        token = (context.get("authorizer") or {}).get("jwt") or {}
        return cls(
            method=context["http"]["method"],
            path=event["rawPath"],
            query=event.get("rawQueryString") or "",
            headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
            body=event.get("body"),
            is_base64=bool(event.get("isBase64Encoded")),
            claims=token.get("claims") or {},
            request_id=context["requestId"],
        )
