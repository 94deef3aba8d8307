"""Reads a function's environment: every value typed and in range, or one sentence that names it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import overload

from nightshift.composition.production import PRODUCTION_POLICY
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.webhook import WebhookTargets

MAX_SHARDS = 64
WORKFLOW_GRACE_SECONDS = 300
"""What an execution needs beside its work: fence, record step, their repetitions, the worker's
own enforcement of the time limit."""


class UnusableSettings(ValueError):
    """The environment does not describe a function that could work; it must be deployed anew."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables of a function. Every reader raises `UnusableSettings` naming its variable."""

    variables: Mapping[str, str]

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.variables.get(name, "").strip()
        if not value:
            raise UnusableSettings(f"{name} is not set.")
        return value

    def optional(self, name: str) -> str | None:
        """A text that may be missing."""
        return self.variables.get(name, "").strip() or None

    def announces(self) -> bool:
        """Whether the operator has a bus or a topic that hears of everything."""
        bus, topic = self.optional("NOTICE_BUS_NAME"), self.optional("NOTICE_TOPIC_ARN")
        return (bus or topic) is not None

    def webhook_targets(self) -> WebhookTargets:
        """Where webhooks may lead: `public`, or `loopback` as well at the desk."""
        value = self.optional("WEBHOOK_TARGETS") or WebhookTargets.PUBLIC.value
        if value not in set(WebhookTargets):
            raise UnusableSettings("WEBHOOK_TARGETS must be public or loopback.")
        return WebhookTargets(value)

    @overload
    def integer(self, name: str, *, default: int, least: int, most: int) -> int: ...
    @overload
    def integer(self, name: str, *, default: None, least: int, most: int) -> int | None: ...
    def integer(self, name: str, *, default: int | None, least: int, most: int) -> int | None:
        """A whole number within its range."""
        value = self.variables.get(name, "").strip()
        if not value:
            return default
        if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
            raise UnusableSettings(f"{name} must be a whole number from {least} to {most}.")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """`true` or `false`."""
        value = self.variables.get(name, "").strip() or str(default).lower()
        if value not in ("true", "false"):
            raise UnusableSettings(f"{name} must be true or false.")
        return value == "true"

    def shards(self, name: str) -> int:
        """A number of shards."""
        return self.integer(name, default=1, least=1, most=MAX_SHARDS)

    def policy(self) -> Policy:
        """The deployed limits (SPEC section 9), which must fit the deployed workflow.

        A run may wait for its worker for one silence and work for its whole time limit; the
        workflow must outlast that, or it would end runs that are doing well.
        """
        read: dict[str, int | bool] = {}
        for entry in fields(Policy):
            default = getattr(PRODUCTION_POLICY, entry.name)
            name = entry.name.upper()
            if isinstance(default, bool):
                read[entry.name] = self.flag(name, default=default)
            else:
                read[entry.name] = self.integer(name, default=default, least=0, most=10**9)
        try:
            policy = replace(PRODUCTION_POLICY, **read)  # type: ignore[arg-type]
        except InvalidRequest as refusal:
            raise UnusableSettings(_in_upper_case(refusal.message)) from None
        needed = policy.max_timeout_seconds + policy.worker_silence_seconds
        needed += policy.max_pause_seconds
        if needed + WORKFLOW_GRACE_SECONDS > policy.workflow_timeout_seconds:
            raise UnusableSettings(
                "MAX_TIMEOUT_SECONDS, WORKER_SILENCE_SECONDS, MAX_PAUSE_SECONDS and"
                f" {WORKFLOW_GRACE_SECONDS} seconds must fit into WORKFLOW_TIMEOUT_SECONDS."
            )
        return policy


def _in_upper_case(sentence: str) -> str:
    """The sentence with every setting spelled as its variable is."""
    for entry in fields(Policy):
        sentence = sentence.replace(entry.name, entry.name.upper())
    return f"{sentence}."
