"""What an edit makes of a task (P2, P10, P20)."""

from typing import Any

import pytest

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND, at
from nightshift.domain.errors import (
    NeverFires,
    NotInFuture,
    TaskNotMutable,
    TimePassed,
    TooFrequent,
)
from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.task import Task

DUE = NOW + HOUR


POLICY = builders.policy(min_once_delay_seconds=60)


FINISHED = [TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED]


def edit(task: Task, now: object = NOW, policy: Policy = POLICY, **definition: object) -> Task:
    """The task with some of its definition changed at `now`."""
    return task.edited(builders.with_definition(task, **definition), now, policy)  # type: ignore[arg-type]


def bounded_hourly(**bounds: Any) -> Schedule:
    """Every full hour, within bounds."""
    return builders.cron("0 * * * *", **bounds)


# -- submit --


@pytest.mark.parametrize(("delay", "accepted"), [(59.999, False), (60, True), (3600, True)])
def test_a_once_task_lies_at_least_the_least_delay_ahead_when_submitted(
    delay: float, accepted: bool
) -> None:
    """P10: exactly the delay is enough."""
    task = builders.task(builders.once(DUE))
    moved = builders.with_definition(task, schedule=builders.once(NOW + delay * SECOND))
    if accepted:
        assert task.edited(moved, NOW, POLICY).state.next_run_at == NOW + delay * SECOND
    else:
        with pytest.raises(NotInFuture):
            task.edited(moved, NOW, POLICY)


def test_a_recurring_task_may_fire_within_the_least_delay() -> None:
    """P10: recurring kinds are not subject to it."""
    task = builders.task(submitted_at=DUE - SECOND)
    assert task.armed(DUE - SECOND, POLICY).state.next_run_at == DUE


def test_a_schedule_below_the_floor_is_refused() -> None:
    """SPEC section 5: at every submission."""
    task = builders.task(builders.cron("*/10 * * * *"))
    with pytest.raises(TooFrequent):
        task.armed(NOW, builders.policy(min_interval_seconds=601))
    every = builders.task(builders.every(600))
    with pytest.raises(TooFrequent):
        every.armed(NOW, builders.policy(min_every_seconds=601))


@pytest.mark.parametrize("bounds", [{"ends_at": NOW + MINUTE}, {"max_runs": 2}])
def test_a_schedule_with_no_run_left_is_refused(bounds: dict[str, Any]) -> None:
    """SPEC section 3: `ends_at` has passed, or `max_runs` is used up."""
    used = builders.with_state(builders.task(), scheduled_run_count=2)
    with pytest.raises(NeverFires):
        edit(used, schedule=builders.cron("5 * * * *", **bounds))


def test_a_submitted_task_is_neither_blocked_nor_paused() -> None:
    """P20: arming clears both reasons."""
    task = builders.with_state(builders.task(), blocked_reason="why", pause_reason="because")
    armed = task.armed(NOW, POLICY)
    assert armed.is_armed
    assert armed.state.pause_reason is None


# -- edit --


def test_an_edit_moves_the_revision_by_one() -> None:
    """SPEC section 4: `revision` moves only with the definition."""
    task = builders.task()
    changed = edit(task, now=NOW + MINUTE, title="New title")
    assert (changed.revision, changed.updated_at) == (2, NOW + MINUTE)
    assert changed.created_at == task.created_at


def test_an_edit_of_anything_but_the_times_moves_no_time() -> None:
    """P2, B67: a rename fires nothing and skips nothing, even while the task is overdue."""
    for schedule in (builders.hourly(), builders.every(600), builders.once(DUE)):
        task = builders.task(schedule)
        for now in (NOW + MINUTE, DUE + 3 * HOUR):
            changed = edit(task, now=now, title="New title", priority=9, labels={"a": "b"})
            assert changed.state == task.state


def test_the_same_schedule_written_differently_moves_no_time() -> None:
    """B65: what counts is the normalised schedule."""
    task = builders.task(builders.cron("0 */1 * * mon-fri"))
    same = builders.cron("0   */1 * *   MON-FRI")
    assert edit(task, now=DUE + MINUTE, schedule=same).state == task.state


def test_another_schedule_is_planned_strictly_after_now() -> None:
    """P2, B65, B67: and fires nothing for an instant before the edit."""
    daily = builders.task(builders.cron("15 1 * * *"))
    changed = edit(daily, schedule=builders.cron("15 2 * * *"))
    assert changed.state.next_run_at == at("2026-03-03T02:15")
    friday = at("2026-03-06T18:00")
    weekdays = edit(
        builders.task(builders.cron("0 7 * * *")),
        now=friday,
        schedule=builders.cron("0 7 * * 1-5"),
    )
    assert weekdays.state.next_run_at == at("2026-03-09T07:00")


