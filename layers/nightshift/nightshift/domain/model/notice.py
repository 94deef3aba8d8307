"""The notice: one fact that somebody wants to hear of, and the rules that make notices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.notify import NoticeKind, Notify

MAX_ERROR_BYTES = 500
FIRST_WAIT: Final = timedelta(seconds=60)
"""From one try to the next; longer than any try takes, since it is also the lease of the sender."""
LONGEST_WAIT: Final = timedelta(hours=1)
GIVEN_UP_AFTER: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One fact: that a run ended so, or that an occurrence did not run.

    `failures_in_a_row` counts this one; of a recovery it counts those before it.
    """

    kind: NoticeKind
    user_id: str
    task_id: str
    title: str | None
    run_id: str
    occurred_at: datetime
    scheduled_for: datetime | None = None
    outcome: str | None = None
    reason: str | None = None
    error: str | None = None
    failures_in_a_row: int = 0

    @property
    def id(self) -> str:
        """The same for every try and every receiver, so that doubles can be dropped."""
        return f"{self.run_id}.{self.kind.value}"

    def facts(self) -> dict[str, Any]:
        """As receivers get it; times as everywhere."""
        scheduled_for = self.scheduled_for
        return {
            "id": self.id,
            "kind": self.kind.value,
            "task_id": self.task_id,
            "title": self.title,
            "run_id": self.run_id,
            "occurred_at": format_instant(self.occurred_at),
            "scheduled_for": None if scheduled_for is None else format_instant(scheduled_for),
            "outcome": self.outcome,
            "reason": self.reason,
            "error": self.error,
            "failures_in_a_row": self.failures_in_a_row,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A notice on its way: to be tried at `due_at`, and who has it.

    `webhook` is where the task wants it; None where only the operator's receivers get it.
    """

    notice: Notice
    webhook: str | None
    due_at: datetime
    tries: int = 0
    done: frozenset[str] = frozenset()

    def next_try_after(self, now: datetime) -> datetime:
        """When it is tried again if a try that begins now fails: 60 s later, then twice as long."""
        return now + min(FIRST_WAIT * (1 << min(self.tries, 10)), LONGEST_WAIT)

    def is_hopeless(self, now: datetime) -> bool:
        """Whether it has been tried for so long that nobody wants it any more."""
        return self.tries > 0 and now - self.notice.occurred_at >= GIVEN_UP_AFTER


def kinds_of_end(outcome: Outcome, *, failures_before: int, pauses: bool) -> tuple[NoticeKind, ...]:
    """What the end of a run amounts to.

    Args:
        outcome: how it ended.
        failures_before: failures in a row when it was admitted.
        pauses: whether its task pauses itself for it.
    """
    if outcome is Outcome.FAILED:
        return (NoticeKind.FAILED, NoticeKind.AUTO_PAUSED) if pauses else (NoticeKind.FAILED,)
    if outcome is Outcome.SUCCESS and failures_before > 0:
        return (NoticeKind.FINISHED, NoticeKind.RECOVERED)
    return (NoticeKind.FINISHED,)


def is_wanted(notify: Notify, kind: NoticeKind, *, failures_before: int) -> bool:
    """Whether the task's webhook hears of this; see `Notify.changes_only`."""
    if kind not in notify.on:
        return False
    if not notify.changes_only:
        return True
    if kind is NoticeKind.FAILED:
        return failures_before == 0
    return kind is not NoticeKind.FINISHED or failures_before > 0


def outgoing_notices(
    kinds: tuple[NoticeKind, ...],
    facts: Mapping[str, Any],
    notify: Notify | None,
    *,
    failures_before: int = 0,
    announces: bool,
) -> tuple[Outgoing, ...]:
    """The notices of one fact that somebody is to hear of, due at once.

    Args:
        kinds: what the fact amounts to.
        facts: the fields of `Notice` besides its kind.
        notify: the webhook of the task, if it has one.
        failures_before: failures in a row before this.
        announces: whether the operator has receivers, which hear of everything.
    """
    made = []
    for kind in kinds:
        wanted = notify is not None and is_wanted(notify, kind, failures_before=failures_before)
        if wanted or announces:
            notice = Notice(kind=kind, **facts)
            webhook = notify.webhook if wanted and notify is not None else None
            made.append(Outgoing(notice=notice, webhook=webhook, due_at=notice.occurred_at))
    return tuple(made)
