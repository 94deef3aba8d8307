"""The paths that people and programs set off."""

import builders
from crash.harness import Stage
from crash.paths import HOUR, MINUTE, THREAD, Act, due_task, path, threaded, working_task
from nightshift.domain.commands import (
    Action,
    CancelRun,
    ChangePolicy,
    CreateTask,
    DeleteTask,
    EditTask,
    ExplainTask,
    PauseTask,
    PauseTasks,
    ResumeTask,
    ResumeTasks,
    ScheduleEdit,
    TriggerTask,
)
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import ActionKind, ContextMode, Trigger
from nightshift.domain.model.idempotency import IdempotencyKey
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.task import Task
from nightshift.domain.services.limits import change_policy
from nightshift_toolkit.audit import Snapshot

KEY = IdempotencyKey("a-request", "of-this-body")


def trigger(stage: Stage, task: Task) -> Act:
    return lambda: stage.victim.trigger(task)


def edit(stage: Stage, task: Task, **fields: object) -> Act:
    command = EditTask(user_id=task.user_id, task_id=task.id, **fields)  # type: ignore[arg-type]
    return lambda: stage.victim.management.edit_task(command, stage.now)


# -- manual triggers --


@path
def a_recurring_task_is_triggered(stage: Stage) -> Act:
    return trigger(stage, stage.add(builders.task()))


@path
def a_single_time_is_triggered(stage: Stage) -> Act:
    return trigger(stage, stage.add_unwatched(builders.task(builders.once())))


@path
def a_paused_task_is_triggered_in_its_thread(stage: Stage) -> Act:
    threaded(stage)
    task = stage.add_unwatched(builders.task(thread_id=THREAD))
    stage.others.pause(task)
    return trigger(stage, task)


@path
def a_trigger_finds_an_active_run(stage: Stage) -> Act:
    return trigger(stage, working_task(stage))


@path
def a_trigger_finds_the_budget_full(stage: Stage) -> Act:
    idle = stage.add(builders.task(builders.every(7200), number=4))
    for number in (2, 3):
        stage.add(builders.task(number=number))
    working_task(stage)
    return trigger(stage, idle)


@path
def a_triggered_launch_is_refused(stage: Stage) -> Act:
    task = stage.add(builders.task())
    stage.machine.refusals = ["InvalidExecutionInput"]
    return trigger(stage, task)


@path
def a_triggered_launch_of_a_single_time_is_refused(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(builders.once()))
    stage.machine.refusals = ["InvalidExecutionInput"]
    return trigger(stage, task)


@path
def a_trigger_is_repeated_under_its_key(stage: Stage) -> Act:
    task = stage.add(builders.task())
    command = TriggerTask(task.user_id, task.id, key=KEY)
    stage.repeat = lambda: stage.others.dispatch.trigger_task(command, stage.now)

    def one_run(seen: Snapshot) -> list[str]:
        by_hand = [run.id for run in seen.runs if run.trigger is Trigger.MANUAL]
        return [] if len(by_hand) == 1 else [f"one request made the runs {by_hand}"]

    stage.afterwards = one_run
    return lambda: stage.victim.dispatch.trigger_task(command, stage.now)


# -- definitions --


@path
def a_creation_is_repeated_under_its_key(stage: Stage) -> Act:
    command = builders.create(key=KEY)
    stage.repeat = lambda: stage.others.management.create_task(command, stage.now)

    def one_task(seen: Snapshot) -> list[str]:
        return [] if len(seen.tasks) == 1 else [f"one request made {len(seen.tasks)} tasks"]

    stage.afterwards = one_task
    return lambda: stage.victim.management.create_task(command, stage.now)


@path
def a_task_is_created(stage: Stage) -> Act:
    command = builders.create()
    return lambda: stage.victim.management.create_task(command, stage.now)


@path
def a_task_is_created_in_a_thread(stage: Stage) -> Act:
    threaded(stage)
    command: CreateTask = builders.create(context_mode=ContextMode.REUSE_THREAD, thread_id=THREAD)
    return lambda: stage.victim.management.create_task(command, stage.now)


@path
def a_thread_is_registered(stage: Stage) -> Act:
    thread = Thread(THREAD, builders.ALICE, stage.now)
    return lambda: stage.victim.threads.threads.register(thread)


@path
def the_operator_lowers_the_limit(stage: Stage) -> Act:
    stage.add(builders.task())
    command = ChangePolicy(changed_by="operator", settings={"max_concurrent_runs": 1})
    return lambda: change_policy(stage.victim.clock.policies, command, stage.now)


@path
def a_title_is_changed(stage: Stage) -> Act:
    return edit(stage, stage.add(builders.task()), title="Another")


@path
def a_prompt_is_changed(stage: Stage) -> Act:
    action = Action(ActionKind.AGENT, "Something else.")
    return edit(stage, stage.add(builders.task()), action=action)


@path
def a_prompt_is_changed_while_the_run_works(stage: Stage) -> Act:
    action = Action(ActionKind.AGENT, "Something else.")
    return edit(stage, working_task(stage), action=action)


@path
def a_schedule_is_changed(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task())
    return edit(stage, task, schedule=ScheduleEdit(spec={"cron": "30 * * * *"}))


@path
def a_finished_task_is_armed_again(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(builders.once()))
    stage.pass_time(HOUR)
    stage.start_due()
    stage.machine.report_all({"outcome": "success"})
    moved = ScheduleEdit(spec={"after_seconds": 1800})
    return edit(stage, task, schedule=moved)


