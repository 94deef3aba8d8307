"""`jitter: auto`: a task starts in the least crowded minute of its window, and stays there."""

from datetime import datetime
from typing import Any

import pytest

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND, create
from nightshift.domain.commands import (
    EditTask,
    PauseTask,
    ResumeTask,
    ScheduleEdit,
    ScheduleRequest,
)
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import Jitter
from nightshift.domain.model.task import Task
from nightshift.domain.services import spreading
from worlds import World

WINDOW = 600
"""Ten minutes, in seconds."""


def spread(world: World, spec: Any = "0 * * * *", **fields: Any) -> Task:
    """A task that was created with an automatic place."""
    fields.setdefault("jitter_seconds", WINDOW)
    schedule = ScheduleRequest(spec={"cron": spec} if isinstance(spec, str) else spec)
    return world.created(create(schedule=schedule, jitter=Jitter.AUTO, **fields))


def edit(world: World, task: Task, **fields: Any) -> Task:
    command = EditTask(user_id=task.user_id, task_id=task.id, **fields)
    return world.management.edit_task(command, world.now).task


def crowd(world: World, number: int, due_at: datetime, **fields: Any) -> None:
    """Another task that is due at an instant."""
    world.add(builders.task(builders.once(due_at), number=number, **fields))


def minute_of(task: Task) -> int:
    assert task.definition.jitter_place is not None
    return task.definition.jitter_place // 60


def test_a_task_is_put_into_the_only_minute_that_is_empty(world: World) -> None:
    """SPEC section 5: whatever its id, and whatever the priority of the others."""
    for minute in set(range(10)) - {7}:
        crowd(world, minute + 1, NOW + HOUR + minute * MINUTE, priority=minute)
    task = spread(world)
    assert minute_of(task) == 7
    assert task.state.next_run_at == NOW + HOUR
    assert task.state.due_at == NOW + HOUR + (task.definition.jitter_place or 0) * SECOND


def test_tasks_spread_over_a_window_as_evenly_as_can_be(world: World) -> None:
    """SPEC section 5: of forty tasks in ten minutes, four are in each."""
    minutes = [minute_of(spread(world)) for _ in range(40)]
    assert [minutes.count(minute) for minute in range(10)] == [4] * 10


