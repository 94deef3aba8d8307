"""Pausing and resuming a task (P3, P20)."""

from typing import Any

import pytest

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND
from nightshift.domain.errors import (
    NeverFires,
    NightshiftError,
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


# -- pause --


def test_a_paused_task_has_no_times_and_shows_its_reason() -> None:
    """P3: never started by the clock."""
    paused = builders.task().paused("on holiday", NOW + MINUTE)
    assert paused.state.status is TaskStatus.PAUSED
    assert (paused.state.next_run_at, paused.state.due_at) == (None, None)
    assert paused.state.pause_reason == "on holiday"
    assert (paused.revision, paused.updated_at) == (2, NOW + MINUTE)


def test_a_paused_task_takes_a_new_reason() -> None:
    """P3."""
    paused = builders.task().paused("on holiday", NOW).paused("still away", NOW)
    assert paused.state.pause_reason == "still away"


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_task_has_nothing_to_pause_or_to_resume(status: TaskStatus) -> None:
    """P3."""
    task = builders.in_status(builders.task(), status)
    with pytest.raises(TaskNotMutable):
        task.paused(None, NOW)
    with pytest.raises(TaskNotMutable):
        task.resumed(NOW, POLICY)


# -- resume --


@pytest.mark.parametrize("schedule", [builders.hourly(), builders.every(3600)])
def test_a_resumed_task_is_next_strictly_after_now(schedule: Schedule) -> None:
    """P3, B64: zero runs for the instants that passed, also for one that is now."""
    paused = builders.task(schedule).paused("on holiday", NOW)
    resumed = paused.resumed(DUE + 5 * HOUR, POLICY)
    assert resumed.state.next_run_at == DUE + 6 * HOUR
    assert resumed.is_armed
    assert resumed.state.pause_reason is None
    assert resumed.revision == 3


def test_a_pause_and_resume_before_the_occurrence_keep_it() -> None:
    """B64."""
    task = builders.task()
    resumed = task.paused(None, NOW).resumed(NOW + MINUTE, POLICY)
    assert resumed.state.next_run_at == task.state.next_run_at


@pytest.mark.parametrize("now", [DUE, DUE + DAY])
def test_a_once_task_whose_time_passed_while_paused_is_refused(now: object) -> None:
    """P3: it must be given a new time."""
    paused = builders.task(builders.once(DUE)).paused(None, NOW)
    with pytest.raises(TimePassed):
        paused.resumed(now, POLICY)  # type: ignore[arg-type]


def test_a_once_task_is_resumed_up_to_its_last_moment() -> None:
    """P10: the least delay binds at submission, not at a resume."""
    paused = builders.task(builders.once(DUE)).paused(None, NOW)
    assert paused.resumed(DUE - SECOND, POLICY).state.next_run_at == DUE


@pytest.mark.parametrize(("bounds", "used"), [({"ends_at": DUE}, 0), ({"max_runs": 2}, 2)])
def test_a_recurring_task_with_no_run_left_is_not_resumed(
    bounds: dict[str, Any], used: int
) -> None:
    """P3: the time of its schedule has passed."""
    paused = builders.task(bounded_hourly(**bounds)).paused(None, NOW)
    with pytest.raises(TimePassed):
        builders.with_state(paused, scheduled_run_count=used).resumed(DUE, POLICY)


def test_a_floor_raised_meanwhile_refuses_the_resume() -> None:
    """B24: enforced at create, patch and resume."""
    paused = builders.task().paused(None, NOW)
    with pytest.raises(TooFrequent):
        paused.resumed(NOW, builders.policy(min_interval_seconds=7200))


def test_resuming_an_enabled_task_changes_nothing() -> None:
    """P3: not even its revision."""
    task = builders.task()
    assert task.resumed(DUE + HOUR, POLICY) is task


def test_a_resume_brings_a_blocked_task_back() -> None:
    """P20."""
    blocked = builders.with_state(builders.task(), blocked_reason="why", due_at=None)
    resumed = blocked.resumed(DUE, POLICY)
    assert resumed.is_armed
    assert resumed.state.next_run_at == DUE + HOUR


def test_an_enabled_task_without_a_next_time_is_brought_back_by_a_resume() -> None:
    """B76: enabled, nothing next, nothing active."""
    stuck = builders.with_state(builders.task(), next_run_at=None, due_at=None)
    assert stuck.resumed(DUE, POLICY).is_due(DUE + HOUR)


def test_no_change_touches_what_dispatch_and_completion_own() -> None:
    """P19: last runs, counters and the active run."""
    owned = {
        "active_run_id": "tsk_a-1",
        "last_run_at": NOW,
        "last_run_id": "tsk_a-0",
        "last_thread_id": "thr_a",
        "last_status": "failed",
        "last_error": "it broke",
        "run_count": 7,
        "scheduled_run_count": 5,
    }
    task = builders.with_state(builders.task(), **owned)
    paused = task.paused("why", NOW)
    for changed in (
        edit(task, schedule=builders.cron("5 * * * *")),
        paused,
        paused.resumed(NOW, POLICY),
        task.armed(NOW, POLICY),
    ):
        assert {name: getattr(changed.state, name) for name in owned} == owned


def test_every_refusal_has_a_code_of_its_own() -> None:
    """SPEC section 7: stable codes."""
    refusals: list[type[NightshiftError]] = [NotInFuture, NeverFires, TooFrequent, TimePassed]
    assert [refusal.code for refusal in refusals] == [
        "not_in_future",
        "never_fires",
        "too_frequent",
        "time_passed",
    ]
