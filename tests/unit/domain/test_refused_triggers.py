"""A trigger that cannot run now writes nothing; one whose launch fails leaves no trace (P4)."""

from functools import partial

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW, statuses
from nightshift.domain.commands import TriggerTask
from nightshift.domain.errors import (
    ActiveRun,
    BudgetFull,
    ConcurrentUpdate,
    CorruptRecord,
    InvalidRequest,
    LaunchFailed,
    LaunchImpossible,
    TaskNotFound,
    ThreadBusy,
)
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import (
    ActionKind,
    Outcome,
    RunStatus,
    TaskStatus,
    Trigger,
)
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def edit_now(world: World, task: Task, title: str) -> None:
    """Let the owner rename the task at this very moment."""
    stored = world.read(task)
    definition = builders.with_definition(stored, title=title)
    assert world.store.tasks.replace(stored, stored.edited(definition, NOW, world.policy))


# -- refused --


def test_a_task_with_an_active_run_is_not_triggered(world: World) -> None:
    """P4, B50: queued or running, and never queued behind it."""
    task = world.add(builders.task())
    run = world.trigger(task)
    with pytest.raises(ActiveRun):
        world.trigger(task)
    world.started(run.id)
    with pytest.raises(ActiveRun):
        world.trigger(task)
    world.ended(run.id)
    assert statuses(world.history(task)) == ["success"]


def test_a_task_that_another_dispatch_takes_meanwhile_is_not_triggered(world: World) -> None:
    """P4, B38: read from the refused transaction."""
    task = world.add(builders.task())
    rival = builders.admission(task, trigger=Trigger.MANUAL, now=NOW, seat=3)
    world.store.before("runs.admit", lambda: world.store.runs.admit(rival))
    with pytest.raises(ActiveRun):
        world.trigger(task)
    assert world.only_run(task).id == rival.run.id


def test_a_task_whose_thread_is_busy_is_not_triggered(world: World) -> None:
    """P4: manual, 409, and no tombstone."""
    world.store.threads.register(Thread("talk", ALICE, NOW))
    first, second = (world.add(builders.task(number=number, thread_id="talk")) for number in (1, 2))
    world.trigger(first)
    with pytest.raises(ThreadBusy):
        world.trigger(second)
    assert world.history(second) == []
    assert world.read(second) == second


@pytest.mark.parametrize("limit", [0, 1])
def test_a_full_budget_refuses_a_trigger(world: World, limit: int) -> None:
    """P4, P14: also the kill switch; nothing was written."""
    world.set_policy(max_concurrent_runs=limit)
    for number in range(1, limit + 1):
        world.trigger(world.add(builders.task(number=number)))
    task = world.add(builders.task(number=9))
    with pytest.raises(BudgetFull):
        world.trigger(task)
    assert world.read(task) == task
    assert world.history(task) == []


def test_a_seat_taken_meanwhile_is_answered_by_the_next_free_one(world: World) -> None:
    """K4."""
    other, task = (world.add(builders.task(number=number)) for number in (1, 2))
    rival = builders.admission(other, trigger=Trigger.MANUAL, now=NOW, seat=0)
    world.store.before("runs.admit", lambda: world.store.runs.admit(rival))
    world.trigger(task)
    assert world.slot(task).keys.seat == 1


def test_only_the_owner_triggers_a_task(world: World) -> None:
    """P8: the same answer as for an id that never was."""
    task = world.add(builders.task())
    for command in (TriggerTask(BOB, task.id), TriggerTask(ALICE, builders.task_id(99))):
        with pytest.raises(TaskNotFound):
            world.dispatch.trigger_task(command, NOW)
    assert world.history(task) == []


def test_a_task_that_the_policy_forbids_is_not_triggered(world: World) -> None:
    """P20."""
    task = world.add(builders.task(action_kind=ActionKind.SHELL))
    world.set_policy(allow_shell_actions=False)
    with pytest.raises(InvalidRequest):
        world.trigger(task)
    assert world.history(task) == []


def test_a_task_without_its_prompt_is_not_triggered(world: World) -> None:
    """P20."""
    task = world.add(builders.task())
    world.store.lose_payload(builders.ref(task), 1)
    with pytest.raises(CorruptRecord):
        world.trigger(task)
    assert world.history(task) == []


# -- failed --


