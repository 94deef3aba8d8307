"""`TaskStore.crowd`: how many tasks are due in each minute of a window."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import builders
from builders import BOB, HOUR, MINUTE, NOW, SECOND
from contract.backends import Stores
from contract.steps import created
from nightshift.domain.model.task import Task

START = NOW + HOUR + 17 * SECOND
MILLISECOND = SECOND / 1000


def due(stores: Stores, number: int, due_at: datetime, **fields: Any) -> Task:
    """A stored task that is due at an instant."""
    return created(stores, builders.task(builders.once(due_at), number=number, **fields))


def counted(
    stores: Stores, minutes: int, *, besides: str = "tsk_new", limit: int = 100
) -> list[int]:
    return list(stores.tasks.crowd(START, minutes, besides=besides, limit=limit))


def test_tasks_are_counted_by_the_minutes_from_an_instant_on(stores: Stores) -> None:
    """To the millisecond, and none before or after them."""
    for number, due_at in enumerate(
        (
            START - MILLISECOND,
            START,
            START + MINUTE - MILLISECOND,
            START + MINUTE,
            START + 3 * MINUTE - MILLISECOND,
            START + 3 * MINUTE,
        ),
        start=1,
    ):
        due(stores, number, due_at)
    assert counted(stores, 3) == [2, 1, 1]
    assert counted(stores, 1) == [2]


def test_the_tasks_of_all_users_priorities_and_shards_count(stores: Stores) -> None:
    due(stores, 1, START, priority=9)
    due(stores, 2, START, priority=0, user_id=BOB)
    created(stores, replace(builders.task(builders.once(START), number=3), due_shard=1))
    assert counted(stores, 2) == [3, 0]


def test_the_task_in_question_and_who_is_to_wake_do_not_count(stores: Stores) -> None:
    task = due(stores, 1, START)
    sleeper = created(stores, builders.task(number=2))
    paused = sleeper.paused(None, NOW, START)
    assert stores.tasks.switch(sleeper, paused)
    assert counted(stores, 1) == [1]
    assert counted(stores, 1, besides=task.id) == [0]


def test_minutes_that_the_count_of_a_bucket_does_not_reach_are_not_told(stores: Stores) -> None:
    """`limit` entries of each bucket: what lies in and after the minute of a further one."""
    for number in range(1, 5):
        due(stores, number, START + number * MINUTE)
    due(stores, 5, START + 6 * MINUTE, priority=9)
    assert counted(stores, 8, limit=4) == [0, 1, 1, 1, 1, 0, 1, 0]
    assert counted(stores, 8, limit=3) == [0, 1, 1, 1]
    assert counted(stores, 8, limit=1) == [0, 1]
    due(stores, 6, START + MILLISECOND)
    due(stores, 7, START + MILLISECOND)
    assert counted(stores, 8, limit=1) == []
