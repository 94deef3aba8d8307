"""When a task is next, and what that makes of it (P9, P15, P16, SPEC section 3)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND, at
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.task import Plan, Task
from nightshift.domain.model.zones import tzdata_version

DUE = NOW + HOUR
MILLISECOND = SECOND / 1000


def without_times(status: TaskStatus) -> Plan:
    """The plan of a task that the clock must not start."""
    return Plan(status=status, next_run_at=None, due_at=None, tzdata_version=None)


def after_dispatch(task: Task, now: datetime = DUE, *, counted: bool = True) -> Plan:
    """The plan once the task's occurrence is admitted or skipped at `now`."""
    return task.plan_after_dispatch(None, now, counted=counted)


# -- plan --


def test_the_next_time_is_strictly_after_now() -> None:
    """P3, B74: a run that ends within the millisecond it was due is not due again."""
    task = builders.task()
    assert task.plan(TaskStatus.ENABLED, DUE).next_run_at == DUE + HOUR
    assert task.plan(TaskStatus.ENABLED, DUE - MILLISECOND).next_run_at == DUE


def test_a_plan_names_the_zone_data_it_was_made_with() -> None:
    """SPEC section 5: stamped when the next time is computed, and only then."""
    task = builders.task()
    assert task.plan(TaskStatus.ENABLED, NOW).tzdata_version == tzdata_version()
    assert task.plan(TaskStatus.PAUSED, NOW).tzdata_version is None


def test_a_plan_follows_the_wall_clock_of_the_tasks_zone() -> None:
    """P9, B14: 9:00 in New York is 14:00Z in winter and 13:00Z in summer."""
    task = builders.task(builders.cron("0 9 * * *", zone="America/New_York"))
    assert task.state.next_run_at == at("2026-03-02T14:00")
    assert task.plan(TaskStatus.ENABLED, at("2026-03-07T14:00")).next_run_at == at("2026-03-08T13")


@pytest.mark.parametrize("status", [status for status in TaskStatus if status != "enabled"])
def test_a_task_that_the_clock_must_not_start_has_no_times(status: TaskStatus) -> None:
    """Plan, K1: in the index exactly when the clock may start it."""
    for task in (builders.task(), builders.task(builders.once())):
        assert task.plan(status, NOW) == without_times(status)


def test_a_recurring_task_without_a_time_left_is_completed() -> None:
    """SPEC section 3: `ends_at` is inclusive."""
    task = builders.task(builders.cron("0 * * * *", ends_at=DUE))
    assert task.plan(TaskStatus.ENABLED, DUE - MILLISECOND).next_run_at == DUE
    ended = task.plan(TaskStatus.ENABLED, DUE)
    assert ended == without_times(TaskStatus.COMPLETED)


def test_a_paused_task_whose_schedule_has_ended_stays_paused() -> None:
    """P3: a paused task is not completed behind its owner's back."""
    task = builders.task(builders.cron("0 * * * *", ends_at=DUE))
    assert task.plan(TaskStatus.PAUSED, DUE + HOUR).status is TaskStatus.PAUSED


@pytest.mark.parametrize(("runs", "status"), [(1, "enabled"), (2, "completed"), (3, "completed")])
def test_max_runs_completes_a_task(runs: int, status: str) -> None:
    """SPEC section 3: it counts the runs that the clock admitted."""
    task = builders.task(builders.cron("0 * * * *", max_runs=2))
    assert task.plan(TaskStatus.ENABLED, NOW, runs=runs).status == status


def test_max_runs_is_held_against_the_scheduled_runs_alone() -> None:
    """SPEC section 3: not manual ones, which `run_count` counts too."""
    task = builders.task(builders.cron("0 * * * *", max_runs=2))
    triggered = builders.with_state(task, run_count=9, scheduled_run_count=1)
    assert triggered.plan(TaskStatus.ENABLED, NOW).status is TaskStatus.ENABLED


def test_the_submission_check_is_no_part_of_planning() -> None:
    """SPEC section 3: a healthy task is never refused for too little lead time."""
    task = builders.task(builders.once(NOW + HOUR))
    assert task.plan(TaskStatus.ENABLED, NOW + HOUR - SECOND).next_run_at == NOW + HOUR


# -- jitter --


def test_jitter_moves_the_effective_time_and_not_the_nominal_one() -> None:
    """SPEC section 5: spread by a stable hash of the task id, never past the next occurrence."""
    tasks = [builders.task(number=number, jitter_seconds=1800) for number in range(40)]
    delays = [
        task.state.due_at - DUE for task in tasks if task.state.due_at and task.state.next_run_at
    ]
    assert {task.state.next_run_at for task in tasks} == {DUE}
    assert all(0 * SECOND <= delay <= 1800 * SECOND for delay in delays)
    assert len(set(delays)) > 20
    assert tasks == [builders.task(number=number, jitter_seconds=1800) for number in range(40)]


def test_jitter_never_reaches_the_next_occurrence() -> None:
    """SPEC section 5: however wide it is."""
    for number in range(40):
        task = builders.task(builders.every(300), number=number, jitter_seconds=86_400)
        assert task.state.next_run_at is not None
        assert task.state.due_at is not None
        assert task.state.due_at < task.state.next_run_at + 300 * SECOND


