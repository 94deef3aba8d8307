"""The two ways in: standard input and output, and HTTP where each request brings its own token."""

import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from nightshift_toolkit.cli.session import Session
from nightshift_toolkit.client import Client
from nightshift_toolkit.mcp_server.server import build_server

PATH: Final = "/mcp"
_SCHEME: Final = "bearer "

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def serve_stdio(session: Session, *, zone: str) -> None:
    """Serve one client on standard input and output until it hangs up, as the session says."""

    @contextmanager
    def door(_request: Any) -> Iterator[Client]:
        # Looked up for each call, so that a local token is never an old one.
        url, token = session.target()
        with Client(url, token) as client:
            yield client

    async def serve() -> None:
        server = build_server(door, zone=zone)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


def http_application(url: str, *, zone: str, host: str) -> Application:
    """The server as an ASGI application; every request's own token is what its call uses."""

    @contextmanager
    def door(request: Any) -> Iterator[Client]:
        with Client(url, _token(request.headers) or "") as client:
            yield client

    server = build_server(door, zone=zone)
    inner = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, host=host
    )

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _token(Headers(scope=scope)) is None:
            refusal = JSONResponse(
                {"error": "Every request needs a bearer token of the Nightshift API."},
                status_code=HTTPStatus.UNAUTHORIZED,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await inner(scope, receive, send)

    return application


def serve_http(url: str, *, zone: str, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve over streamable HTTP until interrupted.

    Args:
        url: of the API that the calls go to.
        zone: in which times are read where a call names none.
        host: the address to listen on.
        port: 0 for one that is free.
        ready: told the address of the server once it listens.

    Raises:
        OSError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
        application = http_application(url, zone=zone, host=host)
        config = uvicorn.Config(application, log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])


def _token(headers: Headers) -> str | None:
    """The bearer token that a request brings; None without one that could be sent on."""
    said = headers.get("authorization", "")
    token = said[len(_SCHEME) :].strip()
    sendable = bool(token) and all("!" <= character <= "~" for character in token)
    return token if sendable and said[: len(_SCHEME)].lower() == _SCHEME else None
