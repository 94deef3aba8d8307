"""A due occurrence and its four exits (P13, P15, P16, P20, SPEC section 6)."""

import pytest

import builders
from builders import ALICE, DAY, HOUR, MINUTE, NOW, statuses
from nightshift.domain.errors import CorruptRecord, InvalidRequest, LaunchImpossible
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import ActionKind, DispatchExit, Outcome, RunStatus, TaskStatus
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.task import Task
from nightshift.domain.services.lifecycle import DispatchResult
from worlds import World

DUE = NOW + HOUR


def due(world: World, task: Task | None = None) -> Task:
    """A stored task that is due now."""
    stored = world.add(task or builders.task())
    world.now = DUE
    return stored


def once(**fields: object) -> Task:
    """A `once` task that is due at DUE."""
    return builders.task(builders.once(DUE), **fields)  # type: ignore[arg-type]


# -- launched --


def test_a_due_occurrence_is_admitted_and_launched(world: World) -> None:
    """P12, K2, K3: under its own name, with the payload as it is stored."""
    task = due(world)
    run_id = occurrence_run_id(task.id, DUE)
    assert world.dispatched(task) == DispatchResult(DispatchExit.LAUNCHED, task.id, run_id)
    (order,) = world.executions.orders
    assert order.run_id == run_id
    assert order.payload == builders.payload(task)
    run = world.only_run(task)
    assert (run.id, run.status, run.scheduled_for) == (run_id, RunStatus.QUEUED, DUE)
    assert order.slot.thread_id == run.thread_id


def test_a_recurring_task_is_back_to_its_state_within_the_admission(world: World) -> None:
    """SPEC section 3: the next time is set, the status untouched."""
    task = due(world)
    world.dispatched(task)
    state = world.read(task).state
    assert (state.status, state.next_run_at) == (TaskStatus.ENABLED, DUE + HOUR)
    assert state.active_run_id == world.only_run(task).id


def test_a_once_task_runs_from_its_admission_on(world: World) -> None:
    """SPEC section 3: and is out of the line (B71)."""
    task = due(world, once())
    world.dispatched(task)
    state = world.read(task).state
    assert (state.status, state.next_run_at) == (TaskStatus.RUNNING, None)
    assert world.due_now() == []


def test_an_unknown_launch_leaves_the_run_queued_with_its_keys(world: World) -> None:
    """SPEC section 2, B39: it may have happened; the next ticks settle it."""
    task = due(world, once())
    world.executions.lose_next(starts=False)
    result = world.dispatched(task)
    assert result.exit is DispatchExit.LAUNCHED
    assert result.reason == "the request timed out"
    assert world.only_run(task).status is RunStatus.QUEUED
    assert set(world.store.held_keys().values()) == {result.run_id}
    assert world.read(task).state.status is TaskStatus.RUNNING


def test_a_late_occurrence_runs_once_and_says_what_it_stands_for(world: World) -> None:
    """P15, B58, B59: 30 days of a task that fires every minute are one run."""
    task = world.add(builders.task(builders.cron("* * * * *")))
    world.now = NOW + 30 * DAY
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    run = world.only_run(task)
    assert run.scheduled_for == NOW + MINUTE
    assert run.folded == 30 * 24 * 60 - 1
    assert run.folded_through == NOW + 30 * DAY
    assert world.read(task).state.next_run_at == NOW + 30 * DAY + MINUTE


# -- failed --


def test_a_refused_launch_fails_the_run_and_frees_its_keys(world: World) -> None:
    """SPEC section 2: `once` failed."""
    task = due(world, once())
    world.executions.refuse_next("the input is not acceptable")
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.FAILED, "the input is not acceptable")
    run = world.only_run(task)
    assert (run.status, run.reason) == (RunStatus.FAILED, "launch_failed")
    assert run.error == "the input is not acceptable"
    assert world.store.held_keys() == {}
    state = world.read(task).state
    assert (state.status, state.last_error) == (TaskStatus.FAILED, "the input is not acceptable")


def test_a_refused_launch_of_a_recurring_task_shows_its_error_and_goes_on(world: World) -> None:
    """SPEC section 2, B73: and nothing is stamped as having run."""
    task = due(world)
    world.executions.refuse_next("no")
    world.dispatched(task)
    state = world.read(task).state
    assert (state.status, state.next_run_at) == (TaskStatus.ENABLED, DUE + HOUR)
    assert (state.last_error, state.last_status) == ("no", "failed")
    assert (state.last_run_at, state.active_run_id) == (None, None)
    world.now = DUE + HOUR
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED


def test_a_run_whose_launch_was_refused_counts_towards_max_runs(world: World) -> None:
    """SPEC section 3: runs admitted by the clock, also those whose launch failed."""
    task = due(world, builders.task(builders.cron("0 * * * *", max_runs=1)))
    world.executions.refuse_next()
    world.dispatched(task)
    state = world.read(task).state
    assert (state.status, state.scheduled_run_count) == (TaskStatus.COMPLETED, 1)


def test_nothing_is_refused_when_nothing_can_be_launched_at_all(world: World) -> None:
    """SPEC section 2: loud, and what was admitted stays queued."""
    task = due(world, once())
    world.executions.forbid_next()
    with pytest.raises(LaunchImpossible):
        world.dispatched(task)
    assert world.only_run(task).status is RunStatus.QUEUED
    assert len(world.store.held_keys()) == 2


# -- skipped --


