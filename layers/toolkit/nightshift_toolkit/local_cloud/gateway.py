"""The doors of the engine's process: the deployed API on a port of its own, AWS on the other.

ministack tells APIs apart by host name or by a path prefix. A port of its own needs neither:
`curl`, browsers and every HTTP client reach the API by a plain address, and all paths are its own.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ministack.services import apigateway  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    App = Callable[[Any, Any, Any], Awaitable[None]]

# A fixed id, given by ministack's own tag, so that the API's address is known without asking.
API_ID = "nightshift"
API_ID_TAG = "ms-custom-id"
_PREFIX = f"/_aws/execute-api/{API_ID}/$default"
_is_text: ContextVar[bool] = ContextVar("is_text", default=True)
# The last is how a container names the machine that it runs on; no page can have that name.
_LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "host.docker.internal"})


def doors(app: App, *, api_port: int, admin: Callable[[str], bool]) -> App:
    """Return an ASGI app that serves the API at `api_port` and the whole of `app` elsewhere.

    Args:
        app: ministack.
        api_port: whose requests all belong to the API.
        admin: carries out a request to `/_nightshift/<word>`; False if there is no such word.

    """

    is_text_type = apigateway._v2_request_body_is_text
    apigateway._v2_request_body_is_text = lambda kind: _is_text.get() and is_text_type(kind)

    async def door(scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
        elif scope["server"][1] == api_port:
            await _to_api(app, scope, receive, send)
        elif _comes_from_a_web_page(scope):
            await _answer(send, HTTPStatus.FORBIDDEN, "This port is not for web pages.")
        elif scope["path"].startswith("/_nightshift/"):
            known = admin(scope["path"].rsplit("/", 1)[1])
            await _answer(send, HTTPStatus.OK if known else HTTPStatus.NOT_FOUND, str(known))
        else:
            await app(scope, receive, send)

    return door


async def _to_api(app: App, scope: Message, receive: Any, send: Any) -> None:
    # ministack would put U+FFFD in place of what is no UTF-8, and a prompt would be stored that
    # nobody wrote; so such a body goes to the function in base64, as binary ones do.
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    _is_text.set(_is_utf8(body))
    received = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Any:
        return next(received, None) or await receive()

    await app(_addressed_to_api(scope), receive_again, send)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _addressed_to_api(scope: Message) -> Message:
    raw = scope.get("raw_path") or scope["path"].encode()
    return {
        **scope,
        "path": _PREFIX + scope["path"],
        "raw_path": _PREFIX.encode() + raw,
    }


def _comes_from_a_web_page(scope: Message) -> bool:
    # ministack checks no signatures and lets every origin in. A page in the user's browser must not
    # be able to write tasks past the API, also not by a name that resolves to this machine.
    headers = {name.lower(): value for name, value in scope["headers"]}
    host = urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or ""
    return b"origin" in headers or not (host in _LOCAL_NAMES or host.endswith(".localhost"))


async def _answer(send: Any, status: HTTPStatus, message: str) -> None:
    body = json.dumps({"message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
