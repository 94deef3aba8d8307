"""Reading the workflow's message (SPEC section 8)."""

import json
from typing import Any

import pytest

import planted
from nightshift_toolkit.worker.message import RunMessage, UnreadableMessage
from unit.worker.desk import Desk


def _body(**fields: Any) -> str:
    return json.dumps(Desk().message(**fields))


def test_a_message_of_the_workflow_is_read_whole() -> None:
    message = RunMessage.parse(_body(title="Grüße 夜", scheduled_for=None))
    assert message.title == "Grüße 夜"
    assert message.scheduled_for is None
    assert (message.action.kind, message.action.text) == ("agent", planted.PROMPT)


def test_a_field_that_is_not_known_is_passed_over() -> None:
    assert RunMessage.parse(_body(invented_later=[1])).attempt == 1


def test_an_action_of_another_kind_is_kept_so_that_its_run_can_be_told() -> None:
    action = RunMessage.parse(_body(action={"kind": "poem", "verse": "x"})).action
    assert (action.kind, action.text) == ("poem", "")


@pytest.mark.parametrize(
    "body",
    ["", "not json", "[]", "null", '"text"', "\ud800"],
)
def test_a_body_that_is_no_object_is_unreadable(body: str) -> None:
    with pytest.raises(UnreadableMessage):
        RunMessage.parse(body)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task_token", None),
        ("task_token", ""),
        ("run_id", 7),
        ("nonce", []),
        ("attempt", 0),
        ("attempt", True),
        ("attempt", "1"),
        ("timeout_seconds", 1.5),
        ("scheduled_for", 3),
        ("action", "run it"),
        ("action", {"kind": "agent"}),
        ("action", {"kind": "shell", "command": ["ls"]}),
    ],
)
def test_a_field_of_the_wrong_form_is_unreadable_and_not_quoted(field: str, value: object) -> None:
    with pytest.raises(UnreadableMessage) as caught:
        RunMessage.parse(_body(**{field: value}, title="a secret title"))
    assert "secret" not in str(caught.value)


def test_neither_prompt_nor_token_shows_when_a_message_is_printed() -> None:
    message = RunMessage.parse(_body())
    assert "Summarise" not in repr(message)
    assert "token-1" not in repr(message)
