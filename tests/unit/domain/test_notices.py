"""Which notices a fact makes, who hears of them, and how long they are tried."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOW
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.notice import (
    FIRST_WAIT,
    GIVEN_UP_AFTER,
    LONGEST_WAIT,
    Notice,
    Outgoing,
    is_wanted,
    kinds_of_end,
    outgoing_notices,
)
from nightshift.domain.model.notify import (
    UNLESS_SAID,
    NoticeKind,
    Notify,
    ensure_may_lead,
    new_notify,
    notify_from_dict,
    notify_to_dict,
)
from nightshift.domain.model.webhook import WebhookTargets

EVERY = tuple(NoticeKind)
HOOK = "https://hooks.example/mine"
FACTS = {
    "user_id": "alice",
    "task_id": "tsk_1",
    "title": "Summary",
    "run_id": "tsk_1-m-1",
    "occurred_at": NOW,
}


def outgoing(tries: int = 0) -> Outgoing:
    """A notice that was tried so often."""
    notice = Notice(kind=NoticeKind.FAILED, **FACTS)  # type: ignore[arg-type]
    return Outgoing(notice=notice, webhook=HOOK, due_at=NOW, tries=tries)


@pytest.mark.parametrize(
    ("outcome", "before", "pauses", "kinds"),
    [
        (Outcome.SUCCESS, 0, False, ["finished"]),
        (Outcome.SUCCESS, 3, False, ["finished", "recovered"]),
        (Outcome.FAILED, 0, False, ["failed"]),
        (Outcome.FAILED, 2, True, ["failed", "auto_paused"]),
        (Outcome.INTERRUPTED, 0, False, ["finished"]),
        (Outcome.INTERRUPTED, 3, False, ["finished"]),
    ],
)
def test_the_end_of_a_run_is_finished_or_failed_and_what_comes_of_it(
    outcome: Outcome, before: int, pauses: bool, kinds: list[str]
) -> None:
    """A cancelled run is finished, and nothing has recovered by it."""
    assert list(kinds_of_end(outcome, failures_before=before, pauses=pauses)) == kinds


@pytest.mark.parametrize(
    ("kind", "before", "wanted"),
    [
        (NoticeKind.FAILED, 0, True),
        (NoticeKind.FAILED, 1, False),
        (NoticeKind.FINISHED, 0, False),
        (NoticeKind.FINISHED, 1, True),
        (NoticeKind.RECOVERED, 1, True),
        (NoticeKind.MISSED, 1, True),
        (NoticeKind.AUTO_PAUSED, 2, True),
        (NoticeKind.BUDGET_WARNING, 0, True),
    ],
)
def test_with_changes_only_a_webhook_hears_of_no_end_that_is_like_the_one_before(
    kind: NoticeKind, before: int, wanted: bool
) -> None:
    """The first failure and the first success after failures are changes."""
    changes = Notify(webhook=HOOK, on=EVERY, changes_only=True)
    assert is_wanted(changes, kind, failures_before=before) is wanted
    assert is_wanted(Notify(webhook=HOOK, on=EVERY), kind, failures_before=before)
    assert not is_wanted(Notify(webhook=HOOK, on=()), kind, failures_before=before)


def test_a_task_that_asks_for_nothing_makes_no_notice() -> None:
    """What nobody wants is not written."""
    assert outgoing_notices(EVERY, FACTS, None, announces=False) == ()
    deaf = Notify(webhook=HOOK, on=(NoticeKind.MISSED,))
    assert outgoing_notices((NoticeKind.FAILED,), FACTS, deaf, announces=False) == ()


def test_the_operators_receivers_hear_of_everything_and_a_webhook_of_what_it_wants() -> None:
    """One task's wish hides nothing from the operator."""
    wish = Notify(webhook=HOOK, on=(NoticeKind.FAILED,))
    kinds = (NoticeKind.FAILED, NoticeKind.AUTO_PAUSED)
    made = outgoing_notices(kinds, FACTS, wish, announces=True)
    assert [(one.notice.kind, one.webhook) for one in made] == [
        (NoticeKind.FAILED, HOOK),
        (NoticeKind.AUTO_PAUSED, None),
    ]
    assert {one.due_at for one in made} == {NOW}
    assert [one.notice.id for one in made] == ["tsk_1-m-1.failed", "tsk_1-m-1.auto_paused"]


def test_waits_double_up_to_an_hour_and_none_is_shorter_than_any_try() -> None:
    """The wait is the lease of whoever sends."""
    waits = [outgoing(tries).next_try_after(NOW) - NOW for tries in range(8)]
    assert waits[0] == FIRST_WAIT == timedelta(seconds=60)
    assert waits[1:6] == [FIRST_WAIT * factor for factor in (2, 4, 8, 16, 32)]
    assert waits[6:] == [LONGEST_WAIT, LONGEST_WAIT]
    assert outgoing(10**6).next_try_after(NOW) - NOW == LONGEST_WAIT


def test_a_notice_is_given_up_after_a_day_but_never_untried() -> None:
    """A downtime of ours is no fault of the receiver's."""
    assert not outgoing(5).is_hopeless(NOW + GIVEN_UP_AFTER - timedelta(seconds=1))
    assert outgoing(5).is_hopeless(NOW + GIVEN_UP_AFTER)
    assert not outgoing(0).is_hopeless(NOW + GIVEN_UP_AFTER * 9)


def test_a_webhook_that_names_no_kinds_hears_of_all_but_plain_success() -> None:
    """Nobody wants to be told every night that all is well."""
    assert set(UNLESS_SAID) == set(NoticeKind) - {NoticeKind.FINISHED}


def test_what_is_asked_for_is_checked_put_in_order_and_kept() -> None:
    """Twice the same kind is once."""
    asked = (NoticeKind.FAILED, NoticeKind.FINISHED, NoticeKind.FAILED)
    notify = new_notify(HOOK, asked, changes_only=True)
    assert notify.on == (NoticeKind.FINISHED, NoticeKind.FAILED)
    assert notify_from_dict(notify_to_dict(notify)) == notify
    assert notify_from_dict(notify_to_dict(None)) is None
    ensure_may_lead(notify, WebhookTargets.PUBLIC)
    ensure_may_lead(None, WebhookTargets.PUBLIC)
    with pytest.raises(InvalidRequest):
        ensure_may_lead(replace(notify, webhook="https://10.0.0.7/"), WebhookTargets.PUBLIC)


def test_the_facts_of_a_notice_are_plain_and_do_not_name_the_user() -> None:
    """A webhook is told of the task, not of the account."""
    facts = outgoing().notice.facts()
    assert facts["id"] == "tsk_1-m-1.failed"
    assert "alice" not in facts.values()
