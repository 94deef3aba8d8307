"""What holds when many do the same at once, or lists move while they are read: the real engine."""

from concurrent.futures import ThreadPoolExecutor

import builders
from nightshift.domain.commands import CreateTask, DeleteTask, TriggerTask
from nightshift.domain.errors import NightshiftError
from nightshift.domain.model.idempotency import IdempotencyKey
from real import RealWorld

QUOTA = 5


def attempt(real: RealWorld, command: CreateTask) -> str:
    """The id of the task, or the code of the refusal."""
    try:
        return real.management.create_task(command, real.now).task.id
    except NightshiftError as refusal:
        return refusal.code


def test_a_quota_is_never_exceeded_however_many_create_at_once(real: RealWorld) -> None:
    """The count is compared in the transaction that writes the task."""
    real.build(builders.policy(max_tasks_per_user=QUOTA))
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: attempt(real, builders.create()), range(24)))
    page = real.management.list_tasks(builders.ALICE, limit=100, after=None)
    assert sorted(view.task.id for view in page.items) == sorted(
        answer for answer in answers if answer != "quota_exceeded"
    )
    assert len(page.items) == QUOTA


def test_twins_of_a_create_make_one_task_and_all_are_told_of_it(real: RealWorld) -> None:
    """Same key and body at the same time: one task, one answer."""
    command = builders.create(key=IdempotencyKey("morning", "digest"))
    with ThreadPoolExecutor(12) as pool:
        answers = set(pool.map(lambda _: attempt(real, command), range(24)))
    page = real.management.list_tasks(builders.ALICE, limit=100, after=None)
    assert {view.task.id for view in page.items} == answers
    assert len(answers) == 1


def test_twins_of_a_trigger_make_one_run_and_all_are_told_of_it(real: RealWorld) -> None:
    """Though the run of the first stands in the way of the others."""
    task = real.created(builders.create())
    command = TriggerTask(task.user_id, task.id, IdempotencyKey("now", "digest"))
    with ThreadPoolExecutor(12) as pool:
        runs = list(pool.map(lambda _: real.dispatch.trigger_task(command, real.now), range(24)))
    (run,) = real.history(task)
    assert {made.id for made in runs} == {run.id}


def test_nothing_is_lost_or_doubled_while_tasks_come_and_go_between_pages(real: RealWorld) -> None:
    """A page goes on after an id, not after a count."""
    kept = sorted((real.created(builders.create()) for _ in range(9)), key=lambda task: task.id)
    gone = kept.pop(4)
    seen: list[str] = []
    after: str | None = None
    while True:
        page = real.management.list_tasks(builders.ALICE, limit=2, after=after)
        seen += [view.task.id for view in page.items]
        after = page.next
        if after is None:
            break
        if len(seen) == 2:
            real.management.delete_task(DeleteTask(gone.user_id, gone.id), real.now)
            real.management.delete_task(DeleteTask(kept[0].user_id, kept[0].id), real.now)
        real.created(builders.create(user_id=builders.BOB))
    assert seen == [task.id for task in kept]
