"""What people create and see: tasks, runs and threads, each theirs alone (P1, P6, P8)."""

from typing import Any

import pytest

import builders
from builders import ALICE, BOB, DAY, HOUR, MINUTE, NOW, at, create
from nightshift.domain.commands import Action, RegisterThread, ScheduleRequest
from nightshift.domain.errors import (
    CorruptRecord,
    InvalidRequest,
    InvalidSchedule,
    InvalidTimeZone,
    NeverFires,
    NotInFuture,
    PayloadTooLarge,
    QuotaExceeded,
    RunNotFound,
    TaskNotFound,
    ThreadNotFound,
    TooFrequent,
)
from nightshift.domain.model.enums import ActionKind, ContextMode, Outcome, TaskStatus
from nightshift.domain.model.spec import CronSchedule, EverySchedule, OnceSchedule
from nightshift.domain.services.management import shard_of
from worlds import World

DUE = NOW + HOUR


def scheduled(spec: dict[str, Any], **fields: Any) -> ScheduleRequest:
    """A schedule as people write it."""
    return ScheduleRequest(spec=spec, **fields)


# -- create --


@pytest.mark.parametrize(
    ("schedule", "kind", "next_run_at"),
    [
        (scheduled({"cron": "0 9 * * *"}), CronSchedule, at("2026-03-03T09:00")),
        (
            scheduled({"cron": "0 9 * * *"}, timezone="America/New_York"),
            CronSchedule,
            at("2026-03-02T14:00"),
        ),
        (scheduled({"every_seconds": 600}), EverySchedule, NOW + 10 * MINUTE),
        (scheduled({"once": "2026-03-02T13:30:00Z"}), OnceSchedule, at("2026-03-02T13:30")),
        (
            scheduled({"once": "2026-03-03T09:00:00"}, timezone="Asia/Tokyo"),
            OnceSchedule,
            at("2026-03-03T00:00"),
        ),
        (scheduled({"after_seconds": 90}), OnceSchedule, at("2026-03-02T12:01:30")),
    ],
)
def test_a_created_task_is_enabled_with_its_first_time(
    world: World, schedule: ScheduleRequest, kind: type, next_run_at: object
) -> None:
    """P1, P9: `after_seconds` is a way to write a `once`."""
    task = world.created(create(schedule=schedule))
    assert isinstance(task.definition.schedule, kind)
    assert task.state.status is TaskStatus.ENABLED
    assert task.state.next_run_at == task.state.due_at == next_run_at
    assert world.read(task) == task


def test_a_created_task_has_the_operators_timeout_unless_it_names_one(world: World) -> None:
    """SPEC section 9."""
    world.set_policy(default_timeout_seconds=900, max_timeout_seconds=3600)
    assert world.created().definition.timeout_seconds == 900
    assert world.created(create(timeout_seconds=3600)).definition.timeout_seconds == 3600
    with pytest.raises(InvalidRequest) as refusal:
        world.created(create(timeout_seconds=3601))
    assert refusal.value.field == "timeout_seconds"


def test_a_created_task_is_seen_with_its_prompt(world: World) -> None:
    """P1: as it was sent."""
    action = Action(ActionKind.AGENT, "Zusammenfassung – 摘要 \n🦉")
    view = world.management.create_task(create(action=action), NOW)
    assert view.payload is not None
    assert (view.payload.text, view.payload.kind) == (action.text, ActionKind.AGENT)
    assert not view.dispatching
    assert world.management.get_task(ALICE, view.task.id) == view


