"""Telling others over HTTP: what a task may ask for, and what is written when it ends."""

from datetime import timedelta
from typing import Any

import pytest

from nightshift.domain.model.notify import UNLESS_SAID, NoticeKind
from unit.functions.desk import ALICE, TASKS, Desk
from unit.functions.test_alarms import ended

HOOK = "https://hooks.example.com/mine?key=1"


def kinds(desk: Desk) -> dict[str, str | None]:
    """What is on its way: the kind, and to which webhook."""
    return {one.notice.kind.value: one.webhook for one in desk.store.notices()}


def finish(desk: Desk, task: dict[str, Any], *, failed: bool = False) -> str:
    """Trigger a task and let its run end."""
    run = desk.begin(task["id"])
    signal = ended(run.id)
    if failed:
        signal |= {"report": None, "caught": {"Error": "States.Timeout", "Cause": ""}}
    assert desk.tell(signal)
    return run.id


def test_a_task_shows_whom_it_tells_of_what(desk: Desk) -> None:
    """What is not said is everything but a plain success."""
    plain = desk.create(notify={"webhook": HOOK})
    assert plain["notify"] == {
        "webhook": HOOK,
        "on": [kind.value for kind in UNLESS_SAID],
        "changes_only": False,
    }
    chosen = {"webhook": HOOK, "on": ["recovered", "failed", "failed"], "changes_only": True}
    task = desk.create(notify=chosen)
    assert task["notify"] == {**chosen, "on": ["failed", "recovered"]}
    assert desk.task(task["id"])["notify"] == task["notify"]
    assert desk.create()["notify"] is None


def test_whom_a_task_tells_can_be_changed_and_taken_away(desk: Desk) -> None:
    """P2: and the change log says so."""
    task = desk.create(notify={"webhook": HOOK})
    other = {"webhook": HOOK, "on": ["missed"], "changes_only": False}
    assert desk.patch(task["id"], notify=other).json["notify"] == other
    assert desk.patch(task["id"], title="Another").json["notify"] == other
    assert desk.patch(task["id"], notify=None).json["notify"] is None
    changes = desk.call("GET", f"{TASKS}/{task['id']}/changes").json["items"]
    assert changes[0]["fields"] == {"notify": {"old": other, "new": None}}


@pytest.mark.parametrize(
    "webhook",
    [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://user:secret@hooks.example.com/",
        "https://hooks.example.com/#part",
        "hooks.example.com",
    ],
)
def test_a_webhook_that_may_not_lead_there_is_refused(webhook: str, desk: Desk) -> None:
    """Before anything is written."""
    body = {"title": "T", "prompt": "P", "schedule_spec": {"cron": "0 9 * * *"}}
    refused = desk.call("POST", TASKS, {**body, "notify": {"webhook": webhook}})
    assert (refused.status, refused.code) == (422, "invalid_request")
    assert list(refused.wrong()) == ["notify.webhook"]
    assert "secret" not in refused.text
    task = desk.create()
    assert desk.patch(task["id"], notify={"webhook": webhook}).status == 422
    assert desk.stored() == [task["id"]]


@pytest.mark.parametrize(
    ("notify", "field"),
    [
        ({}, "notify.webhook"),
        ({"webhook": ""}, "notify.webhook"),
        ({"webhook": 1}, "notify.webhook"),
        ({"webhook": HOOK, "on": []}, "notify.on"),
        ({"webhook": HOOK, "on": ["started"]}, "notify.on.0"),
        ({"webhook": HOOK, "changes_only": "yes"}, "notify.changes_only"),
        ({"webhook": HOOK, "secret": "x"}, "notify.secret"),
    ],
)
def test_what_nobody_can_mean_is_refused(notify: dict[str, Any], field: str, desk: Desk) -> None:
    """SPEC 7: unknown fields and wrong types are refused."""
    body = {"title": "T", "prompt": "P", "schedule_spec": {"cron": "0 9 * * *"}}
    refused = desk.call("POST", TASKS, {**body, "notify": notify})
    assert refused.status == 422
    assert list(refused.wrong()) == [field]


def test_at_the_desk_a_webhook_may_lead_to_this_machine() -> None:
    """A deployment's parameter says so."""
    desk = Desk(WEBHOOK_TARGETS="loopback")
    local = {"webhook": "http://127.0.0.1:8000/hook", "on": ["failed"], "changes_only": False}
    assert desk.create(notify=local)["notify"] == local


