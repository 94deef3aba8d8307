"""What the engine acknowledged since its last snapshot, one line each, written before the answer.

A line is handed to the operating system in one call, so a killed process loses none that was
acknowledged. A power cut may; this is a desk, not a database.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    Response = tuple[int, dict[str, str], bytes | str]
    Handler = Callable[[str, str, dict[str, str], bytes, dict[str, Any]], Awaitable[Response]]

_OK = 200
_TOKEN_SECONDS = 600
_CHANGING = frozenset(
    {
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "BatchWriteItem",
        "TransactWriteItems",
        "ExecuteStatement",
        "BatchExecuteStatement",
        "ExecuteTransaction",
        "CreateTable",
        "UpdateTable",
        "DeleteTable",
        "UpdateTimeToLive",
    }
)


class Journal:
    """One append-only file.

    Args:
        path: of the file; made at the first line.

    """

    def __init__(self, path: Path) -> None:
        """Open the file for appending."""
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # A line that a kill tore apart must not swallow the next one.
        if path.stat().st_size:
            os.write(self._file, b"\n")

    def append(self, entry: dict[str, Any]) -> None:
        """Write `entry` before returning."""
        os.write(self._file, json.dumps(entry, separators=(",", ":")).encode() + b"\n")

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield what was written, in order, without a last line that a kill tore apart."""
        with self.path.open("rb") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue

    def size(self) -> int:
        """Return the length of the file in bytes."""
        return os.fstat(self._file).st_size

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def recording(handler: Handler, append: Callable[[dict[str, Any]], None]) -> Handler:
    """Return DynamoDB's `handler` with every successful change appended before its answer.

    Requests and the `aws-sdk` integrations of Step Functions pass here; its optimised
    `dynamodb:putItem` and the like, which Nightshift does not use, do not.

    Args:
        handler: ministack's, which changes tables on the event loop alone, so that the lines are
            in the order of the changes.
        append: of the journal.

    """
    tokens: dict[str, float] = {}

    async def record(
        method: str, path: str, headers: dict[str, str], body: bytes, query: dict[str, Any]
    ) -> Response:
        response = await handler(method, path, headers, body, query)
        target = headers.get("x-amz-target", "")
        changing = target.rsplit(".", 1)[-1] in _CHANGING and response[0] == _OK
        if changing and not _repeated(body, tokens):
            text = body.decode() if isinstance(body, bytes) else body
            append({"target": target, "body": text})
        return response

    return record


def _repeated(body: bytes, tokens: dict[str, float]) -> bool:
    # A transaction that is sent again under its token succeeds without doing anything. The engine
    # that reads the journal has forgotten the token if a snapshot lies between the two.
    token = json.loads(body).get("ClientRequestToken")
    if token is None:
        return False
    now = time.monotonic()
    for old in [old for old, since in tokens.items() if now - since >= _TOKEN_SECONDS]:
        del tokens[old]
    if token in tokens:
        return True
    tokens[token] = now
    return False


async def replay(handler: Handler, entries: Iterator[dict[str, Any]]) -> int:
    """Do every change of `entries` again, in order, and return how many there were."""
    done = 0
    for entry in entries:
        if "target" in entry:
            headers = {"x-amz-target": entry["target"]}
            await handler("POST", "/", headers, entry["body"].encode(), {})
            done += 1
    return done
