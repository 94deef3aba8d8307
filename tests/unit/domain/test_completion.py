"""The end of a run, whoever brings the news and however often (P5, P18, K6)."""

from dataclasses import replace
from itertools import permutations

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND, statuses
from nightshift.domain.errors import PersistenceUncertain, StorageUnavailable
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR
ONCE = builders.once(DUE)


def running(world: World, task: Task | None = None) -> str:
    """The id of a run that is past its fence."""
    stored = world.add(task or builders.task())
    world.now = DUE
    run_id = world.dispatched(stored).run_id
    assert run_id is not None
    world.started(run_id)
    return run_id


def news(run_id: str, outcome: Outcome = Outcome.SUCCESS, **facts: object) -> RunOutcome:
    """News of a run's end."""
    plain = RunOutcome(run_id=run_id, outcome=outcome, finished_at=DUE + MINUTE)
    return replace(plain, **facts)  # type: ignore[arg-type]


def test_a_success_completes_a_run_and_its_once_task(world: World) -> None:
    """SPEC section 3: with when it ran and in which thread."""
    run_id = running(world, builders.task(ONCE))
    assert world.lifecycle.record_outcome(news(run_id, result={"exit_code": 0}))
    run = world.only_run(builders.task())
    assert (run.status, run.started_at, run.finished_at) == ("success", DUE, DUE + MINUTE)
    assert run.result == {"exit_code": 0}
    state = world.read(builders.task()).state
    assert (state.status, state.last_run_at) == (TaskStatus.COMPLETED, DUE)
    assert (state.last_run_id, state.last_thread_id) == (run.id, run.thread_id)
    assert (state.last_status, state.last_error, state.active_run_id) == ("success", None, None)
    assert world.store.held_keys() == {}


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Outcome.FAILED, TaskStatus.FAILED), (Outcome.INTERRUPTED, TaskStatus.CANCELLED)],
)
def test_a_once_task_tells_failure_from_cancellation(
    world: World, outcome: Outcome, status: TaskStatus
) -> None:
    """B72: ABORTED is not FAILED."""
    run_id = running(world, builders.task(ONCE))
    world.lifecycle.record_outcome(news(run_id, outcome, reason="a_reason"))
    assert world.read(builders.task()).state.status is status


def test_a_failure_without_a_text_shows_its_reason(world: World) -> None:
    """B72: the error of a failed run is never empty."""
    run_id = running(world)
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, reason="nonzero_exit"))
    assert world.read(builders.task()).state.last_error == "nonzero_exit"


def test_an_error_is_cleared_by_the_next_success(world: World) -> None:
    """SPEC section 3."""
    run_id = running(world)
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, error="it broke"))
    assert world.read(builders.task()).state.last_error == "it broke"
    world.now = DUE + HOUR
    world.dispatched(builders.task())
    world.ended(world.history(builders.task())[0].id)
    assert world.read(builders.task()).state.last_error is None


def test_what_is_stored_of_an_error_is_bounded(world: World) -> None:
    """K8: 2 KiB, on the run and on the task."""
    run_id = running(world)
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, error="摘" * 9999))
    error = world.only_run(builders.task()).error
    assert error is not None
    assert len(error.encode()) <= 2048
    assert world.read(builders.task()).state.last_error == error


@pytest.mark.parametrize(("picked_up", "reason"), [(True, "worker_lost"), (False, "not_picked_up")])
def test_a_silent_run_is_told_apart_by_its_pickup(
    world: World, picked_up: bool, reason: str
) -> None:
    """SPEC section 8."""
    run_id = running(world)
    if picked_up:
        world.store.pick_up(run_id)
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, reason="worker_lost", silent=True))
    assert statuses([world.only_run(builders.task())]) == [f"failed: {reason}"]


# -- doubled, late, out of order --


def test_news_can_come_any_number_of_times(world: World) -> None:
    """K6, B53, B89: the first is recorded, the others change nothing."""
    run_id = running(world)
    told = news(run_id, Outcome.FAILED, error="it broke")
    assert [world.lifecycle.record_outcome(told) for _ in range(5)] == [True, *[False] * 4]
    assert world.read(builders.task()).state.run_count == 1
    assert len(world.told("run_completed")) == 1


@pytest.mark.parametrize("order", list(permutations(Outcome)))
def test_the_first_terminal_state_wins(order: tuple[Outcome, ...]) -> None:
    """B89: success is not overwritten by a failure marker, nor the reverse."""
    world = World()
    run_id = running(world, builders.task(ONCE))
    for outcome in order:
        world.lifecycle.record_outcome(news(run_id, outcome))
    run = world.only_run(builders.task())
    assert run.status.value == order[0].value
    assert world.read(builders.task()).state.last_status == order[0].value


