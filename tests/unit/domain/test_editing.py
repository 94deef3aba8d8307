"""What people change of a task: only what was sent, and nothing half (P2)."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

import pytest

import builders
import planted
from builders import ALICE, HOUR, MINUTE, NOW, at, create, statuses
from nightshift.domain.commands import (
    Action,
    EditTask,
    PauseTask,
    RegisterThread,
    ResumeTask,
    ScheduleEdit,
    ScheduleRequest,
)
from nightshift.domain.errors import (
    ConcurrentUpdate,
    InvalidRequest,
    NotInFuture,
    PayloadTooLarge,
    TaskNotMutable,
    ThreadNotFound,
)
from nightshift.domain.model.enums import ActionKind, ContextMode, Outcome, TaskStatus
from nightshift.domain.model.task import Definition, Task
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


def once(instant: str) -> ScheduleEdit:
    """A change to one time."""
    return ScheduleEdit(spec={"once": instant})


def text_of(world: World, task: Task) -> str:
    """The prompt that a run of the task would get."""
    view = world.management.get_task(ALICE, task.id)
    assert view.payload is not None
    return view.payload.text


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"title": "New title"}, {"title": "New title"}),
        ({"priority": 9}, {"priority": 9}),
        ({"labels": {"a": "b"}}, {"labels": {"a": "b"}}),
        ({"assistant_id": "assistant-7"}, {"assistant_id": "assistant-7"}),
        ({"timeout_seconds": 60}, {"timeout_seconds": 60}),
        ({"max_lateness_seconds": 60}, {"max_lateness_seconds": 60}),
    ],
)
def test_only_the_fields_that_were_sent_change(
    world: World, changes: dict[str, Any], changed: dict[str, Any]
) -> None:
    """P2."""
    task = world.created()
    edited = edit(world, task, **changes)
    assert edited.definition == replace(task.definition, **changed)
    assert world.read(task) == edited
    assert text_of(world, task) == planted.PROMPT


def test_null_clears_what_can_be_empty_and_puts_back_defaults(world: World) -> None:
    """P2, SPEC section 7."""
    plain = world.created()
    task = world.created(
        create(
            assistant_id="assistant-7",
            timeout_seconds=60,
            max_lateness_seconds=60,
            jitter_seconds=60,
            labels={"a": "b"},
        )
    )
    cleared = edit(
        world,
        task,
        assistant_id=None,
        timeout_seconds=None,
        max_lateness_seconds=None,
        jitter_seconds=None,
        labels=None,
    )
    assert cleared.definition == plain.definition


def test_an_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    """P2: no revision, no entry of the log, also when everything is sent as it is."""
    task = world.created()
    text = text_of(world, task)
    assert edit(world, task) == task
    same = Action(task.definition.action_kind, text)
    assert edit(world, task, action=same, title=task.definition.title) == task
    assert world.read(task) == task
    assert len(world.store.tasks.changes(task.id, limit=10).items) == 1


def test_a_new_prompt_replaces_the_old_one(world: World) -> None:
    """SPEC section 4: under the revision that brought it."""
    task = world.created()
    edited = edit(world, task, action=Action(ActionKind.AGENT, "Another prompt"))
    assert text_of(world, task) == "Another prompt"
    assert edited.definition.payload_revision == edited.revision == 2
    assert world.store.tasks.payload(builders.ref(task), 1) is None
    edit(world, task, title="New title")
    assert text_of(world, task) == "Another prompt"


def test_the_next_run_gets_the_new_prompt(world: World) -> None:
    """P2."""
    task = world.created()
    edit(world, task, action=Action(ActionKind.AGENT, "Another prompt"))
    world.look(DUE)
    (order,) = world.executions.orders
    assert order.payload.text == "Another prompt"


def test_a_schedule_that_is_sent_again_moves_no_time(world: World) -> None:
    """P2, SPEC section 5: an `every` keeps its grid."""
    for spec in ({"cron": "0 * * * *"}, {"every_seconds": 600}):
        task = world.created(create(schedule=ScheduleRequest(spec=spec)))
        world.now = NOW + 7 * MINUTE
        edited = edit(world, task, title="New title", schedule=ScheduleEdit(spec=spec))
        assert edited.state == task.state
        world.now = NOW


def test_another_zone_alone_reads_the_stored_rule_in_it(world: World) -> None:
    """ScheduleEdit, B65."""
    task = world.created(create(schedule=ScheduleRequest(spec={"cron": "0 9 * * *"})))
    edited = edit(world, task, schedule=ScheduleEdit(timezone="Asia/Tokyo"))
    assert edited.state.next_run_at == at("2026-03-03T00:00")
    assert edited.definition.schedule.spec() == {"cron": "0 9 * * *"}


def test_another_zone_of_a_once_task_moves_it_not(world: World) -> None:
    """SPEC section 5: stored as UTC only; an instant stays the instant it is."""
    schedule = ScheduleRequest(spec={"once": "2026-03-02T18:00:00Z"})
    task = world.created(create(schedule=schedule))
    edited = edit(world, task, schedule=ScheduleEdit(timezone="Asia/Tokyo"))
    assert edited.state.next_run_at == at("2026-03-02T18:00")
    assert edited.definition.schedule.zone == "Asia/Tokyo"


def test_bounds_are_changed_and_cleared_one_by_one(world: World) -> None:
    """P2: the others stay."""
    request = ScheduleRequest(
        spec={"cron": "0 * * * *"}, ends_at="2026-03-09T00:00:00Z", max_runs=5
    )
    task = world.created(create(schedule=request))
    edited = edit(world, task, schedule=ScheduleEdit(max_runs=7))
    bounds = edited.definition.schedule.bounds
    assert (bounds.ends_at, bounds.max_runs) == (at("2026-03-09"), 7)
    edited = edit(world, task, schedule=ScheduleEdit(ends_at=None))
    bounds = edited.definition.schedule.bounds
    assert (bounds.ends_at, bounds.max_runs) == (None, 7)


def test_a_finished_task_given_a_future_time_fires_at_it(world: World) -> None:
    """P2: 200 and a next time that never fires would be a lie."""
    task = world.created(create(schedule=ScheduleRequest(spec={"after_seconds": 3600})))
    world.look(DUE)
    world.ended(world.only_run(task).id, Outcome.FAILED)
    assert world.read(task).state.status is TaskStatus.FAILED
    world.now = DUE + MINUTE
    edit(world, task, schedule=once("2026-03-02T15:00:00Z"))
    world.look(at("2026-03-02T15:00"))
    assert statuses(world.history(task)) == ["queued", "failed"]


def test_a_once_task_is_moved_into_the_future_only(world: World) -> None:
    """P10: and stays as it was."""
    world.set_policy(min_once_delay_seconds=60)
    task = world.created()
    with pytest.raises(NotInFuture):
        edit(world, task, schedule=once("2026-03-02T12:00:59Z"))
    assert world.read(task) == task


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"context_mode": ContextMode.REUSE_THREAD}, InvalidRequest),
        ({"thread_id": "talk"}, InvalidRequest),
        ({"context_mode": ContextMode.REUSE_THREAD, "thread_id": "talk"}, ThreadNotFound),
        ({"timeout_seconds": 999_999}, InvalidRequest),
        ({"action": Action(ActionKind.AGENT, "x" * 65_537)}, PayloadTooLarge),
        ({"schedule": ScheduleEdit(timezone="Mars/Olympus")}, InvalidRequest),
        ({"schedule": ScheduleEdit(max_runs=0)}, InvalidRequest),
        ({"schedule": ScheduleEdit(ends_at="2026-03-02T12:30:00Z")}, InvalidRequest),
    ],
)
def test_an_edit_that_would_not_make_a_valid_task_writes_nothing(
    world: World, changes: dict[str, Any], error: type[Exception]
) -> None:
    """P2, P8."""
    task = world.created()
    with pytest.raises(error):
        edit(world, task, **changes)
    assert world.read(task) == task
    assert text_of(world, task) == planted.PROMPT


def test_a_task_moves_into_a_thread_and_out_of_it(world: World) -> None:
    """P1, P2: leaving the mode leaves the thread."""
    world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW)
    task = world.created()
    reused = edit(world, task, context_mode=ContextMode.REUSE_THREAD, thread_id="talk")
    assert reused.definition.thread_id == "talk"
    fresh = edit(world, task, context_mode=ContextMode.FRESH_THREAD)
    assert fresh.definition.thread_id is None


def test_a_task_becomes_a_command_only_where_commands_are_allowed(world: World) -> None:
    """SPEC section 9."""
    world.set_policy(allow_shell_actions=False)
    task = world.created()
    with pytest.raises(InvalidRequest):
        edit(world, task, action=Action(ActionKind.SHELL, "uptime"))
    world.set_policy(allow_shell_actions=True)
    changed = edit(world, task, action=Action(ActionKind.SHELL, "uptime"))
    assert changed.definition.action_kind is ActionKind.SHELL


def test_a_task_is_not_edited_while_its_run_is_dispatched(world: World) -> None:
    """P2, K7: and again once the run is past its fence."""
    task = world.created()
    world.look(DUE)
    with pytest.raises(TaskNotMutable):
        edit(world, task, title="Too early")
    world.started(world.only_run(task).id)
    assert edit(world, task, title="New title").definition.title == "New title"


def test_a_once_task_is_not_edited_nor_paused_while_it_runs(world: World) -> None:
    """P2."""
    task = world.created(create(schedule=ScheduleRequest(spec={"after_seconds": 3600})))
    world.look(DUE)
    world.started(world.only_run(task).id)
    for change in (partial(edit, title="Too early"), pause, resume):
        with pytest.raises(TaskNotMutable):
            change(world, task)


def test_an_edit_that_meets_a_dispatch_is_decided_anew(world: World) -> None:
    """P19: on the task as it is then; nothing of the dispatch is lost."""
    task = world.created()

    def dispatch_it() -> None:
        world.look(DUE)
        world.ended(world.only_run(task).id)

    world.store.before("tasks.replace", dispatch_it)
    edited = edit(world, task, title="New title")
    assert edited.state.next_run_at == DUE + HOUR
    assert world.read(task).state.run_count == 1
    assert world.read(task).definition.title == "New title"


def test_an_edit_gives_up_when_its_task_keeps_changing(world: World) -> None:
    """P2: 409 concurrent_update; the last of the others stands."""
    task = world.created()

    def rename(title: str) -> None:
        stored = world.read(task)
        definition = builders.with_definition(stored, title=title)
        changed = stored.edited(definition, NOW, world.policy)
        assert world.store.tasks.switch(stored, replace(changed, definition=stored.definition))

    for title in ("First", "Second", "Third"):
        world.store.before("tasks.replace", partial(rename, title))
    with pytest.raises(ConcurrentUpdate):
        edit(world, task, title="Mine")
    assert world.read(task).revision == 4


def test_every_field_of_a_definition_can_be_edited_or_belongs_to_its_schedule() -> None:
    """P2: a field that is added to the definition is not forgotten in the edit."""
    editable = {entry.name for entry in fields(EditTask)}
    derived = {"action_kind", "payload_revision", "jitter_place"}
    assert {entry.name for entry in fields(Definition)} - derived <= editable