@path
def a_task_is_paused(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task())
    command = PauseTask(task.user_id, task.id, "holiday")
    return lambda: stage.victim.pausing.pause_task(command, stage.now)


@path
def a_task_is_paused_until_a_time(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task())
    end = format_instant(stage.now + 2 * HOUR)
    command = PauseTask(task.user_id, task.id, "holiday", until=end)
    return lambda: stage.victim.pausing.pause_task(command, stage.now)


@path
def all_tasks_are_paused(stage: Stage) -> Act:
    for number in (1, 2):
        stage.add_unwatched(builders.task(number=number))
    command = PauseTasks(user_id=builders.ALICE, reason="holiday")
    stage.repeat = lambda: stage.others.pausing.pause_tasks(command, stage.now)
    stage.afterwards = all_paused
    return lambda: stage.victim.pausing.pause_tasks(command, stage.now)


@path
def all_tasks_are_resumed(stage: Stage) -> Act:
    for number in (1, 2):
        stage.others.pause(stage.add_unwatched(builders.task(number=number)))
    command = ResumeTasks(user_id=builders.ALICE)
    stage.repeat = lambda: stage.others.pausing.resume_tasks(command, stage.now)
    return lambda: stage.victim.pausing.resume_tasks(command, stage.now)


def all_paused(seen: Snapshot) -> list[str]:
    """The complaint that a task is not paused, or was paused twice."""
    states = {task.id: (task.state.status.value, task.revision) for task in seen.tasks}
    return [] if set(states.values()) == {("paused", 2)} else [f"all were paused: {states}"]


@path
def a_single_time_that_is_to_wake_is_triggered(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(builders.once()))
    stage.others.pause(task, until=stage.now + HOUR / 2)
    return trigger(stage, task)


@path
def a_task_is_paused_while_it_is_launched(stage: Stage) -> Act:
    task = due_task(stage)
    stage.watched.clear()
    stage.others.look()
    command = PauseTask(task.user_id, task.id, "holiday")
    return lambda: stage.victim.pausing.pause_task(command, stage.now)


@path
def a_task_is_resumed(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task())
    stage.others.pause(task)
    stage.pass_time(HOUR + MINUTE)
    command = ResumeTask(task.user_id, task.id)
    return lambda: stage.victim.pausing.resume_task(command, stage.now)


@path
def an_idle_task_is_deleted_with_its_history(stage: Stage) -> Act:
    task = working_task(stage)
    stage.machine.report_all({"outcome": "success"})
    return delete(stage, task)


@path
def a_task_is_deleted_while_its_run_works(stage: Stage) -> Act:
    threaded(stage)
    return delete(stage, working_task(stage, thread_id=THREAD))


@path
def a_task_is_deleted_while_its_run_is_queued(stage: Stage) -> Act:
    task = due_task(stage)
    stage.die_at_launch()
    return delete(stage, task)


def delete(stage: Stage, task: Task, *, cancel_active: bool = False) -> Act:
    command = DeleteTask(task.user_id, task.id, cancel_active=cancel_active)
    return lambda: stage.victim.management.delete_task(command, stage.now)


# -- changes that cancel the active run --


@path
def a_task_is_paused_and_its_run_cancelled(stage: Stage) -> Act:
    task = working_task(stage)
    stage.watched.clear()
    command = PauseTask(task.user_id, task.id, cancel_active=True)
    return lambda: stage.victim.pausing.pause_task(command, stage.now)


@path
def a_prompt_is_changed_and_its_run_cancelled(stage: Stage) -> Act:
    task = working_task(stage)
    return edit(stage, task, action=Action(ActionKind.AGENT, "Another prompt."), cancel_active=True)


@path
def a_task_is_deleted_and_its_run_cancelled(stage: Stage) -> Act:
    return delete(stage, working_task(stage), cancel_active=True)


@path
def a_task_is_deleted_and_its_queued_run_never_launched(stage: Stage) -> Act:
    task = due_task(stage)
    stage.die_at_launch()
    return delete(stage, task, cancel_active=True)


# -- cancellation --


def cancel(stage: Stage, task: Task) -> Act:
    command = CancelRun(task.user_id, task.id, stage.run_of(task))
    return lambda: stage.victim.lifecycle.cancel_run(command)


@path
def a_working_run_is_cancelled(stage: Stage) -> Act:
    return cancel(stage, working_task(stage))


@path
def the_run_of_a_single_time_is_cancelled(stage: Stage) -> Act:
    return cancel(stage, working_task(stage, builders.once()))


@path
def a_queued_run_is_cancelled_before_its_launch(stage: Stage) -> Act:
    task = due_task(stage)
    stage.die_at_launch()
    return cancel(stage, task)


@path
def the_clock_settles_a_cancelled_run(stage: Stage) -> Act:
    task = working_task(stage)
    command = CancelRun(task.user_id, task.id, stage.run_of(task))
    stage.machine.record = None
    stage.others.lifecycle.cancel_run(command)
    stage.machine.record = stage.others.record_step
    return stage.victim.look


@path
def a_trigger_is_sent_twice(stage: Stage) -> Act:
    task = stage.add(builders.task())
    command = TriggerTask(task.user_id, task.id)
    stage.others.dispatch.trigger_task(command, stage.now)
    return lambda: stage.victim.dispatch.trigger_task(command, stage.now)


@path
def a_due_task_is_explained(stage: Stage) -> Act:
    command = ExplainTask((task := due_task(stage)).user_id, task.id)
    return lambda: stage.victim.explaining.explain_task(command, stage.now)