def test_an_end_that_nobody_asked_of_writes_no_notice(desk: Desk) -> None:
    """What is not used costs nothing."""
    finish(desk, desk.create())
    finish(desk, desk.create(), failed=True)
    finish(desk, desk.create(notify={"webhook": HOOK}))
    assert kinds(desk) == {}


def test_an_end_is_told_by_what_the_task_wanted_when_the_run_began(desk: Desk) -> None:
    """The run keeps it, so that its end reads nothing of the task."""
    task = desk.create(notify={"webhook": HOOK})
    run = desk.begin(task["id"])
    assert desk.patch(task["id"], notify=None).status == 200
    signal = ended(run.id) | {"report": None, "caught": {"Error": "States.Timeout", "Cause": ""}}
    assert desk.tell(signal)
    assert not desk.tell(signal)
    (outgoing,) = desk.store.notices()
    notice = outgoing.notice
    assert outgoing.webhook == HOOK
    assert (notice.kind, notice.run_id, notice.title) == (NoticeKind.FAILED, run.id, task["title"])
    assert (notice.outcome, notice.reason, notice.user_id) == ("failed", "timeout", ALICE)


def test_the_operators_receivers_hear_of_everything() -> None:
    """Whether or not a task asks for anything."""
    desk = Desk(NOTICE_BUS_NAME="operations")
    finish(desk, desk.create())
    (outgoing,) = desk.store.notices()
    assert (outgoing.notice.kind.value, outgoing.webhook) == ("finished", None)
    assert outgoing.notice.title == "Morning summary"


def test_an_occurrence_that_did_not_run_is_told_with_its_reason(desk: Desk) -> None:
    """`missed`, written together with the tombstone."""
    task = desk.create(notify={"webhook": HOOK}, schedule_spec={"after_seconds": 60})
    late = desk.create(
        notify={"webhook": HOOK}, schedule_spec={"cron": "0 * * * *"}, max_lateness_seconds=60
    )
    del task
    desk.look(desk.now + timedelta(hours=1, minutes=10))
    (outgoing,) = desk.store.notices()
    notice = outgoing.notice
    assert (notice.kind, notice.task_id) == (NoticeKind.MISSED, late["id"])
    assert (notice.outcome, notice.reason) == ("skipped", "too_late")
    assert notice.scheduled_for == desk.now - timedelta(minutes=10)


def test_a_row_of_failures_and_its_end_are_told_in_their_words(desk: Desk) -> None:
    """failed, failed and paused, resumed, failed, recovered."""
    every = {"webhook": HOOK, "on": [kind.value for kind in NoticeKind]}
    task = desk.create(notify=every, pause_after_failures=2, schedule_spec={"cron": "0 * * * *"})
    told: list[list[str]] = []
    counts: list[int] = []
    for failed in (True, True, True, False):
        if desk.task(task["id"])["status"] == "paused":
            desk.do("resume", task["id"])
        desk.look(desk.now + timedelta(hours=1))
        (slot,) = desk.store.active_slots()
        assert desk.store.pass_fence(slot.run_id, slot.nonce, desk.now)
        signal = ended(slot.run_id)
        if failed:
            signal |= {"report": None, "caught": {"Error": "States.Timeout", "Cause": ""}}
        assert desk.tell(signal)
        told.append(sorted(one.notice.kind.value for one in desk.store.notices()))
        counts.append(desk.store.notices()[0].notice.failures_in_a_row)
        desk.notices.announcing.deliver_all(lambda: desk.now, lambda: True)
    assert told == [["failed"], ["auto_paused", "failed"], ["failed"], ["finished", "recovered"]]
    assert counts == [1, 2, 1, 1]


def test_a_launch_that_is_refused_is_told_as_the_failure_it_is(desk: Desk) -> None:
    """The record says failed, and so does the notice."""
    task = desk.create(notify={"webhook": HOOK})
    desk.executions.refuse_next()
    assert desk.do("trigger", task["id"]).status == 502
    (outgoing,) = desk.store.notices()
    assert (outgoing.notice.reason, outgoing.notice.kind) == ("launch_failed", NoticeKind.FAILED)


def test_everybody_sees_their_own_key_and_needs_the_right_to_write(desk: Desk) -> None:
    """P8: with a key notices could be forged."""
    mine = desk.call("GET", "/api/webhook-key")
    assert mine.status == 200
    assert mine.headers["Cache-Control"] == "no-store"
    assert mine.json == desk.call("GET", "/api/webhook-key").json
    assert len(mine.json["key"]) == 64
    assert desk.call("GET", "/api/webhook-key", user="bob").json != mine.json
    assert desk.call("GET", "/api/webhook-key", scope="nightshift/read").status == 403