def test_an_occurrence_during_a_run_is_skipped_with_its_tombstone(world: World) -> None:
    """P13: recurring waits for the next natural time."""
    task = due(world)
    world.dispatched(task)
    world.now = DUE + HOUR
    result = world.dispatched(task)
    run_id = occurrence_run_id(task.id, DUE + HOUR)
    assert result == DispatchResult(DispatchExit.SKIPPED, task.id, run_id, "overlap")
    assert statuses(world.history(task)) == ["skipped: overlap", "queued"]
    assert world.read(task).state.next_run_at == DUE + 2 * HOUR
    assert len(world.executions.launched) == 1


def test_a_run_longer_than_three_periods_leaves_three_tombstones(world: World) -> None:
    """B49, B56: then the next natural time runs, not the missed one right after."""
    task = due(world)
    world.dispatched(task)
    first = world.only_run(task)
    world.started(first.id)
    for hours in (1, 2, 3):
        world.now = DUE + hours * HOUR
        assert world.dispatched(task).exit is DispatchExit.SKIPPED
    world.now += 7 * MINUTE
    news = world.executions.end(first.id, Outcome.SUCCESS, world.now)
    world.lifecycle.record_outcome(news)
    assert world.dispatched(task).reason == "not_due"
    world.now = DUE + 4 * HOUR
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    assert statuses(world.history(task)) == [
        "queued",
        *["skipped: overlap"] * 3,
        "success",
    ]


def test_a_once_task_whose_thread_is_busy_is_skipped_and_fails(world: World) -> None:
    """SPEC section 2, P13: clock, a skip with its tombstone; its only chance is gone."""
    world.store.threads.register(Thread("talk", ALICE, NOW))
    first = world.add(builders.task(number=1, thread_id="talk"))
    second = due(world, once(number=2, thread_id="talk"))
    world.dispatched(first)
    result = world.dispatched(second)
    assert (result.exit, result.reason) == (DispatchExit.SKIPPED, "thread_busy")
    state = world.read(second).state
    assert state.status is TaskStatus.FAILED
    assert state.last_error is not None
    assert statuses(world.history(second)) == ["skipped: thread_busy"]


def test_an_occurrence_later_than_its_task_allows_is_a_tombstone(world: World) -> None:
    """P16: `too_late`, and the next one is planned."""
    task = world.add(builders.task(max_lateness_seconds=300))
    world.now = DUE + 6 * MINUTE
    result = world.dispatched(task)
    assert (result.exit, result.reason) == (DispatchExit.SKIPPED, "too_late")
    assert world.read(task).state.next_run_at == DUE + HOUR
    assert world.executions.orders == []


def test_a_late_occurrence_within_the_limit_runs_with_its_own_time(world: World) -> None:
    """P16, B60: four minutes are nothing."""
    task = world.add(builders.task(max_lateness_seconds=300))
    world.now = DUE + 4 * MINUTE
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
    assert world.only_run(task).scheduled_for == DUE


def test_a_tombstone_counts_for_nothing(world: World) -> None:
    """SPEC section 3: neither `run_count` nor `max_runs`."""
    schedule = builders.cron("0 * * * *", max_runs=1)
    task = world.add(builders.task(schedule, max_lateness_seconds=0))
    world.now = DUE + MINUTE
    world.dispatched(task)
    state = world.read(task).state
    assert (state.run_count, state.scheduled_run_count) == (0, 0)
    assert state.status is TaskStatus.ENABLED


def test_a_tombstone_names_what_was_folded_into_it(world: World) -> None:
    """P6: folded instants belong to the record that names them."""
    task = world.add(builders.task(max_lateness_seconds=60))
    world.now = DUE + 3 * HOUR + 2 * MINUTE
    assert world.dispatched(task).reason == "too_late"
    tombstone = world.only_run(task)
    assert (tombstone.folded, tombstone.folded_through) == (3, DUE + 3 * HOUR)


# -- conflict --


def test_a_task_that_is_not_due_is_left_alone(world: World) -> None:
    """SPEC section 4: the index is a hint."""
    task = world.add(builders.task())
    result = world.dispatched(task)
    assert result == DispatchResult(DispatchExit.CONFLICT, task.id, None, "not_due")
    assert world.history(task) == []


def test_a_task_waits_when_the_budget_is_full(world: World) -> None:
    """P14: not lost, not skipped."""
    world.set_policy(max_concurrent_runs=1)
    first, second = (world.add(builders.task(number=number)) for number in (1, 2))
    world.now = DUE
    world.dispatched(first)
    result = world.dispatched(second)
    assert (result.exit, result.reason) == (DispatchExit.CONFLICT, "budget_full")
    assert world.history(second) == []
    assert world.due_now() == [second.id]
    world.now = DUE + 4 * MINUTE
    world.ended(world.only_run(first).id)
    assert world.dispatched(second).exit is DispatchExit.LAUNCHED
    assert world.only_run(second).scheduled_for == DUE


def test_a_task_without_its_prompt_is_corrupt(world: World) -> None:
    """P20: it never runs with nothing."""
    task = due(world)
    world.store.lose_payload(builders.ref(task), 1)
    with pytest.raises(CorruptRecord):
        world.dispatched(task)
    assert world.store.held_keys() == {}


def test_a_task_that_the_policy_forbids_now_is_not_run(world: World) -> None:
    """P20: shell switched off, say."""
    task = due(world, builders.task(action_kind=ActionKind.SHELL))
    world.set_policy(allow_shell_actions=False)
    with pytest.raises(InvalidRequest):
        world.dispatched(task)
    world.set_policy(allow_shell_actions=True)
    assert world.dispatched(task).exit is DispatchExit.LAUNCHED