def test_a_task_with_jitter_is_due_at_its_effective_time() -> None:
    """K1: `due_at` decides when the clock may start it."""
    task = next(
        task
        for task in (builders.task(number=number, jitter_seconds=1800) for number in range(40))
        if task.state.due_at != DUE
    )
    due_at = task.state.due_at
    assert due_at is not None
    assert not task.is_due(due_at - MILLISECOND)
    assert task.is_due(due_at)


# -- after a dispatch --


def test_the_next_time_is_computed_from_now_and_not_from_the_old_one() -> None:
    """P15, B58: after a downtime it does not fire again and again until it has caught up."""
    task = builders.task(builders.every(60))
    late = DUE + 30 * DAY
    assert after_dispatch(task, late).next_run_at == late + 60 * SECOND


def test_a_clock_that_is_behind_never_repeats_an_occurrence() -> None:
    """P15: the next time is also strictly after the occurrence that was dealt with."""
    assert after_dispatch(builders.task(), NOW).next_run_at == DUE + HOUR


def test_an_interval_keeps_its_grid_through_a_late_dispatch() -> None:
    """SPEC section 5: missed points are folded, the grid does not move."""
    task = builders.task(builders.every(600))
    assert after_dispatch(task, NOW + 47 * MINUTE).next_run_at == NOW + 50 * MINUTE


def test_a_dispatch_leaves_the_status_of_a_recurring_task() -> None:
    """SPEC section 3: None is unchanged."""
    assert after_dispatch(builders.task()).status is TaskStatus.ENABLED


def test_the_last_counted_run_completes_a_task_at_its_admission() -> None:
    """SPEC section 3: counted when admitted, also if the launch fails later."""
    task = builders.task(builders.cron("0 * * * *", max_runs=1))
    assert after_dispatch(task, counted=True).status is TaskStatus.COMPLETED
    assert after_dispatch(task, counted=False).status is TaskStatus.ENABLED


def test_a_once_task_has_nothing_after_its_dispatch() -> None:
    """B71: running or failed, it is out of the line."""
    task = builders.task(builders.once(DUE))
    for status in (TaskStatus.RUNNING, TaskStatus.FAILED):
        plan = task.plan_after_dispatch(status, DUE, counted=True)
        assert plan == without_times(status)


def test_a_task_without_an_occurrence_has_nothing_to_dispatch() -> None:
    """SPEC section 1."""
    paused = builders.task().paused(None, NOW)
    with pytest.raises(InvalidRequest):
        after_dispatch(paused)


# -- folding and lateness --


def test_a_punctual_occurrence_folds_nothing() -> None:
    """P15."""
    folded = builders.task().folded(DUE)
    assert (folded.count, folded.through) == (0, None)


def test_what_passed_since_the_stored_time_is_folded_into_it() -> None:
    """P15, B59: how many, and up to which; an instant that is now has passed."""
    folded = builders.task().folded(DUE + 12 * HOUR)
    assert (folded.count, folded.through) == (12, DUE + 12 * HOUR)
    folded = builders.task().folded(DUE + 12 * HOUR - MILLISECOND)
    assert (folded.count, folded.through) == (11, DUE + 11 * HOUR)


def test_folding_ends_where_the_schedule_does() -> None:
    """P15: instants after `ends_at` are none."""
    task = builders.task(builders.cron("0 * * * *", ends_at=DUE + 2 * HOUR))
    assert task.folded(DUE + DAY).count == 2


def test_a_clock_that_is_behind_folds_nothing() -> None:
    """P15."""
    assert builders.task().folded(NOW).count == 0


@pytest.mark.parametrize(
    ("late", "too_late"),
    [(0 * SECOND, False), (240 * SECOND, False), (240 * SECOND + MILLISECOND, True)],
)
def test_lateness_beyond_the_limit_is_too_late(late: timedelta, too_late: bool) -> None:
    """P16, B60: exactly the limit is not."""
    task = builders.task(builders.once(DUE), max_lateness_seconds=240)
    now = DUE + late
    assert task.is_too_late(now, task.folded(now)) is too_late


def test_a_task_without_a_limit_is_never_too_late() -> None:
    """P16."""
    task = builders.task(builders.once(DUE))
    assert not task.is_too_late(DUE + 365 * DAY, task.folded(DUE + 365 * DAY))


def test_lateness_is_measured_from_the_latest_folded_instant() -> None:
    """P16: a task that fires every minute is not too late after a downtime."""
    task = builders.task(builders.every(60), max_lateness_seconds=60)
    now = DUE + 12 * HOUR + 30 * SECOND
    assert not task.is_too_late(now, task.folded(now))
    hourly = builders.task(max_lateness_seconds=60)
    assert hourly.is_too_late(now + MINUTE, hourly.folded(now + MINUTE))


# -- due --


def test_a_task_is_due_from_its_time_on_and_only_while_armed() -> None:
    """K1, B61: due is `due_at` by now, whatever minute it is."""
    task = builders.task()
    assert not task.is_due(DUE - MILLISECOND)
    assert task.is_due(DUE)
    assert task.is_due(DUE + DAY)
    assert not builders.with_state(task, blocked_reason="why").is_due(DUE)
    assert not replace(task, state=replace(task.state, status=TaskStatus.PAUSED)).is_due(DUE)
    assert not builders.with_state(task, due_at=None).is_due(DUE)
