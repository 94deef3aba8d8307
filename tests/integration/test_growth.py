"""What stays the same as the number of tasks grows, and what may be raised on a live table."""

import pytest

import builders
import proof
from nightshift.domain.exchanged import Event
from nightshift.domain.model.run_ids import task_id_of
from real import RealWorld

MANY = 1000
CROWD = 1000 if proof.is_full() else 150


def launches(real: RealWorld) -> list[Event]:
    """What was told of launches so far."""
    return [event for event in real.events if event.action == "dispatch_launched"]


def test_an_idle_look_costs_the_same_with_ten_and_with_thousands_of_sleeping_tasks(
    real: RealWorld,
) -> None:
    """SPEC section 6, tick: the same calls, and the same rows scanned."""
    real.store(builders.task(number=number) for number in range(10))
    with real.billed() as few:
        real.look()
    real.store(builders.task(number=number) for number in range(10, 10 + MANY))
    with real.billed() as many:
        real.look()
    assert many == few
    assert many.items_read == 0


def test_all_that_is_due_at_once_is_started_once_each_within_the_time_there_is(
    real: RealWorld,
) -> None:
    """P14: none is lost or doubled, and what there is no time for is the next look's, in order."""
    tasks = [
        builders.task(
            number=number, submitted_at=builders.NOW - builders.HOUR, priority=9 - number % 3
        )
        for number in range(CROWD)
    ]
    real.store(tasks)

    def has_time() -> bool:
        return len(launches(real)) < CROWD // 2

    real.clock.look(real.now, has_time)
    early = real.started()
    assert CROWD // 2 <= len(early) < CROWD
    in_line = sorted(tasks, key=lambda task: (-task.definition.priority, task.id))
    first = {task.id for task in in_line[: len(early) + real.workers]}
    assert {task_id_of(run_id) for run_id in early} <= first
    real.look()
    late = real.started()
    assert len(late) == CROWD
    assert set(late.values()) == {1}


@pytest.mark.parametrize("shards", [2, 16])
def test_shards_are_raised_on_a_live_table(real: RealWorld, shards: int) -> None:
    """K1: rows keep the shard they were made with; every shard is read, of the index and slots."""
    old = [real.created(builders.create()) for _ in range(3)]
    real.due_shards = real.slot_shards = shards
    real.build(real.policy)
    new = [real.created(builders.create()) for _ in range(8)]
    assert {(task.due_shard, task.slot_shard) for task in old} == {(0, 0)}
    assert any(task.due_shard for task in new)
    assert any(task.slot_shard for task in new)
    real.pass_time(builders.HOUR)
    real.look()
    assert {slot.task_id for slot in real.runs.slots()} == {task.id for task in old + new}
    for task in old + new:
        (run,) = real.history(task)
        assert real.end(run.id)
    assert real.runs.slots() == []
    real.pass_time(builders.HOUR)
    real.look()
    assert all(len(real.history(task)) == 2 for task in old + new)
