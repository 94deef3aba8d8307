"""`Outbox`, and the notices that the ends of runs and tombstones write into it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, ended
from nightshift.domain.errors import PersistenceUncertain
from nightshift.domain.model.enums import Outcome, TaskStatus
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.task import Task

LATER = NOW + HOUR
DUE = NOW + HOUR


def waiting(stores: Stores, number: int = 1, *, due_after: int = 0, **fields: Any) -> Outgoing:
    """A notice in the outbox, written by the end of a run."""
    held = admitted(stores, created(stores, builders.task(number=number)), seat=number)
    moment = NOW + due_after * SECOND
    outgoing = builders.outgoing(held.run_id, occurred_at=moment, **fields)
    assert stores.runs.complete(completion(held, notices=(outgoing,))).recorded
    return outgoing


def due(stores: Stores, *, limit: int = 100) -> list[Outgoing]:
    """What is to be sent an hour from now."""
    return list(stores.outbox.due(LATER, limit=limit).items)


# -- how notices come to be --


def test_a_notice_is_kept_as_it_was_written(stores: Stores) -> None:
    """Outbox.due: all of it, in any script, also what is absent."""
    full = waiting(
        stores, 1, reason="timeout", error="für „immer“ 🌙", scheduled_for=DUE, failures_in_a_row=3
    )
    bare = waiting(stores, 2, outcome=None, webhook=None, due_after=1)
    assert due(stores) == [full, bare]


def test_a_run_that_ended_before_makes_no_notice_again(stores: Stores) -> None:
    """RunStore.complete: exactly when this call makes the run terminal."""
    held = admitted(stores, created(stores))
    news = completion(held, notices=(builders.outgoing(held.run_id),))
    assert stores.runs.complete(news).recorded
    (sent,) = due(stores)
    claimed = stores.outbox.claim(sent, LATER)
    assert claimed is not None
    assert stores.outbox.settle(claimed)
    assert not stores.runs.complete(news).recorded
    assert due(stores) == []


def test_an_end_that_is_told_twice_at_once_makes_its_notices_once(stores: Stores) -> None:
    """RunStore.complete: of two senders one makes the run terminal."""
    held = admitted(stores, created(stores))
    kinds = (NoticeKind.FAILED, NoticeKind.BUDGET_WARNING)
    notices = tuple(builders.outgoing(held.run_id, kind) for kind in kinds)
    news = completion(held, outcome=Outcome.FAILED, notices=notices)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: stores.runs.complete(news).recorded, range(4)))
    assert answers.count(True) == 1
    assert {one.notice.id for one in due(stores)} == {one.notice.id for one in notices}
    assert len(due(stores)) == 2


def test_an_end_whose_answer_is_lost_makes_its_notices_once(stores: Stores) -> None:
    """Ports: PersistenceUncertain, and asking again adds nothing."""
    held = admitted(stores, created(stores))
    news = completion(held, notices=(builders.outgoing(held.run_id),))
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.runs.complete(news)
    stores.runs.complete(news)
    assert due(stores) == list(news.notices)


def test_a_task_that_is_gone_announces_nothing(stores: Stores) -> None:
    """P5: the result of its last run is dropped."""
    task = created(stores)
    held = admitted(stores, task)
    seen = stores.tasks.get(ref(task))
    assert seen is not None
    assert stores.tasks.delete(seen, NOW)
    stores.runs.complete(completion(held, notices=(builders.outgoing(held.run_id),)))
    assert due(stores) == []


def test_a_run_whose_record_is_gone_announces_nothing(stores: Stores) -> None:
    """RunStore.complete: only what is recorded is told."""
    held = admitted(stores, created(stores))
    run = stores.runs.get(held.task_id, held.run_id)
    assert run is not None
    stores.lose_run(run)
    stores.runs.complete(completion(held, notices=(builders.outgoing(held.run_id),)))
    assert due(stores) == []


def test_news_of_no_launch_that_comes_too_late_announces_nothing(stores: Stores) -> None:
    """P18: the run is past the fence, so it did not end."""
    held = admitted(stores, created(stores))
    assert stores.pass_fence(held, DUE)
    news = completion(held, outcome=Outcome.FAILED, notices=(builders.outgoing(held.run_id),))
    unlaunched = replace(news, outcome=replace(news.outcome, unlaunched=True))
    assert not stores.runs.complete(unlaunched).recorded
    assert due(stores) == []


@pytest.mark.parametrize("edited", [False, True])
def test_a_pause_is_told_exactly_where_the_task_pauses(stores: Stores, *, edited: bool) -> None:
    """RunStore.complete: somebody may have taken the limit away meanwhile."""
    task = created(stores, builders.task(pause_after_failures=1))
    held = admitted(stores, task)
    assert stores.pass_fence(held, DUE)
    if edited:
        seen = stores.tasks.get(ref(task))
        assert seen is not None
        free = builders.with_definition(seen, pause_after_failures=None)
        assert stores.tasks.replace(seen, replace(seen, definition=free, revision=2))
    kinds = (NoticeKind.FAILED, NoticeKind.AUTO_PAUSED)
    verdict = replace(builders.ended_well(), outcome=Outcome.FAILED, streak=held.streak)
    notices = tuple(builders.outgoing(held.run_id, kind) for kind in kinds)
    news = completion(held, outcome=Outcome.FAILED, verdict=verdict, notices=notices)
    assert stores.runs.complete(news).recorded
    after = stores.tasks.get(ref(task))
    assert after is not None
    assert (after.state.status is TaskStatus.PAUSED) is not edited
    told = kinds[:1] if edited else kinds
    assert {one.notice.kind for one in due(stores)} == set(told)


def skipped(stores: Stores, task: Task) -> bool:
    """Skip the task's next occurrence, announcing it."""
    tombstone = builders.tombstone(task)
    notice = builders.outgoing(tombstone.id, NoticeKind.MISSED)
    plan = task.plan_after_dispatch(None, DUE, counted=False)
    return stores.runs.skip(tombstone, task, plan, (notice,))


