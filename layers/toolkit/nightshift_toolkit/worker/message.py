"""The message that the workflow puts on the worker queue, read strictly."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self


class UnreadableMessage(Exception):
    """The body is not a message of the workflow; the dead letter keeps it for an operator."""


@dataclass(frozen=True)
class Action:
    """What to do: `kind` is `agent` or `shell`, `text` the prompt or the command."""

    kind: str
    text: str = field(repr=False)


@dataclass(frozen=True)
class RunMessage:
    """One attempt of one run, as the workflow asked for it."""

    task_token: str = field(repr=False)
    run_id: str
    task_id: str
    user_id: str
    nonce: str
    attempt: int
    trigger: str
    scheduled_for: str | None
    thread_id: str
    assistant_id: str | None
    title: str
    action: Action
    timeout_seconds: int
    max_pause_seconds: int = 0
    previous: Mapping[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, body: str) -> Self:
        """Read a message body; fields that are not known are passed over.

        A kind of action that is not known is kept with an empty text, so that its run can be told
        why it failed. Raises `UnreadableMessage` with the field's name, never with its content.
        """
        try:
            content = json.loads(body)
        except ValueError as error:
            raise UnreadableMessage("the body is not JSON") from error
        if not isinstance(content, dict):
            raise UnreadableMessage("the body is not a JSON object")
        return cls(
            task_token=_text(content, "task_token"),
            run_id=_text(content, "run_id"),
            task_id=_text(content, "task_id"),
            user_id=_text(content, "user_id"),
            nonce=_text(content, "nonce"),
            attempt=_count(content, "attempt"),
            trigger=_text(content, "trigger"),
            scheduled_for=_optional_text(content, "scheduled_for"),
            thread_id=_text(content, "thread_id"),
            assistant_id=_optional_text(content, "assistant_id"),
            title=_text(content, "title"),
            action=_action(content),
            timeout_seconds=_count(content, "timeout_seconds"),
            max_pause_seconds=(
                content.get("max_pause_seconds") and _count(content, "max_pause_seconds")
            )
            or 0,
            previous=_optional_object(content, "previous"),
        )


_TEXT_OF_KIND = {"agent": "prompt", "shell": "command"}


def _action(content: dict[str, Any]) -> Action:
    action = content.get("action")
    if not isinstance(action, dict):
        raise UnreadableMessage("action is not an object")
    kind = _text(action, "kind")
    key = _TEXT_OF_KIND.get(kind)
    return Action(kind, _text(action, key) if key else "")


def _text(content: dict[str, Any], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value:
        raise UnreadableMessage(f"{key} is not a text")
    return value


def _optional_text(content: dict[str, Any], key: str) -> str | None:
    return None if content.get(key) is None else _text(content, key)


def _optional_object(content: dict[str, Any], key: str) -> dict[str, Any] | None:
    value = content.get(key)
    if value is not None and not isinstance(value, dict):
        raise UnreadableMessage(f"{key} is not an object")
    return value


def _count(content: dict[str, Any], key: str) -> int:
    value = content.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UnreadableMessage(f"{key} is not a positive whole number")
    return value
