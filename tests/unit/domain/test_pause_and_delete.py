"""Pausing, resuming and deleting tasks, and whose they are (P3, P5, P8)."""

from collections.abc import Callable
from typing import Any

import pytest

import builders
from builders import ALICE, BOB, DAY, HOUR, MINUTE, NOW, at, create
from nightshift.domain.commands import (
    Action,
    DeleteTask,
    EditTask,
    PauseTask,
    ResumeTask,
    ScheduleEdit,
    ScheduleRequest,
)
from nightshift.domain.errors import (
    InvalidRequest,
    TaskNotFound,
    TimePassed,
)
from nightshift.domain.model.enums import ActionKind, TaskStatus
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def edit(world: World, task: Task, **changes: Any) -> Task:
    """Edit a task as its owner does."""
    command = EditTask(user_id=ALICE, task_id=task.id, **changes)
    return world.management.edit_task(command, world.now).task


def pause(world: World, task: Task, reason: str | None = None) -> Task:
    """Pause a task as its owner does."""
    return world.pausing.pause_task(PauseTask(ALICE, task.id, reason), world.now).task


def resume(world: World, task: Task) -> Task:
    """Resume a task as its owner does."""
    return world.pausing.resume_task(ResumeTask(ALICE, task.id), world.now).task


def delete(world: World, task: Task) -> None:
    """Delete a task as its owner does."""
    world.management.delete_task(DeleteTask(ALICE, task.id), world.now)


def once(instant: str) -> ScheduleEdit:
    """A change to one time."""
    return ScheduleEdit(spec={"once": instant})


# -- pause and resume --


def test_a_paused_task_is_not_started_and_leaves_no_record(world: World) -> None:
    """P3, P6: instants passed while paused leave none."""
    task = world.created()
    pause(world, task, "on holiday")
    for hour in range(5):
        world.look(DUE + hour * HOUR)
    assert world.history(task) == []
    assert world.read(task).state.pause_reason == "on holiday"
    resumed = resume(world, task)
    assert resumed.state.next_run_at == world.now + HOUR
    world.look(DUE + 5 * HOUR)
    assert world.only_run(task).folded == 0


def test_a_pause_lets_the_run_in_flight_go_on(world: World) -> None:
    """P3: also one whose launch is under way."""
    task = world.created()
    world.look(DUE)
    pause(world, task)
    world.ended(world.only_run(task).id)
    state = world.read(task).state
    assert (state.status, state.last_status) == (TaskStatus.PAUSED, "success")


def test_a_once_task_whose_time_passed_while_paused_needs_a_new_one(world: World) -> None:
    """P3: 409, then an edit and a resume."""
    task = world.created(create(schedule=ScheduleRequest(spec={"after_seconds": 3600})))
    pause(world, task)
    world.now = DUE + MINUTE
    with pytest.raises(TimePassed):
        resume(world, task)
    edit(world, task, schedule=once("2026-03-02T15:00:00Z"))
    assert resume(world, task).state.next_run_at == at("2026-03-02T15:00")


def test_resuming_a_task_that_is_not_paused_writes_nothing(world: World) -> None:
    """P3."""
    task = world.created()
    world.store.forget_calls()
    assert resume(world, task) == task
    assert world.store.calls("tasks.switch") == 0


def test_a_task_that_the_policy_forbids_is_not_resumed(world: World) -> None:
    """P20: it would be blocked again at once."""
    task = world.created(create(action=Action(ActionKind.SHELL, "uptime")))
    pause(world, task)
    world.set_policy(allow_shell_actions=False)
    with pytest.raises(InvalidRequest):
        resume(world, task)


def test_a_pause_that_meets_a_dispatch_is_decided_anew(world: World) -> None:
    """P3, P19."""
    task = world.created()
    world.store.before("tasks.switch", lambda: world.look(DUE))
    pause(world, task)
    state = world.read(task).state
    assert (state.status, state.run_count) == (TaskStatus.PAUSED, 1)


