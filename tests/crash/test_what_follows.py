"""What the clock puts right by itself, when, and what it leaves alone however odd it looks."""

import json
from datetime import timedelta

import pytest

import builders
from crash.asl import StateError
from crash.harness import LIMIT, Stage
from crash.machine import FAILURE, SUCCESS
from crash.paths import due_task, working_task
from crash.promises import about_occurrences, about_work
from nightshift.domain.commands import CancelRun
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import check

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
INTERVAL = timedelta(seconds=builders.policy().verify_after_seconds)


def status_of(stage: Stage, task: Task) -> str:
    newest = stage.others.history(task)[0]
    return f"{newest.status} {newest.reason}" if newest.reason else str(newest.status)


def assert_at_rest(stage: Stage) -> None:
    snapshot = stage.snapshot(with_index=True)
    assert check(snapshot, at_rest=True, limit=LIMIT) == []
    assert about_work(snapshot, stage.machine.worked, stage.machine.reported) == []
    for task in stage.watched:
        assert about_occurrences(snapshot, task, stage.now) == []


@pytest.mark.parametrize(
    ("report", "status"),
    [
        (SUCCESS, "success"),
        (FAILURE, "failed nonzero_exit"),
        (StateError("States.HeartbeatTimeout"), "failed not_picked_up"),
        (StateError("States.Timeout"), "failed timeout"),
    ],
)
def test_an_end_that_nobody_heard_of_is_recorded_within_one_verification_interval(
    stage: Stage, report: dict[str, str] | StateError, status: str
) -> None:
    """B82, B83: signals are hints; the description of the execution is the guarantee."""
    task = working_task(stage)
    stage.machine.record = None
    stage.machine.report(stage.run_of(task), report)
    stage.machine.signals.clear()
    stage.pass_time(INTERVAL - MINUTE)
    stage.others.look()
    assert status_of(stage, task) == "running"
    stage.pass_time(MINUTE)
    stage.others.look()
    assert status_of(stage, task) == status
    assert_at_rest(stage)


def test_an_execution_that_breaks_outside_every_catch_ends_its_run(stage: Stage) -> None:
    """B85: nothing relies on the workflow's own record step."""
    task = working_task(stage)
    stage.machine.break_down(stage.run_of(task), "States.Runtime")
    (signal,) = stage.machine.signals
    assert stage.others.hear(signal)
    assert status_of(stage, task) == "failed workflow_error"
    assert_at_rest(stage)


@pytest.mark.parametrize("age", [timedelta(minutes=30), timedelta(days=1), timedelta(days=200)])
def test_a_run_that_works_is_left_alone_however_old(stage: Stage, age: timedelta) -> None:
    """B40, B45, B100: only the word of Step Functions ends a run, never its age."""
    task = working_task(stage, builders.once())
    before = stage.snapshot()
    stage.pass_time(age)
    stage.others.look()
    after = stage.snapshot()
    assert after.runs == before.runs
    assert after.slots == before.slots
    assert stage.machine.worked == {stage.run_of(task): 1}


def test_a_run_without_an_execution_frees_its_keys_after_the_launch_deadline(
    stage: Stage,
) -> None:
    """B51, P18: before the deadline the launch may still be repeated, after it nothing can come."""
    task = due_task(stage)
    stage.die_at_launch()
    stage.machine.refusals = ["ThrottlingException"] * 99
    deadline = timedelta(seconds=builders.policy().launch_deadline_seconds)
    stage.pass_time(deadline - MINUTE)
    stage.others.look()
    assert status_of(stage, task) == "queued"
    stage.pass_time(MINUTE)
    stage.others.look()
    assert status_of(stage, task) == "failed not_launched"
    assert_at_rest(stage)


def test_an_execution_that_comes_after_its_run_was_given_up_does_no_work(stage: Stage) -> None:
    """The fence: a launch that was under way for longer than the deadline is harmless."""
    task = due_task(stage)
    stage.others.look()
    late = stage.machine.executions.pop(stage.run_of(task))
    stage.pass_time(20 * MINUTE)
    stage.others.look()
    assert status_of(stage, task) == "failed not_launched"
    stage.machine.executions[late.name] = late
    stage.machine.begin()
    assert stage.machine.statuses() == {late.name: "FAILED"}
    assert stage.machine.worked == {}
    (signal,) = stage.machine.signals
    assert not stage.others.hear(signal)
    assert status_of(stage, task) == "failed not_launched"
    assert_at_rest(stage)


def test_an_execution_of_another_admission_does_no_work(stage: Stage) -> None:
    """The fence: the name of a run is not enough, its admission has to be the same."""
    task = due_task(stage)
    stage.others.look()
    asked = stage.machine.executions[stage.run_of(task)]
    asked.input = json.dumps(json.loads(asked.input) | {"nonce": "another"})
    stage.machine.begin()
    assert stage.machine.worked == {}
    assert status_of(stage, task) == "queued"


