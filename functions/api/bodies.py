"""The parts of a task's body that have fields of their own."""

from typing import Annotated

from pydantic import Field

from api.wire import (
    BackoffRate,
    BackoffSeconds,
    FailureClassName,
    NoticeKindName,
    RetryAttempts,
    WebhookUrl,
    Wire,
)
from nightshift.domain.model.enums import FailureClass
from nightshift.domain.model.notify import UNLESS_SAID, Notify, new_notify
from nightshift.domain.model.retry import (
    DEFAULT_BACKOFF_RATE,
    DEFAULT_BACKOFF_SECONDS,
    DEFAULT_MAX_BACKOFF_SECONDS,
    Retry,
)


class RetryBody(Wire):
    """Another attempt of the same run after failures of these classes; waits in seconds.

    The first wait is `backoff_seconds`, each further one `backoff_rate` times as long, up to
    `max_backoff_seconds`.
    """

    max_attempts: RetryAttempts
    backoff_seconds: BackoffSeconds = DEFAULT_BACKOFF_SECONDS
    backoff_rate: BackoffRate = DEFAULT_BACKOFF_RATE
    max_backoff_seconds: BackoffSeconds = DEFAULT_MAX_BACKOFF_SECONDS
    on: Annotated[list[FailureClassName], Field(min_length=1)] = Field(
        default_factory=lambda: list(FailureClass)
    )

    def to_domain(self) -> Retry:
        """The retry; raises InvalidRequest when its fields contradict each other."""
        return Retry(
            max_attempts=self.max_attempts,
            backoff_seconds=self.backoff_seconds,
            backoff_rate=self.backoff_rate,
            max_backoff_seconds=self.max_backoff_seconds,
            on=tuple(self.on),
        )


class NotifyBody(Wire):
    """Where to tell of the task's runs, by a signed POST; each notice at least once, by its id.

    With `changes_only` a failure is told only after what was none, and a finished run only after a
    failure.
    """

    webhook: WebhookUrl
    on: Annotated[list[NoticeKindName], Field(min_length=1)] = Field(
        default_factory=lambda: list(UNLESS_SAID)
    )
    changes_only: bool = False

    def to_domain(self) -> Notify:
        """What the task wants to tell; whether the webhook may lead there is not asked here."""
        return new_notify(self.webhook, tuple(self.on), changes_only=self.changes_only)