def test_another_zone_is_another_schedule() -> None:
    """B65: the wall clock is read anew."""
    task = builders.task(builders.cron("0 9 * * *"))
    moved = edit(task, schedule=builders.cron("0 9 * * *", zone="Asia/Tokyo"))
    assert moved.state.next_run_at == at("2026-03-03T00:00")


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_task_moved_into_the_future_is_armed_again(status: TaskStatus) -> None:
    """P2: not merely shown a next time that never fires."""
    task = builders.in_status(builders.task(builders.once(DUE)), status)
    changed = edit(task, now=DUE + DAY, schedule=builders.once(DUE + 2 * DAY))
    assert changed.is_due(DUE + 2 * DAY)
    assert changed.state.status is TaskStatus.ENABLED


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_task_that_is_renamed_stays_finished(status: TaskStatus) -> None:
    """P2: only the fields sent change."""
    task = builders.in_status(builders.task(builders.once(DUE)), status)
    changed = edit(task, now=NOW, title="New title")
    assert changed.state == task.state


def test_a_completed_task_with_more_runs_goes_on() -> None:
    """SPEC section 3: `max_runs` was reached, and is raised."""
    task = builders.with_state(
        builders.in_status(builders.task(bounded_hourly(max_runs=2)), TaskStatus.COMPLETED),
        scheduled_run_count=2,
    )
    changed = edit(task, now=DUE, schedule=bounded_hourly(max_runs=3))
    assert changed.state.status is TaskStatus.ENABLED
    assert changed.state.next_run_at == DUE + HOUR


@pytest.mark.parametrize("status", [TaskStatus.ENABLED, TaskStatus.PAUSED, TaskStatus.COMPLETED])
def test_a_number_of_runs_that_is_used_up_is_refused(status: TaskStatus) -> None:
    """SPEC section 5: as an end that has passed is; whoever wants no more runs pauses it."""
    task = builders.with_state(
        builders.task(bounded_hourly(max_runs=9)), scheduled_run_count=3, status=status
    )
    with pytest.raises(NeverFires):
        edit(task, schedule=bounded_hourly(max_runs=3))


def test_a_number_of_runs_that_is_not_used_up_moves_nothing() -> None:
    """P2: the next time stays."""
    task = builders.with_state(builders.task(bounded_hourly(max_runs=9)), scheduled_run_count=3)
    kept = edit(task, schedule=bounded_hourly(max_runs=4))
    assert kept.state == task.state


def test_a_rename_does_not_lose_an_occurrence_that_waits_for_a_seat() -> None:
    """P14: it waits as long as it takes, also when it is the last one before `ends_at`."""
    task = builders.task(bounded_hourly(ends_at=DUE))
    changed = edit(task, now=DUE + 5 * MINUTE, title="New title")
    assert changed.is_due(DUE + 5 * MINUTE)
    assert changed.state.next_run_at == DUE


def test_new_jitter_moves_the_effective_time_alone() -> None:
    """SPEC section 5: identity is the nominal time."""
    moved = [
        edit(builders.task(number=number), jitter_seconds=1800).state.due_at for number in range(20)
    ]
    assert len(set(moved)) > 5
    assert edit(builders.task(), jitter_seconds=1800).state.next_run_at == DUE


def test_a_running_once_task_is_not_edited_nor_paused_nor_resumed() -> None:
    """P2, P3: refused until its run has ended."""
    running = builders.in_status(builders.task(builders.once(DUE)), TaskStatus.RUNNING)
    with pytest.raises(TaskNotMutable):
        edit(running, title="New title")
    with pytest.raises(TaskNotMutable):
        running.paused(None, NOW)
    with pytest.raises(TaskNotMutable):
        running.resumed(NOW, POLICY)


def test_a_paused_task_stays_paused_through_an_edit() -> None:
    """P3: it gets its next time when it is resumed."""
    paused = builders.task().paused("on holiday", NOW)
    changed = edit(paused, schedule=builders.cron("30 * * * *"))
    assert changed.state == paused.state
    assert changed.resumed(DUE, POLICY).state.next_run_at == DUE + 30 * MINUTE


def test_a_paused_task_takes_no_schedule_that_may_not_be_submitted() -> None:
    """P10: bad input is refused at once, not at the resume."""
    paused = builders.task().paused(None, NOW)
    with pytest.raises(NotInFuture):
        edit(paused, schedule=builders.once(NOW + SECOND))


def test_an_edit_brings_a_blocked_task_back() -> None:
    """P20: next strictly after now, also when nothing of its schedule changed."""
    blocked = builders.with_state(builders.task(), blocked_reason="why", due_at=None)
    changed = edit(blocked, now=DUE + MINUTE, title="New title")
    assert changed.is_armed
    assert changed.state.next_run_at == changed.state.due_at == DUE + HOUR


def test_an_edit_of_a_blocked_and_paused_task_unblocks_it_and_leaves_it_paused() -> None:
    """P20, P3."""
    blocked = builders.with_state(builders.task(), blocked_reason="why", due_at=None)
    changed = edit(blocked.paused("on holiday", NOW), title="New title")
    assert changed.state.status is TaskStatus.PAUSED
    assert changed.state.blocked_reason is None
    assert changed.state.pause_reason == "on holiday"


def test_a_blocked_once_task_whose_time_passed_needs_a_new_one() -> None:
    """P3, P20: it never fires by surprise."""
    blocked = builders.with_state(
        builders.task(builders.once(DUE)), blocked_reason="why", due_at=None
    )
    with pytest.raises(TimePassed):
        edit(blocked, now=DUE, title="New title")
    changed = edit(blocked, now=DUE, schedule=builders.once(DUE + HOUR))
    assert changed.is_due(DUE + HOUR)