# -- delete --


def run_it(world: World, _task: Task) -> None:
    """Let the clock admit and launch the task."""
    world.look(DUE)


def start_it(world: World, task: Task) -> None:
    """Let its run pass the fence, too."""
    world.look(DUE)
    world.started(world.only_run(task).id)


def end_it(world: World, task: Task) -> None:
    """Let its run end."""
    world.look(DUE)
    world.ended(world.only_run(task).id)


def block_it(world: World, task: Task) -> None:
    """Let the clock block the task."""
    assert world.store.tasks.block(builders.ref(task), "why", due_at=DUE)


def leave_it(_world: World, _task: Task) -> None:
    """Do nothing."""


STATES: dict[str, Callable[[World, Task], object]] = {
    "enabled": leave_it,
    "paused": pause,
    "dispatching": run_it,
    "running": start_it,
    "ended": end_it,
    "blocked": block_it,
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("spec", [{"cron": "0 * * * *"}, {"after_seconds": 3600}])
def test_a_task_is_deleted_in_any_state(world: World, state: str, spec: dict[str, Any]) -> None:
    """P5: with its history; it never runs again."""
    task = world.created(create(schedule=ScheduleRequest(spec=spec)))
    STATES[state](world, task)
    delete(world, task)
    with pytest.raises(TaskNotFound):
        world.management.get_task(ALICE, task.id)
    started = len(world.executions.launched)
    world.look(DUE + DAY)
    assert len(world.executions.launched) == started
    assert world.due_now() == []


def test_a_run_in_flight_outlives_its_task_and_then_leaves_nothing(world: World) -> None:
    """P5, B54: its keys are released when it ends."""
    task = world.created()
    world.look(DUE)
    run_id = world.only_run(task).id
    delete(world, task)
    assert len(world.store.held_keys()) == 2
    world.ended(run_id)
    assert world.store.held_keys() == {}
    assert world.history(task) == []


def test_a_delete_that_meets_a_dispatch_is_decided_anew(world: World) -> None:
    """P5: the payload that the launch needs is kept."""
    task = world.created()
    world.executions.lose_next(starts=False)
    world.store.before("tasks.delete", lambda: world.look(DUE))
    delete(world, task)
    world.look(DUE + 2 * MINUTE)
    assert len(world.executions.launched) == 1
    world.ended(world.executions.launched[0])
    assert world.store.held_keys() == {}


def test_a_task_is_deleted_once(world: World) -> None:
    """P5, P8."""
    task = world.created()
    delete(world, task)
    with pytest.raises(TaskNotFound):
        delete(world, task)


# -- two users --


def test_nobody_changes_another_users_task(world: World) -> None:
    """P8: it does not exist, and it stays as it is."""
    task = world.created()
    manage = world.management
    for task_id in (task.id, builders.task_id(99)):
        with pytest.raises(TaskNotFound):
            manage.edit_task(EditTask(user_id=BOB, task_id=task_id, title="Mine"), NOW)
        with pytest.raises(TaskNotFound):
            world.pausing.pause_task(PauseTask(BOB, task_id), NOW)
        with pytest.raises(TaskNotFound):
            world.pausing.resume_task(ResumeTask(BOB, task_id), NOW)
        with pytest.raises(TaskNotFound):
            manage.delete_task(DeleteTask(BOB, task_id), world.now)
    assert world.read(task) == task


def test_a_task_that_cannot_be_read_can_be_deleted_by_its_owner(world: World) -> None:
    """P5: in any state, and that is one of them."""
    task = world.created()
    world.store.corrupt_task(builders.ref(task))
    world.management.delete_task(DeleteTask(task.user_id, task.id), world.now)
    with pytest.raises(TaskNotFound):
        world.management.get_task(task.user_id, task.id)
    with pytest.raises(TaskNotFound):
        world.management.delete_task(DeleteTask(task.user_id, task.id), world.now)
