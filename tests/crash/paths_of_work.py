"""The paths of a run at work: pickups, attempts, pauses, whoever writes them."""

from contextlib import suppress
from datetime import timedelta

from crash.asl import StateError
from crash.harness import Process, Stage
from crash.machine import FAILURE, SUCCESS
from crash.paths import HOUR, Act, path, working_task
from nightshift.domain.commands import CancelRun, PauseRun, ResumeRun
from nightshift.domain.model.enums import FailureClass
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import Snapshot
from nightshift_toolkit.worker.aws import DynamoPickups
from nightshift_toolkit.worker.message import Action, RunMessage
from nightshift_toolkit.worker.ports import Unavailable

TWICE = Retry(max_attempts=2, on=(FailureClass.NONZERO_EXIT, FailureClass.WORKER_LOST))
SILENCE = StateError("States.HeartbeatTimeout")


def picked_up(stage: Stage, retry: Retry | None = None) -> Task:
    """A task whose run a worker has, which can pause it."""
    task = working_task(stage, retry=retry)
    assert pickups(stage, stage.others).win(message(stage, task), "worker", instant(stage))
    return task


def paused(stage: Stage, retry: Retry | None = None) -> Task:
    """A task whose run stands still, as its owner wants it."""
    task = picked_up(stage, retry)
    stage.others.lifecycle.pause_run(PauseRun(task.user_id, task.id, stage.run_of(task)))
    told = pickups(stage, stage.others)
    told.note_pause(message(stage, task), instant(stage), 0, spent=False)
    return task


def pickups(stage: Stage, process: Process) -> DynamoPickups:
    """What a worker writes with, in a process that may die."""
    return DynamoPickups(process.dynamodb, stage.others.table.name)


def message(stage: Stage, task: Task) -> RunMessage:
    """The message of the first attempt of a task's run."""
    run = stage.others.history(task)[0]
    assert run.nonce is not None
    return RunMessage(
        task_token="token",
        run_id=run.id,
        task_id=task.id,
        user_id=task.user_id,
        nonce=run.nonce,
        attempt=1,
        trigger="schedule",
        scheduled_for=None,
        thread_id="thread",
        assistant_id=None,
        title="A task",
        action=Action("agent", "Do it."),
        timeout_seconds=600,
        max_pause_seconds=3600,
    )


def instant(stage: Stage) -> str:
    """What a worker's clock shows."""
    return format_instant(stage.now)


def unanswered(act: Act) -> Act:
    """What a worker does, which may get no answer."""

    def acted() -> None:
        with suppress(Unavailable):
            act()

    return acted


# -- pickups and attempts --


@path
def a_worker_picks_up_a_run(stage: Stage) -> Act:
    task = working_task(stage)
    told = message(stage, task)
    stage.repeat = lambda: pickups(stage, stage.others).win(told, "worker", instant(stage))

    def won(seen: Snapshot) -> list[str]:
        first = seen.history_of[task.id][0]
        return [] if first.picked_up_attempt == 1 else [f"{first.id} was not picked up"]

    stage.afterwards = won
    at = instant(stage)
    return unanswered(lambda: pickups(stage, stage.victim).win(told, "worker", at))


@path
def the_workflow_records_an_attempt_that_failed(stage: Stage) -> Act:
    return records_an_attempt(stage, FAILURE | {"result": {"exit_code": 3}})


@path
def the_workflow_records_an_attempt_whose_worker_was_lost(stage: Stage) -> Act:
    return records_an_attempt(stage, SILENCE)


def records_an_attempt(stage: Stage, report: dict[str, object] | StateError) -> Act:
    task = picked_up(stage, TWICE)
    run_id = stage.run_of(task)
    stage.machine.attempts_by = stage.victim.dynamodb

    def as_sent(seen: Snapshot) -> list[str]:
        run, sent = seen.run_of[run_id], stage.machine.attempts_of(run_id)
        told = [failed.attempt for failed in run.attempts]
        # The write may have happened though no answer said so: then it was the last all the same.
        complete = told == list(range(1, sent)) or (sent, told) == (1, [1])
        return [] if complete else [f"{sent} attempts were made, {told} are recorded as failed"]

    stage.afterwards = as_sent
    return lambda: stage.machine.report(run_id, report)


@path
def a_run_at_its_second_attempt_is_cancelled(stage: Stage) -> Act:
    task = picked_up(stage, TWICE)
    stage.machine.report(stage.run_of(task), FAILURE)
    command = CancelRun(task.user_id, task.id, stage.run_of(task))
    return lambda: stage.victim.lifecycle.cancel_run(command)


# -- pauses --


@path
def a_run_is_paused_by_its_owner(stage: Stage) -> Act:
    task = picked_up(stage)
    command = PauseRun(task.user_id, task.id, stage.run_of(task))
    return lambda: stage.victim.lifecycle.pause_run(command)


@path
def a_run_is_let_go_on_by_its_owner(stage: Stage) -> Act:
    task = paused(stage)
    command = ResumeRun(task.user_id, task.id, stage.run_of(task))
    return lambda: stage.victim.lifecycle.resume_run(command)


@path
def a_worker_notes_that_its_run_is_paused(stage: Stage) -> Act:
    task = picked_up(stage)
    stage.others.lifecycle.pause_run(PauseRun(task.user_id, task.id, stage.run_of(task)))
    told, at = message(stage, task), instant(stage)
    return unanswered(lambda: pickups(stage, stage.victim).note_pause(told, at, 0, spent=False))


@path
def a_worker_notes_that_no_pause_is_left(stage: Stage) -> Act:
    task = paused(stage)
    stage.pass_time(timedelta(minutes=1))
    told = message(stage, task)
    return unanswered(lambda: pickups(stage, stage.victim).note_pause(told, None, 60, spent=True))


@path
def a_paused_run_is_cancelled(stage: Stage) -> Act:
    task = paused(stage)
    command = CancelRun(task.user_id, task.id, stage.run_of(task))
    return lambda: stage.victim.lifecycle.cancel_run(command)


@path
def the_workflow_tells_that_the_worker_of_a_paused_run_was_lost(stage: Stage) -> Act:
    task = paused(stage)
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, SILENCE)


@path
def the_workflow_tells_the_success_of_a_run_that_was_paused_once_more(stage: Stage) -> Act:
    """The wish came after the worker's last look."""
    task = picked_up(stage)
    stage.others.lifecycle.pause_run(PauseRun(task.user_id, task.id, stage.run_of(task)))
    stage.machine.record = stage.victim.record_step
    run_id = stage.run_of(task)
    return lambda: stage.machine.report(run_id, SUCCESS)


@path
def a_run_whose_attempts_failed_while_it_was_paused_is_verified(stage: Stage) -> Act:
    task = paused(stage, TWICE)
    run_id = stage.run_of(task)
    stage.machine.record = None
    for _ in range(2):
        stage.machine.report(run_id, SILENCE)
    stage.machine.record = stage.others.record_step
    stage.pass_time(HOUR / 4)
    return stage.victim.look