def test_a_tombstone_makes_its_notice_with_it(stores: Stores) -> None:
    """RunStore.skip: in the same transaction."""
    task = created(stores)
    assert skipped(stores, task)
    (outgoing,) = due(stores)
    assert outgoing.notice.id == f"{builders.tombstone(task).id}.missed"


def test_a_tombstone_that_is_not_written_announces_nothing(stores: Stores) -> None:
    """RunStore.skip: neither where the task changed, nor where the record is there already."""
    task = created(stores)
    ended(stores, admitted(stores, task))
    assert not skipped(stores, task)
    again = created(stores, builders.task(number=2))
    ended(stores, admitted(stores, again, seat=2))
    stored = stores.tasks.get(ref(again))
    assert stored is not None
    rearmed = replace(again, state=replace(again.state, run_count=stored.state.run_count))
    stores.tasks.replace(stored, replace(rearmed, revision=2))
    moved = stores.tasks.get(ref(again))
    assert moved is not None
    assert moved.state.next_run_at == again.state.next_run_at
    assert skipped(stores, moved)
    assert due(stores) == []


# -- how they leave --


def test_what_is_due_is_read_the_longest_due_first(stores: Stores) -> None:
    """Outbox.due: within each part; nothing that is for later, and no more than asked for."""
    for number, after in ((1, 7200), (2, 20), (3, 10), (4, 0), (5, 3600)):
        waiting(stores, number, due_after=after)
    found = due(stores)
    assert [one.due_at for one in found] == [NOW, NOW + 10 * SECOND, NOW + 20 * SECOND, LATER]
    assert due(stores, limit=2) == found[:2]
    assert list(stores.outbox.due(NOW - SECOND, limit=9).items) == []


def test_a_claimed_notice_is_tried_again_when_its_time_comes(stores: Stores) -> None:
    """Outbox.claim: until then it is nobody else's."""
    outgoing = waiting(stores)
    held = stores.outbox.claim(outgoing, NOW + MINUTE)
    assert held == replace(outgoing, due_at=NOW + MINUTE, tries=1)
    assert list(stores.outbox.due(NOW + MINUTE - SECOND, limit=9).items) == []
    assert list(stores.outbox.due(NOW + MINUTE, limit=9).items) == [held]


