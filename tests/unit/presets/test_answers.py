"""What agent tools write, in the forms that their documentation shows."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from nightshift_toolkit.presets import presets
from nightshift_toolkit.presets.answers import (
    READERS,
    Answer,
    read_claude,
    read_codex,
    read_llm,
)

_RESULT: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "Three tickets.",
    "session_id": "6f0c1e7a-41f1-4f1c-9a52-0d3c1f1e9b11",
    "total_cost_usd": 0.25,
    "usage": {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 20,
        "output_tokens": 7,
    },
}
_EVENTS: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "Looking."}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "First thought."}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "It is done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 24, "output_tokens": 12}},
]


def _lines(*said: object) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in said]


def test_every_preset_has_a_reader_and_says_where_it_is_documented() -> None:
    assert presets().keys() == READERS.keys()
    assert all(
        link.startswith("https://") for tool in presets().values() for link in tool["source"]
    )


def test_claude_says_what_it_cost_and_cached_input_is_input() -> None:
    assert read_claude(_lines(_RESULT)) == Answer(
        b"Three tickets.\n",
        "6f0c1e7a-41f1-4f1c-9a52-0d3c1f1e9b11",
        {"input_tokens": 123, "output_tokens": 7, "cost_usd": 0.25},
    )


def test_a_list_of_all_messages_ends_with_the_result() -> None:
    assert read_claude(_lines([{"type": "assistant"}, _RESULT])) == read_claude(_lines(_RESULT))


def test_an_error_is_a_failure_also_where_the_exit_code_is_none() -> None:
    assert read_claude(_lines(_RESULT | {"is_error": True})).failed


def test_the_last_message_of_codex_is_its_answer() -> None:
    assert read_codex(_lines(*_EVENTS)) == Answer(
        b"It is done.\n",
        "0199a213-81c0-7800-8aa1-bbab2a035a53",
        {"input_tokens": 24, "output_tokens": 12},
    )


def test_a_failed_turn_of_codex_is_a_failure_that_says_why() -> None:
    failed = {"type": "turn.failed", "error": {"message": "overloaded"}}
    assert read_codex(_lines(*_EVENTS[:2], failed)) == Answer(
        b"overloaded\n", "0199a213-81c0-7800-8aa1-bbab2a035a53", failed=True
    )


def test_the_responses_of_llm_are_counted_together_and_the_last_is_the_answer() -> None:
    first = {"response": "calling", "conversation_id": "01h", "input_tokens": 4, "output_tokens": 1}
    last = {"response": "Done.", "conversation_id": "01h", "input_tokens": 5, "output_tokens": None}
    pretty = json.dumps([first, last], indent=2).encode().splitlines(keepends=True)
    assert read_llm(pretty) == Answer(b"Done.\n", "01h", {"input_tokens": 9, "output_tokens": 1})


@pytest.mark.parametrize("read", READERS.values())
@pytest.mark.parametrize("text", [b"", b"not JSON\n", b"[]\n", b"{}\n", b'{"type": 1}\n', b"3\n"])
def test_what_is_in_no_known_form_is_shown_as_it_is(
    read: Callable[[Iterable[bytes]], Answer], text: bytes
) -> None:
    assert read([text]) == Answer(text)


@pytest.mark.parametrize("name", ["--help", "a b", "../up", "", "x" * 200, 7, None])
def test_what_could_be_an_option_or_a_path_is_no_session(name: object) -> None:
    """It becomes an argument of the next run's command."""
    assert read_claude(_lines(_RESULT | {"session_id": name})).session is None


@pytest.mark.parametrize("amount", [True, "1", -1, None, float("nan"), float("inf")])
def test_what_is_no_amount_is_no_cost(amount: object) -> None:
    assert "cost_usd" not in read_claude(_lines(_RESULT | {"total_cost_usd": amount})).usage