def test_news_of_an_earlier_run_does_not_touch_the_next_one(world: World) -> None:
    """B90: run N's event is delivered after N+1 was admitted."""
    first = running(world)
    world.lifecycle.record_outcome(news(first))
    world.now = DUE + HOUR
    second = world.dispatched(builders.task()).run_id
    keys, stored = world.store.held_keys(), world.read(builders.task())
    for outcome in Outcome:
        assert not world.lifecycle.record_outcome(news(first, outcome))
    assert world.store.held_keys() == keys
    assert world.read(builders.task()) == stored
    assert set(keys.values()) == {second}


def test_news_that_comes_before_the_fence_is_seen_ends_the_run(world: World) -> None:
    """B91: a fast failure is not turned back into running, and nothing is stamped as started."""
    task = world.add(builders.task())
    world.now = DUE
    run_id = world.dispatched(task).run_id
    assert run_id is not None
    slot = world.slot(task)
    assert world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, reason="error"))
    assert not world.store.pass_fence(run_id, slot.nonce, DUE + SECOND)
    run = world.only_run(task)
    assert (run.status, run.started_at) == (RunStatus.FAILED, None)
    assert world.read(task).state.last_run_at is None


def test_news_of_foreign_executions_changes_nothing(world: World) -> None:
    """SPEC section 6: they produce none."""
    running(world)
    before = (world.store.held_keys(), world.read(builders.task()))
    task_id = builders.task_id(1)
    for name in ("somebody-elses", "", task_id, f"{task_id}-20260101T000000000Z"):
        assert not world.lifecycle.record_outcome(news(name, Outcome.FAILED))
    assert (world.store.held_keys(), world.read(builders.task())) == before


def test_news_of_a_tombstone_changes_nothing(world: World) -> None:
    """SPEC section 3: terminal from birth."""
    task = world.add(builders.task(max_lateness_seconds=0))
    world.now = DUE + MINUTE
    run_id = world.dispatched(task).run_id
    assert run_id is not None
    tombstone = world.only_run(task)
    assert not world.lifecycle.record_outcome(news(run_id))
    assert world.only_run(task) == tombstone


# -- the task is gone, the store is --


def test_the_end_of_a_deleted_tasks_run_frees_its_keys_and_leaves_no_trace(
    world: World,
) -> None:
    """P5, B54: its result is dropped."""
    run_id = running(world)
    assert world.store.tasks.delete(world.read(builders.task()), NOW)
    world.lifecycle.record_outcome(news(run_id, result={"exit_code": 0}))
    assert world.store.held_keys() == {}
    assert world.history(builders.task()) == []
    assert not world.lifecycle.record_outcome(news(run_id))


def test_a_pause_during_a_run_is_not_undone_by_its_end(world: World) -> None:
    """P3, SPEC section 3."""
    run_id = running(world)
    stored = world.read(builders.task())
    assert world.store.tasks.switch(stored, stored.paused("enough", DUE))
    world.lifecycle.record_outcome(news(run_id))
    assert world.read(builders.task()).state.status is TaskStatus.PAUSED


def test_an_edit_during_a_run_is_not_rolled_back_by_its_end(world: World) -> None:
    """P19: nobody rewrites a whole row from an old read."""
    run_id = running(world)
    stored = world.read(builders.task())
    definition = builders.with_definition(stored, title="New title")
    edited = stored.edited(definition, DUE, world.policy)
    world.store.before("runs.complete", lambda: world.store.tasks.replace(stored, edited))
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, error="it broke"))
    after = world.read(builders.task())
    assert (after.definition.title, after.state.last_error) == ("New title", "it broke")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_completion_that_the_store_does_not_confirm_is_heard(world: World, moment: str) -> None:
    """P18: raised, so that the sender repeats it; repeating it settles it."""
    run_id = running(world)

    def fail() -> None:
        raise StorageUnavailable if moment == "before" else PersistenceUncertain

    getattr(world.store, moment)("runs.complete", fail)
    with pytest.raises((StorageUnavailable, PersistenceUncertain)):
        world.lifecycle.record_outcome(news(run_id))
    world.lifecycle.record_outcome(news(run_id))
    assert statuses([world.only_run(builders.task())]) == ["success"]
    assert world.store.held_keys() == {}


def test_the_last_run_of_a_bounded_task_ends_and_the_task_stays_completed(world: World) -> None:
    """SPEC section 3: completed at the admission of its last run."""
    run_id = running(world, builders.task(builders.cron("0 * * * *", max_runs=1)))
    assert world.read(builders.task()).state.status is TaskStatus.COMPLETED
    world.lifecycle.record_outcome(news(run_id, Outcome.FAILED, error="it broke"))
    state = world.read(builders.task()).state
    assert (state.status, state.last_error) == (TaskStatus.COMPLETED, "it broke")
