"""What a task tells about itself, and where to."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from nightshift.domain.model.webhook import WebhookTargets, parse_webhook


class NoticeKind(StrEnum):
    """What a notice tells."""

    FINISHED = "finished"  # a run succeeded, or was cancelled
    FAILED = "failed"  # a run failed
    RECOVERED = "recovered"  # a run succeeded after failures in a row
    MISSED = "missed"  # an occurrence did not run
    AUTO_PAUSED = "auto_paused"  # the task paused itself after failures in a row
    BUDGET_WARNING = "budget_warning"  # a daily limit is nearly used up


UNLESS_SAID: Final[tuple[NoticeKind, ...]] = tuple(
    kind for kind in NoticeKind if kind is not NoticeKind.FINISHED
)
"""What a webhook hears that names no kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """The webhook of a task and the kinds it hears.

    With `changes_only` it hears of a failure only after what was none, and of a finished run only
    after a failure.
    """

    webhook: str
    on: tuple[NoticeKind, ...] = UNLESS_SAID
    changes_only: bool = False


def new_notify(webhook: str, on: tuple[NoticeKind, ...], *, changes_only: bool) -> Notify:
    """What was asked for, its kinds once each and in one order."""
    kinds = tuple(kind for kind in NoticeKind if kind in on)
    return Notify(webhook=webhook, on=kinds, changes_only=changes_only)


def ensure_may_lead(notify: Notify | None, targets: WebhookTargets) -> None:
    """Refuse a webhook that may not lead where it does.

    Raises:
        InvalidRequest: see `parse_webhook`.
    """
    if notify is not None:
        parse_webhook(notify.webhook, targets)


def notify_to_dict(notify: Notify | None) -> dict[str, Any] | None:
    """As plain JSON values."""
    if notify is None:
        return None
    return {
        "webhook": notify.webhook,
        "on": [kind.value for kind in notify.on],
        "changes_only": notify.changes_only,
    }


def notify_from_dict(stored: Mapping[str, Any] | None) -> Notify | None:
    """The opposite; KeyError or ValueError when it is none of ours."""
    if stored is None:
        return None
    return Notify(
        webhook=str(stored["webhook"]),
        on=tuple(NoticeKind(kind) for kind in stored["on"]),
        changes_only=bool(stored["changes_only"]),
    )