def test_equal_minutes_are_told_apart_by_the_id(world: World) -> None:
    """SPEC section 5: two that see the same emptiness at once need not meet."""
    chosen = {
        spreading.placed(
            world.store.tasks, builders.task_id(number), _drafted(), None, NOW
        ).jitter_place
        for number in range(60)
    }
    assert len(chosen) > 50
    assert {(place or 0) // 60 for place in chosen} == set(range(10))


def _drafted() -> Any:
    return builders.task(jitter_seconds=WINDOW, jitter_place=0).definition


def test_the_place_stays_however_crowded_it_becomes(world: World) -> None:
    """SPEC section 5: stable until its times or its window change."""
    task = spread(world)
    for number in range(20):
        crowd(world, number + 1, NOW + HOUR + minute_of(task) * MINUTE)
    moved = edit(world, task, title="Another", priority=9, jitter=Jitter.AUTO)
    assert moved.definition.jitter_place == task.definition.jitter_place
    assert edit(world, moved, jitter_seconds=WINDOW).revision == moved.revision
    again = edit(world, moved, schedule=ScheduleEdit(spec={"cron": "0 * * * *"}))
    assert again.definition.jitter_place == task.definition.jitter_place
    assert world.read(task).state.due_at == task.state.due_at


@pytest.mark.parametrize(
    "change",
    [{"jitter_seconds": WINDOW + 300}, {"schedule": ScheduleEdit(spec={"cron": "0 */2 * * *"})}],
)
def test_new_times_or_another_window_choose_anew(world: World, change: dict[str, Any]) -> None:
    """SPEC section 5: and the task itself does not crowd its own place."""
    task = spread(world)
    later = NOW + 2 * HOUR if "schedule" in change else NOW + HOUR
    for minute in set(range(15)) - {3}:
        for number in (1, 2):
            crowd(world, 2 * minute + number, later + minute * MINUTE)
    moved = edit(world, task, **change)
    assert minute_of(moved) == 3
    assert moved.state.due_at == later + (moved.definition.jitter_place or 0) * SECOND


def test_a_task_does_not_crowd_its_own_place(world: World) -> None:
    """TaskStore.crowd: `besides`."""
    task = spread(world)
    for minute in set(range(15)) - {minute_of(task)}:
        crowd(world, minute + 1, NOW + HOUR + minute * MINUTE)
    assert minute_of(edit(world, task, jitter_seconds=900)) == minute_of(task)


def test_an_automatic_place_never_reaches_the_next_occurrence(world: World) -> None:
    """SPEC section 5: of the first window, and of those that are shorter later."""
    for _ in range(20):
        task = spread(world, {"every_seconds": 300}, jitter_seconds=86_400)
        assert 0 <= (task.definition.jitter_place or 0) < 300
    uneven = builders.task(
        builders.cron("0 12 * * *", "0 13 * * *"), jitter_seconds=86_400, jitter_place=7200
    )
    assert uneven.state.next_run_at == NOW + HOUR
    assert uneven.state.due_at == NOW + HOUR + 7200 * SECOND
    noon = uneven.plan(uneven.state.status, NOW + 23 * HOUR)
    assert noon.next_run_at == NOW + DAY
    assert noon.due_at == NOW + DAY + HOUR - SECOND


def test_a_far_window_is_counted_on_the_coming_day_too(world: World) -> None:
    """SPEC section 5: the index holds the next time alone, so daily tasks are found tomorrow."""
    for minute in set(range(10)) - {2, 8}:
        crowd(world, minute + 1, NOW + HOUR + minute * MINUTE)
    monday = NOW + 7 * DAY + HOUR
    crowd(world, 50, monday + 2 * MINUTE)
    assert minute_of(spread(world, "0 13 9 3 *")) == 8


def test_a_full_window_is_known_in_part_and_its_emptiest_known_minute_taken(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC section 5: the count is bounded; the looks after the first begin at the own minute."""
    monkeypatch.setattr(spreading, "ENTRIES", 2)
    for minute in range(10):
        for number in range(2 if minute % 2 else 3):
            crowd(world, 3 * minute + number + 1, NOW + HOUR + minute * MINUTE)
    for number in range(30):
        made = spreading.placed(
            world.store.tasks, builders.task_id(100 + number), _drafted(), None, NOW
        )
        assert made.jitter_place is not None
        assert made.jitter_place // 60 % 2 == 1


def test_an_automatic_place_needs_a_window_and_goes_with_it(world: World) -> None:
    """SPEC section 5: a window without a whole minute leaves nothing to choose."""
    for width in (0, 59):
        with pytest.raises(InvalidRequest):
            spread(world, jitter_seconds=width)
    task = spread(world, jitter_seconds=60)
    assert minute_of(task) == 0
    with pytest.raises(InvalidRequest):
        edit(world, task, jitter_seconds=30)
    for change in ({"jitter_seconds": None}, {"jitter": Jitter.HASH}):
        made = spread(world)
        assert edit(world, made, **change).definition.jitter_place is None
    plain = world.created(create(jitter_seconds=WINDOW))
    assert plain.definition.jitter_place is None
    assert edit(world, plain, jitter=Jitter.AUTO).definition.jitter_place is not None


def test_a_paused_task_gets_its_place_and_keeps_it_when_it_is_resumed(world: World) -> None:
    """SPEC section 5: chosen when it is written, whoever starts it later."""
    task = world.created(create(jitter_seconds=WINDOW))
    paused = world.pausing.pause_task(PauseTask(task.user_id, task.id), NOW).task
    placed = edit(world, paused, jitter=Jitter.AUTO)
    assert placed.state.due_at is None
    resumed = world.pausing.resume_task(ResumeTask(task.user_id, task.id), NOW).task
    place = placed.definition.jitter_place
    assert place is not None
    assert resumed.state.due_at == NOW + HOUR + place * SECOND
    stored = world.store.tasks.get(TaskRef(task.user_id, task.id))
    assert stored is not None
    assert stored.definition.jitter_place == place