def test_an_execution_that_starts_after_its_run_was_cancelled_does_no_work(stage: Stage) -> None:
    """P7: the request on the slot closes the fence, though the stop found nothing to stop."""
    task = due_task(stage)
    stage.others.look()
    run_id = stage.run_of(task)
    late = stage.machine.executions.pop(run_id)
    stage.others.lifecycle.cancel_run(CancelRun(task.user_id, task.id, run_id))
    stage.machine.executions[run_id] = late
    stage.machine.begin()
    stage.others.look()
    assert stage.machine.worked == {}
    assert status_of(stage, task).startswith("interrupted")
    assert_at_rest(stage)


CANCELED = "DynamoDb.TransactionCanceledException"


@pytest.mark.parametrize("error", [CANCELED, "States.Timeout", "DynamoDb.SdkClientException"])
def test_a_fence_whose_answer_was_lost_is_crossed_again(stage: Stage, error: str) -> None:
    """The fence: a run that is already running under this nonce passes."""
    task = due_task(stage)
    stage.machine.fence_errors = [(error, True)]
    stage.start_due()
    assert status_of(stage, task) == "running"
    stage.machine.report_all(SUCCESS)
    assert_at_rest(stage)


def test_a_fence_that_meets_another_transaction_is_tried_a_few_times(stage: Stage) -> None:
    """The fence: a conflict looks like a refusal from there."""
    task = due_task(stage)
    stage.machine.fence_errors = [(CANCELED, False)] * 3
    stage.start_due()
    assert status_of(stage, task) == "running"
    stage.machine.report_all(SUCCESS)
    assert_at_rest(stage)


def test_a_fence_that_stays_in_conflict_ends_the_run_without_work(stage: Stage) -> None:
    """The fence: `Fenced` completes a run that still holds its keys as interrupted."""
    task = due_task(stage)
    stage.machine.fence_errors = [(CANCELED, False)] * 4
    stage.start_due()
    (signal,) = stage.machine.signals
    assert stage.others.hear(signal)
    assert status_of(stage, task) == "interrupted fenced"
    assert stage.machine.worked == {}
    assert_at_rest(stage)


def test_every_throttled_launch_happens_once_in_the_end(stage: Stage) -> None:
    """B95: an occurrence stays with its run until Step Functions takes it."""
    for number in range(2, LIMIT + 1):
        stage.add(builders.task(number=number))
    due_task(stage)
    stage.machine.refusals = ["ThrottlingException", "ExecutionLimitExceeded"] * LIMIT
    for _ in range(5):
        stage.others.look()
        stage.machine.begin()
        stage.pass_time(MINUTE + timedelta(seconds=5))
    assert sorted(stage.machine.worked.values()) == [1] * LIMIT
    stage.machine.report_all(SUCCESS)
    assert_at_rest(stage)


# -- ticks --


def test_a_tick_that_comes_twice_or_late_changes_nothing_but_the_moment(stage: Stage) -> None:
    """B116, B118: ticks are interchangeable, and the wall clock decides what is due."""
    due_task(stage)
    stage.pass_time(4 * MINUTE)
    for _ in range(3):
        stage.others.look()
        stage.victim.look()
    stage.machine.begin()
    stage.machine.report_all(SUCCESS)
    assert list(stage.machine.worked.values()) == [1]
    assert_at_rest(stage)


def test_a_clock_that_is_minutes_behind_repeats_nothing(stage: Stage) -> None:
    """The clocks of two ticks may differ by minutes either way."""
    task = due_task(stage, builders.cron("* * * * *"))
    stage.start_due()
    stage.machine.report_all(SUCCESS)
    stage.victim.now = stage.now - 2 * MINUTE
    stage.victim.look()
    stage.others.now += 2 * MINUTE
    stage.start_due()
    stage.machine.report_all(SUCCESS)
    stage.victim.look()
    assert [run.status for run in stage.others.history(task)] == [RunStatus.SUCCESS] * 2
    assert_at_rest(stage)


@pytest.mark.parametrize("stop", [timedelta(hours=12), timedelta(days=1), timedelta(days=30)])
def test_a_clock_that_stood_still_runs_each_task_once_and_goes_on(
    stage: Stage, stop: timedelta
) -> None:
    """P15, B58, B59: one run for all that passed, within the budget, and the next from now."""
    tasks = [stage.add(builders.task(number=number)) for number in range(1, 6)]
    stage.pass_time(stop)
    for _ in range(4):
        stage.start_due()
        stage.machine.report_all(SUCCESS)
        stage.pass_time(MINUTE)
    assert sorted(stage.machine.worked.values()) == [1] * len(tasks)
    for task in tasks:
        upcoming = stage.others.read(task).state.next_run_at
        assert upcoming is not None
        assert stage.now < upcoming <= stage.now + HOUR
    assert_at_rest(stage)
