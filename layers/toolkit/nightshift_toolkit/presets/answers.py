"""What an agent tool wrote, read: its answer, its session, its figures. Standard library only.

Each reader takes the tool's whole standard output, line by line, and knows one documented form.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Usage = dict[str, int | float]
_MOST_BYTES: Final = 64 * 1024 * 1024
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}", re.ASCII)
_CACHED: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True)
class Answer:
    """What the tool said; `failed` where it says so whatever its exit code."""

    text: bytes
    session: str | None = None
    usage: Usage = field(default_factory=dict)
    failed: bool = False


def read_claude(lines: Iterable[bytes]) -> Answer:
    """The result object of `--output-format json`, alone or last in the list of all messages.

    What was read from and written to the cache counts as input, as it does for the other tools.
    """
    raw = _bounded(lines)
    said = _parsed(raw)
    found = [one for one in (said if isinstance(said, list) else [said]) if _is_result(one)]
    if not found:
        return Answer(raw)
    result = found[-1]
    written = _mapping(result.get("usage"))
    usage = _figures(written)
    if "input_tokens" in usage:
        usage["input_tokens"] += sum(_count(written.get(name)) or 0 for name in _CACHED)
    cost = _amount(result.get("total_cost_usd"))
    return Answer(
        text=_line(result.get("result")),
        session=_session(result.get("session_id")),
        usage=usage if cost is None else usage | {"cost_usd": cost},
        failed=bool(result.get("is_error")),
    )


def read_codex(lines: Iterable[bytes]) -> Answer:
    """The events of `--json`: the last message of the agent, the thread, the last totals.

    A line that is no event is part of the text; an event of a failure is one if nothing follows it.
    """
    strange: list[bytes] = []
    text, problem = b"", b""
    session: str | None = None
    usage: Usage = {}
    for line in _within(lines):
        event = _mapping(_parsed(line))
        match event.get("type"):
            case "thread.started":
                session = _session(event.get("thread_id"))
            case "item.completed" if _mapping(event.get("item")).get("type") == "agent_message":
                text = _line(event["item"].get("text"))
            case "turn.completed":
                usage, problem = _figures(_mapping(event.get("usage"))), b""
            case "turn.failed":
                problem = _line(_mapping(event.get("error")).get("message")) or b"turn failed\n"
            case str():
                pass
            case _:
                strange.append(line)
    return Answer(b"".join(strange) + text + problem, session, usage, failed=bool(problem))


def read_llm(lines: Iterable[bytes]) -> Answer:
    """The list of responses of `--json`; the last one is the answer."""
    raw = _bounded(lines)
    said = _parsed(raw)
    responses = [one for one in said if _is_response(one)] if isinstance(said, list) else []
    if not responses:
        return Answer(raw)
    usage: Usage = {}
    for response in responses:
        for name, count in _figures(response).items():
            usage[name] = usage.get(name, 0) + count
    last = responses[-1]
    return Answer(_line(last["response"]), _session(last.get("conversation_id")), usage)


READERS: Final[Mapping[str, Callable[[Iterable[bytes]], Answer]]] = {
    "claude": read_claude,
    "codex": read_codex,
    "llm": read_llm,
}


def _within(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as far as they are not too long to be read; all of them are taken."""
    return (line for line in lines if len(line) <= _MOST_BYTES)


def _bounded(lines: Iterable[bytes]) -> bytes:
    """The beginning of the output; the rest is taken, so that the tool can end, and dropped."""
    kept = bytearray()
    for line in lines:
        kept += line[: _MOST_BYTES - len(kept)]
    return bytes(kept)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _is_result(said: Any) -> bool:
    return isinstance(said, dict) and said.get("type") == "result"


def _is_response(said: Any) -> bool:
    return isinstance(said, dict) and isinstance(said.get("response"), str)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _session(value: Any) -> str | None:
    """A name that can be an argument of its own: no option, no path."""
    return value if isinstance(value, str) and _SESSION.fullmatch(value) else None


def _line(text: Any) -> bytes:
    if not isinstance(text, str) or not text:
        return b""
    return text.rstrip("\n").encode("utf-8", "replace") + b"\n"


def _figures(written: Mapping[str, Any]) -> Usage:
    counts = {name: _count(written.get(name)) for name in ("input_tokens", "output_tokens")}
    return {name: count for name, count in counts.items() if count is not None}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and value >= 0 else None