def test_the_shards_of_a_task_are_fixed_at_its_creation() -> None:
    """K1: the same on every machine, so that their number can be raised on a live table."""
    assert [shard_of(builders.task_id(number), 4) for number in range(4)] == [
        shard_of(builders.task_id(number), 4) for number in range(4)
    ]
    shards = {shard_of(builders.task_id(number), 4) for number in range(100)}
    assert shards == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("schedule", "error"),
    [
        (scheduled({"cron": "61 * * * *"}), InvalidSchedule),
        (scheduled({"cron": "0 0 31 2 *"}), NeverFires),
        (scheduled({"cron": "0 9 * * *"}, timezone="Mars/Olympus"), InvalidTimeZone),
        (scheduled({"once": "2026-03-02T12:00:59Z"}), NotInFuture),
        (scheduled({"once": "2020-01-01T00:00:00Z"}), NotInFuture),
        (scheduled({"after_seconds": 59}), NotInFuture),
        (scheduled({"every_seconds": 299}), TooFrequent),
        (scheduled({"cron": "0,1 * * * *"}), TooFrequent),
        (scheduled({"cron": "0 9 * * *", "once": "2027-01-01T00:00:00Z"}), InvalidSchedule),
        (scheduled({}), InvalidSchedule),
        (scheduled({"cron": "0 9 * * *"}, ends_at="2026-03-02T13:00:00Z"), NeverFires),
        (scheduled({"cron": "0 9 * * *"}, max_runs=0), InvalidSchedule),
        (scheduled({"once": "2027-01-01T00:00:00Z"}, max_runs=1), InvalidSchedule),
    ],
)
def test_a_schedule_that_may_not_be_submitted_writes_nothing(
    world: World, schedule: ScheduleRequest, error: type[Exception]
) -> None:
    """SPEC section 2: bad input is refused at once."""
    world.set_policy(min_once_delay_seconds=60, min_every_seconds=300, min_interval_seconds=300)
    with pytest.raises(error):
        world.created(create(schedule=schedule))
    assert list(world.management.list_tasks(ALICE, limit=9, after=None).items) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"context_mode": ContextMode.REUSE_THREAD},
        {"thread_id": "talk"},
        {"context_mode": ContextMode.FRESH_THREAD, "thread_id": "talk"},
    ],
)
def test_a_thread_is_named_exactly_when_it_is_reused(world: World, fields: dict[str, Any]) -> None:
    """P1: context is a fresh thread per run, or one existing thread."""
    with pytest.raises(InvalidRequest) as refusal:
        world.created(create(**fields))
    assert refusal.value.field == "thread_id"


def test_a_prompt_is_at_most_64_kibibytes_of_utf8(world: World) -> None:
    """SPEC section 4: bytes, not characters."""
    world.created(create(action=Action(ActionKind.AGENT, "x" * 65_536)))
    for text in ("x" * 65_537, "é" * 32_769):
        with pytest.raises(PayloadTooLarge):
            world.created(create(action=Action(ActionKind.AGENT, text)))


def test_a_command_needs_an_operator_who_allows_it(world: World) -> None:
    """SPEC section 9: allow_shell_actions."""
    command = create(action=Action(ActionKind.SHELL, "uptime"))
    world.set_policy(allow_shell_actions=False)
    with pytest.raises(InvalidRequest):
        world.created(command)
    world.set_policy(allow_shell_actions=True)
    assert world.created(command).definition.action_kind is ActionKind.SHELL


def test_a_user_has_at_most_as_many_tasks_as_the_policy_allows(world: World) -> None:
    """SPEC section 9: each of them."""
    world.set_policy(max_tasks_per_user=2)
    for user_id in (ALICE, BOB, ALICE):
        world.created(create(user_id))
    with pytest.raises(QuotaExceeded):
        world.created(create(ALICE))
    world.created(create(BOB))


# -- read --


def test_a_list_shows_tasks_oldest_first_without_their_prompts(world: World) -> None:
    """TaskView: lists do not read prompts."""
    tasks = [world.created() for _ in range(3)]
    world.store.forget_calls()
    page = world.management.list_tasks(ALICE, limit=2, after=None)
    assert [view.task for view in page.items] == tasks[:2]
    assert all(view.payload is None for view in page.items)
    rest = world.management.list_tasks(ALICE, limit=2, after=page.next)
    assert [view.task for view in rest.items] == tasks[2:]
    assert rest.next is None
    assert world.store.calls("tasks.payload") == 0


