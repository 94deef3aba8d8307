"""Agents with clients of the official SDK, and the servers that they talk to."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as protocol
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from e2e.place import Place

_COMMAND = ("-m", "nightshift_toolkit.cli", "mcp")


class Agent:
    """One client, and what its tools answer."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> str:
        """What a tool says that is expected to do its work."""
        text, refused = await self.ask(tool, **arguments)
        assert not refused, text
        return text

    async def refused(self, tool: str, **arguments: Any) -> str:
        """What a tool says that is expected to refuse."""
        text, refused = await self.ask(tool, **arguments)
        assert refused, text
        return text

    async def ask(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """What a tool says, and whether it refused."""
        answer = await self._client.call_tool(tool, arguments)
        (content,) = answer.content
        assert isinstance(content, protocol.TextContent)
        return content.text, answer.is_error

    async def tools(self) -> list[protocol.Tool]:
        """The tools as the server describes them."""
        return (await self._client.list_tools()).tools


Work = Callable[[Agent], Awaitable[None]]


def data(text: str) -> Any:
    """The data in an answer, which stands between two marks."""
    found = re.fullmatch(r".*\n<(DATA-[0-9a-f]{16})>\n(.*)\n</\1>", text, re.DOTALL)
    assert found is not None, text
    assert "untrusted" in text[: found.start(2)]
    return json.loads(found[2])


def task_id(text: str) -> str:
    """The id that an answer names first."""
    found = re.search(r"tsk_[0-9a-z]{26}", text)
    assert found is not None, text
    return found[0]


def over_stdio(place: Place, log: Path, work: Work, *options: str, mode: str = "auto") -> None:
    """Let an agent work with the server that it started itself."""
    server = StdioServerParameters(
        command=sys.executable,
        args=[*_COMMAND, *options],
        env=dict(os.environ),
        cwd=place.cloud.state_dir.parent,
    )

    async def visit() -> None:
        with log.open("w") as errors:
            async with Client(stdio_client(server, errors), mode=mode) as client:
                await work(Agent(client))

    anyio.run(visit)


def over_http(address: str, token: str | None, work: Work, *, mode: str = "auto") -> None:
    """Let an agent work with a server that runs, as the bearer of a token."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    async def visit() -> None:
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, mode=mode) as client:
                await work(Agent(client))

    anyio.run(visit)


@contextmanager
def http_server(place: Place) -> Iterator[str]:
    """A server over HTTP on a port of its own; its address."""
    process = subprocess.Popen(
        [sys.executable, *_COMMAND, "--http", "--port", "0"],
        cwd=place.cloud.state_dir.parent,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        yield re.search(r"http://127\.0\.0\.1:[0-9]+/mcp", said)[0]  # type: ignore[index]
    finally:
        process.send_signal(signal.SIGINT)
        left = process.communicate(timeout=15)[1].rstrip("\n")
    assert process.returncode == 0
    assert [line for line in left.splitlines() if not line.startswith("Invalid ")] == []