@pytest.mark.parametrize("status", [TaskStatus.ENABLED, TaskStatus.PAUSED])
@pytest.mark.parametrize("kind", ["once", "recurring"])
def test_a_failed_manual_trigger_leaves_a_task_as_it_was(
    world: World, kind: str, status: TaskStatus
) -> None:
    """SPEC section 2, B69: status, times, errors and counters; 502, and its record in history."""
    task = builders.task(builders.once(DUE) if kind == "once" else None)
    task = world.add(task.paused("why", NOW) if status is TaskStatus.PAUSED else task)
    world.executions.refuse_next("no")
    with pytest.raises(LaunchFailed):
        world.trigger(task)
    assert world.read(task) == task
    run = world.only_run(task)
    assert (run.status, run.reason, run.error) == (RunStatus.FAILED, "launch_failed", "no")
    assert world.store.held_keys() == {}
    world.now = DUE
    assert world.due_now() == ([task.id] if status is TaskStatus.ENABLED else [])


@pytest.mark.parametrize("status", [TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED])
def test_a_failed_manual_trigger_of_a_finished_once_task_leaves_it_finished(
    world: World, status: TaskStatus
) -> None:
    """SPEC section 3: as before the admission."""
    task = world.add(builders.in_status(builders.task(builders.once(DUE)), status))
    world.executions.refuse_next()
    with pytest.raises(LaunchFailed):
        world.trigger(task)
    assert world.read(task) == task


def test_a_pause_during_a_failed_trigger_of_a_recurring_task_stands(world: World) -> None:
    """SPEC section 3: the admission left its status alone, and so does the refusal."""
    task = world.add(builders.task())

    def pause_it() -> None:
        stored = world.read(task)
        assert world.store.tasks.switch(stored, stored.paused("enough", NOW))

    world.store.after("runs.admit", pause_it)
    world.executions.refuse_next()
    with pytest.raises(LaunchFailed):
        world.trigger(task)
    assert world.read(task).state.status is TaskStatus.PAUSED
    assert list(world.store.tasks.due(DUE).hints) == []


def test_a_trigger_is_loud_when_nothing_can_be_launched_at_all(world: World) -> None:
    """SPEC section 2: what it admitted stays queued and is launched when that is mended."""
    task = world.add(builders.task())
    world.executions.forbid_next()
    with pytest.raises(LaunchImpossible):
        world.trigger(task)
    slot = world.slot(task)
    world.lifecycle.recover(slot, world.policy, slot.lease_until)
    assert world.executions.launched == [slot.run_id]


# -- races with the owner --


def test_a_trigger_is_decided_anew_when_the_task_changes_under_it(world: World) -> None:
    """P4: the run is of the task as edited."""
    task = world.add(builders.task())
    world.store.before("runs.admit", lambda: edit_now(world, task, "Second title"))
    world.trigger(task)
    assert world.slot(task).title == "Second title"


def test_a_trigger_gives_up_when_the_task_keeps_changing(world: World) -> None:
    """P4: 409, nothing written."""
    task = world.add(builders.task())
    for title in ("First", "Second", "Third"):
        world.store.before("runs.admit", partial(edit_now, world, task, title))
    with pytest.raises(ConcurrentUpdate):
        world.trigger(task)
    assert world.history(task) == []


def test_a_trigger_of_a_task_deleted_under_it_finds_nothing(world: World) -> None:
    """P5, B54."""
    task = world.add(builders.task())
    world.store.before("runs.admit", lambda: world.store.tasks.delete(task, NOW))
    with pytest.raises(TaskNotFound):
        world.trigger(task)
    assert world.store.held_keys() == {}


def test_an_old_holder_that_ended_makes_way_for_a_trigger(world: World) -> None:
    """SPEC section 6: the holder is verified before 409 is said."""
    task = world.add(builders.task())
    first = world.trigger(task)
    world.started(first.id)
    world.executions.end(first.id, Outcome.SUCCESS, NOW + MINUTE)
    world.now = NOW + 10 * MINUTE
    second = world.trigger(task)
    assert statuses(world.history(task)) == ["queued", "success"]
    assert world.slot(task).run_id == second.id


def test_a_once_task_edited_while_paused_keeps_its_pause_through_a_failed_trigger(
    world: World,
) -> None:
    """SPEC section 3: the slot keeps what this admission overwrote, not an older state."""
    paused = builders.task(builders.once(DUE)).paused("why", NOW)
    definition = builders.with_definition(paused, schedule=builders.once(DUE + HOUR))
    task = world.add(paused.edited(definition, NOW, world.policy))
    world.executions.refuse_next()
    with pytest.raises(LaunchFailed):
        world.trigger(task)
    assert world.read(task) == task
    assert world.read(task).resumed(NOW, world.policy).is_due(DUE + HOUR)
