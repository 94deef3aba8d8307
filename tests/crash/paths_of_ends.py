"""The paths on which runs end, whoever brings the news."""

import json
import zlib

import builders
from completion.handler import PRUNE_ONE_IN
from crash.asl import StateError
from crash.harness import Stage
from crash.machine import FAILURE, SUCCESS
from crash.paths import HOUR, MINUTE, THREAD, Act, path, threaded, working_task
from nightshift.domain.model.enums import FailureClass, RunStatus, TaskStatus
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import Snapshot


@path
def the_workflow_tells_a_success(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def the_workflow_tells_a_success_and_history_is_pruned(stage: Stage) -> Act:
    names = {
        number: occurrence_run_id(builders.task_id(number), stage.now + HOUR)
        for number in range(1, 1000)
    }
    pruned = [
        number for number, name in names.items() if zlib.crc32(name.encode()) % PRUNE_ONE_IN == 0
    ]
    task = working_task(stage, number=pruned[0])
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def the_workflow_tells_the_success_of_a_second_attempt(stage: Stage) -> Act:
    retry = Retry(max_attempts=2, on=(FailureClass.NONZERO_EXIT,))
    task = working_task(stage, retry=retry)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    stage.machine.pick_up(run_id)
    stage.machine.report(run_id, FAILURE)
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def the_workflow_tells_the_loss_of_a_second_attempt(stage: Stage) -> Act:
    retry = Retry(max_attempts=3, on=(FailureClass.WORKER_LOST,))
    task = working_task(stage, retry=retry)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    stage.machine.pick_up(run_id)
    stage.machine.report(run_id, StateError("States.HeartbeatTimeout"))
    return lambda: stage.machine.report(run_id, StateError("States.HeartbeatTimeout"))


@path
def the_workflow_tells_the_success_of_a_single_time(stage: Stage) -> Act:
    threaded(stage)
    task = working_task(stage, builders.once(), thread_id=THREAD)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def the_workflow_tells_a_failure_of_a_deleted_task(stage: Stage) -> Act:
    task = working_task(stage)
    run_id = stage.run_of(task)
    stage.others.delete(task)
    stage.machine.record = stage.victim.record_step
    return lambda: stage.machine.report(run_id, FAILURE)


def fails_once_too_often(stage: Stage, task: Task, reason: str | None) -> Act:
    """The act is the failure of the task's active run; in the end the task is paused with this."""
    stage.machine.record = stage.victim.record_step

    def afterwards(seen: Snapshot) -> list[str]:
        state = seen.task_of[task.id].state
        limit = task.definition.pause_after_failures
        right = (TaskStatus.PAUSED, reason, limit)
        found = (state.status, state.pause_reason, state.failures_in_a_row)
        return [] if found == right else [f"{task.id} is {found}, should be {right}"]

    stage.afterwards = afterwards
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, FAILURE)


@path
def the_workflow_tells_the_last_failure_that_a_task_may_have(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(pause_after_failures=2))
    stage.pass_time(HOUR)
    stage.start_due()
    stage.machine.report_all(FAILURE)
    stage.pass_time(HOUR)
    stage.start_due()
    return fails_once_too_often(stage, task, "Paused after 2 failures in a row.")


@path
def the_workflow_tells_the_last_failure_of_a_task_that_was_paused(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(pause_after_failures=1))
    stage.pass_time(HOUR)
    stage.start_due()
    stage.others.pause(task)
    return fails_once_too_often(stage, task, None)


def after_a_success(stage: Stage) -> Task:
    """A task that asks for the previous result, has succeeded once and is due again."""
    task = stage.add_unwatched(builders.task(include_previous_result=True))
    stage.pass_time(HOUR)
    stage.start_due()
    stage.machine.report_all(SUCCESS)
    stage.pass_time(HOUR)
    return task


@path
def the_clock_launches_a_run_that_is_handed_the_previous_result(stage: Stage) -> Act:
    task = after_a_success(stage)
    first, second = (occurrence_run_id(task.id, stage.now - ago) for ago in (HOUR, 0 * HOUR))

    def afterwards(seen: Snapshot) -> list[str]:
        made = stage.machine.executions.get(second)
        told = None if made is None else json.loads(made.input)["previous"]
        right = told is not None and told["run_id"] == first and told["result"] is not None
        handed = seen.run_of[second].previous
        agrees = handed is not None and handed.run_id == first
        return [] if right and agrees else [f"{second} is handed {handed}, told {told}"]

    stage.afterwards = afterwards
    return stage.victim.look


@path
def the_workflow_tells_a_success_whose_result_is_wanted(stage: Stage) -> Act:
    task = after_a_success(stage)
    stage.start_due()
    run_id = stage.run_of(task)
    stage.machine.record = stage.victim.record_step

    def afterwards(seen: Snapshot) -> list[str]:
        history = sorted(seen.history_of[task.id], key=lambda run: run.id)
        successes = [run.id for run in history if run.status is RunStatus.SUCCESS]
        last = seen.task_of[task.id].state.last_success_run_id
        following = history[-1].previous
        handed = following.run_id if following else None
        right = run_id in successes and (last, handed) == (successes[-1], successes[-2])
        return [] if right else [f"{task.id} has {last} as its last success, handed {handed}"]

    stage.afterwards = afterwards
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def the_workflow_tells_that_no_worker_spoke(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, StateError("States.HeartbeatTimeout"))


@path
def a_status_change_tells_a_time_out(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.time_out(stage.run_of(task))
    (signal,) = stage.machine.signals
    return lambda: stage.victim.hear(signal)


@path
def a_status_change_repeats_what_is_known(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.report(stage.run_of(task), FAILURE)
    (signal,) = stage.machine.signals
    return lambda: stage.victim.hear(signal)


@path
def verification_finds_a_lost_end(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.record = None
    stage.machine.report(stage.run_of(task), SUCCESS)
    stage.machine.record = stage.others.record_step
    stage.pass_time(6 * MINUTE)
    return stage.victim.look


@path
def verification_frees_the_way_of_the_next_occurrence(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.record = None
    stage.machine.report(stage.run_of(task), SUCCESS)
    stage.machine.record = stage.others.record_step
    stage.pass_time(HOUR)
    return lambda: stage.victim.clock.look(stage.now, lambda: True, verify=False)


@path
def old_history_is_pruned(stage: Stage) -> Act:
    task = working_task(stage)
    for _ in range(3):
        stage.machine.report_all(SUCCESS)
        stage.pass_time(HOUR)
        stage.start_due()
    stage.machine.report_all(SUCCESS)
    stage.watched.clear()
    stage.prunes = True
    return lambda: stage.victim.runs.prune(task.id, 2)