def test_a_list_passes_over_a_corrupt_task_and_reading_it_says_so(world: World) -> None:
    """SPEC section 2: that task alone; not the client's mistake."""
    bad, good = world.created(), world.created()
    world.store.corrupt_task(builders.ref(bad))
    page = world.management.list_tasks(ALICE, limit=9, after=None)
    assert [view.task for view in page.items] == [good]
    assert list(page.corrupt) == [bad.id]
    with pytest.raises(CorruptRecord):
        world.management.get_task(ALICE, bad.id)


def test_a_task_shows_as_dispatching_from_admission_to_fence(world: World) -> None:
    """SPEC section 3: alone and in lists."""
    task = world.created()
    seen = []
    for step in (
        lambda: None,
        lambda: world.look(DUE),
        lambda: world.started(world.only_run(task).id),
        lambda: world.lifecycle.record_outcome(
            world.executions.end(world.only_run(task).id, Outcome.SUCCESS, DUE)
        ),
    ):
        step()
        (listed,) = world.management.list_tasks(ALICE, limit=9, after=None).items
        alone = world.management.get_task(ALICE, task.id)
        assert listed.dispatching == alone.dispatching
        seen.append(alone.dispatching)
    assert seen == [False, True, False, False]


def test_a_history_reaches_back_as_far_as_the_policy_keeps_it(world: World) -> None:
    """P6, K10: newest first, cut at once."""
    world.set_policy(max_history_entries_per_task=3)
    task = world.created()
    for hour in range(5):
        world.look(DUE + hour * HOUR)
        world.ended(world.history(task)[0].id)
    page = world.management.list_runs(ALICE, task.id, limit=2, after=None)
    rest = world.management.list_runs(ALICE, task.id, limit=2, after=page.next)
    hours = [run.created_at.hour for run in (*page.items, *rest.items)]
    assert hours == [17, 16, 15]
    assert rest.next is None


def test_one_run_of_a_task_is_read_by_its_id(world: World) -> None:
    """P6."""
    task = world.created()
    world.look(DUE)
    run = world.only_run(task)
    assert world.management.get_run(ALICE, task.id, run.id) == run
    with pytest.raises(RunNotFound):
        world.management.get_run(ALICE, task.id, f"{task.id}-20200101T000000000Z")


# -- threads --


def test_a_registered_thread_can_be_reused_by_its_owner(world: World) -> None:
    """P1: one existing thread that is theirs."""
    thread = world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW)
    assert world.threads.get_thread(ALICE, "talk") == thread
    task = world.created(create(context_mode=ContextMode.REUSE_THREAD, thread_id="talk"))
    world.look(DUE)
    assert world.only_run(task).thread_id == "talk"


def test_registering_a_thread_again_changes_nothing(world: World) -> None:
    """P1."""
    first = world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW)
    assert world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW + DAY) == first


def test_each_fresh_run_has_a_thread_of_its_own(world: World) -> None:
    """P1, K2: and the task shows the last one."""
    task = world.created()
    for hour in range(2):
        world.look(DUE + hour * HOUR)
        world.ended(world.history(task)[0].id)
    second, first = world.history(task)
    assert first.thread_id != second.thread_id
    assert world.read(task).state.last_thread_id == second.thread_id


# -- two users --


def test_another_users_task_run_and_thread_do_not_exist(world: World) -> None:
    """P8: the same answer as for an id that never was."""
    world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW)
    task = world.created()
    world.look(DUE)
    run = world.only_run(task)
    theirs = world.created(create(BOB))
    manage = world.management
    assert [view.task.id for view in manage.list_tasks(BOB, limit=9, after=None).items] == [
        theirs.id
    ]
    for task_id in (task.id, builders.task_id(99)):
        with pytest.raises(TaskNotFound):
            manage.get_task(BOB, task_id)
        with pytest.raises(TaskNotFound):
            manage.list_runs(BOB, task_id, limit=9, after=None)
        with pytest.raises(TaskNotFound):
            manage.get_run(BOB, task_id, run.id)
    with pytest.raises(RunNotFound):
        manage.get_run(BOB, theirs.id, run.id)
    with pytest.raises(ThreadNotFound):
        world.threads.get_thread(BOB, "talk")
    with pytest.raises(ThreadNotFound):
        world.created(create(BOB, context_mode=ContextMode.REUSE_THREAD, thread_id="talk"))