def test_of_many_who_saw_one_notice_one_gets_it(stores: Stores) -> None:
    """Outbox.claim: two senders never both hold it."""
    outgoing = waiting(stores)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: stores.outbox.claim(outgoing, LATER), range(4)))
    assert sum(answer is not None for answer in answers) == 1
    assert len(due(stores)) == 1


def test_a_claim_of_what_was_seen_before_another_claim_fails(stores: Stores) -> None:
    """Outbox.claim: what was claimed under it or is gone is nobody's."""
    outgoing = waiting(stores)
    held = stores.outbox.claim(outgoing, NOW + MINUTE)
    assert held is not None
    assert stores.outbox.claim(outgoing, NOW + MINUTE) is None
    assert stores.outbox.claim(outgoing, NOW + 2 * MINUTE) is None
    assert stores.outbox.settle(held)
    assert stores.outbox.claim(held, NOW + 3 * MINUTE) is None


def test_it_is_remembered_who_has_a_notice(stores: Stores) -> None:
    """Outbox.note_done: besides those who had it."""
    held = stores.outbox.claim(waiting(stores), NOW + MINUTE)
    assert held is not None
    assert stores.outbox.note_done(held, ["bus"])
    (seen,) = due(stores)
    assert seen.done == {"bus"}
    again = stores.outbox.claim(seen, NOW + 2 * MINUTE)
    assert again is not None
    assert stores.outbox.note_done(again, ["topic"])
    assert due(stores)[0].done == {"bus", "topic"}


def test_who_holds_a_notice_no_more_changes_nothing(stores: Stores) -> None:
    """Outbox.note_done, settle: another sender has it now."""
    held = stores.outbox.claim(waiting(stores), NOW + MINUTE)
    assert held is not None
    other = stores.outbox.claim(held, NOW + 2 * MINUTE)
    assert not stores.outbox.note_done(held, ["bus"])
    assert not stores.outbox.settle(held)
    assert due(stores) == [other]


def test_a_settled_notice_is_gone(stores: Stores) -> None:
    """Outbox.settle: nobody waits for it any more."""
    held = stores.outbox.claim(waiting(stores), NOW + MINUTE)
    assert held is not None
    assert stores.outbox.settle(held)
    assert not stores.outbox.settle(held)
    assert not stores.outbox.note_done(held, ["bus"])
    assert due(stores) == []


def test_a_notice_that_cannot_be_read_is_passed_over(stores: Stores) -> None:
    """Outbox.due: named, and takes nobody's place."""
    damaged = waiting(stores, 1)
    sound = waiting(stores, 2, due_after=1)
    stores.damage_notice(damaged)
    page = stores.outbox.due(LATER, limit=1)
    assert list(page.items) == [sound]
    (told,) = page.corrupt
    assert damaged.notice.id in told


def test_a_claim_without_an_answer_may_have_happened(stores: Stores) -> None:
    """Ports: PersistenceUncertain; the notice is tried again in its time."""
    outgoing = waiting(stores)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.outbox.claim(outgoing, NOW + MINUTE)
    (seen,) = due(stores)
    assert (seen.due_at, seen.tries) == (NOW + MINUTE, 1)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.outbox.note_done(seen, ["bus"])
    assert due(stores)[0].done == {"bus"}
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.outbox.settle(seen)
    assert due(stores) == []


def test_the_keys_come_free_whether_or_not_somebody_is_to_hear(stores: Stores) -> None:
    """K6: notices change nothing of what an end does."""
    held = admitted(stores, created(stores))
    kinds = [kind for kind in NoticeKind if kind is not NoticeKind.AUTO_PAUSED]
    notices = tuple(builders.outgoing(held.run_id, kind) for kind in kinds)
    stores.runs.complete(completion(held, notices=notices))
    assert stores.held_keys() == {}
    assert len(due(stores)) == len(notices)
