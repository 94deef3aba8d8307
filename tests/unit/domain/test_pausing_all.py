"""Pausing and resuming all tasks of a user, a hundred a request (P3, P8)."""

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW
from nightshift.domain.commands import PauseTasks, ResumeTask, ResumeTasks
from nightshift.domain.errors import InvalidSchedule, NotInFuture
from nightshift.domain.model.enums import ActionKind, TaskStatus
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.task import Task
from nightshift.domain.services.pausing import AT_ONCE, ChangedTasks, Refused
from worlds import World

DUE = NOW + HOUR
END = NOW + 5 * HOUR


def pause_all(world: World, **fields: str | None) -> ChangedTasks:
    """Pause all tasks as their owner does."""
    return world.pausing.pause_tasks(PauseTasks(user_id=ALICE, **fields), world.now)


def resume_all(world: World, after: str | None = None) -> ChangedTasks:
    """Resume all tasks as their owner does."""
    return world.pausing.resume_tasks(ResumeTasks(user_id=ALICE, after=after), world.now)


def added(world: World, number: int, task: Task | None = None) -> Task:
    """A stored task."""
    return world.add(task or builders.task(number=number))


def test_all_of_mine_are_paused_and_resumed_and_nobody_elses(world: World) -> None:
    """P3, P8: with the reason and the end, each as a change of its own."""
    mine = [added(world, number) for number in (1, 2)]
    other = world.add(builders.task(number=3, user_id=BOB))
    done = pause_all(world, reason="holiday", until=format_instant(END))
    assert (done.changed, done.unchanged, done.refused) == ([task.id for task in mine], [], [])
    for task in mine:
        state = world.read(task).state
        assert (state.status, state.pause_reason) == (TaskStatus.PAUSED, "holiday")
        assert (state.pause_until, world.read(task).revision) == (END, 2)
    assert world.read(other) == other
    assert resume_all(world).changed == done.changed
    assert all(world.read(task).state.next_run_at == DUE for task in mine)


def test_a_request_goes_through_a_hundred_and_says_where_to_go_on(world: World) -> None:
    """However many tasks there are, a request stays short."""
    tasks = [added(world, number) for number in range(1, AT_ONCE + 3)]
    first = pause_all(world)
    assert (len(first.changed), first.next) == (AT_ONCE, tasks[AT_ONCE - 1].id)
    rest = pause_all(world, after=first.next)
    assert (rest.changed, rest.next) == ([task.id for task in tasks[AT_ONCE:]], None)


def test_asking_again_changes_nothing(world: World) -> None:
    """A request that was not answered may be repeated."""
    task = added(world, 1)
    pause_all(world, reason="holiday", until=format_instant(END))
    again = pause_all(world, reason="another", until=format_instant(END))
    assert (again.changed, again.unchanged) == ([], [task.id])
    assert world.read(task).revision == 2
    resume_all(world)
    assert resume_all(world).unchanged == [task.id]


def test_a_pause_of_all_never_shortens_a_pause(world: World) -> None:
    """P3: what its owner paused for longer, or for good, does not wake by it."""
    for_good, longer, shorter = (added(world, number) for number in (1, 2, 3))
    for task, until in ((for_good, None), (longer, END + HOUR), (shorter, END - HOUR)):
        stored = world.read(task)
        assert world.store.tasks.switch(stored, stored.paused("mine", world.now, until))
    done = pause_all(world, reason="all", until=format_instant(END))
    assert (done.changed, done.unchanged) == ([shorter.id], [for_good.id, longer.id])
    ends = [world.read(task).state.pause_until for task in (for_good, longer, shorter)]
    assert ends == [None, END + HOUR, END]
    assert pause_all(world).changed == [longer.id, shorter.id]


def test_what_is_refused_is_named_and_keeps_no_other_from_it(world: World) -> None:
    """P2, P3: a running `once`, and one whose time lies before the end."""
    running = added(world, 1, builders.task(builders.once(DUE), number=1))
    world.look(DUE)
    early = added(world, 2, builders.task(builders.once(DUE + HOUR), number=2))
    task = added(world, 3)
    done = pause_all(world, until=format_instant(END))
    assert done.refused == [
        Refused(running.id, "task_not_mutable"),
        Refused(early.id, "never_fires"),
    ]
    assert done.changed == [task.id]


def test_what_is_finished_is_left_as_it_is(world: World) -> None:
    """P3: it has nothing to pause and is not paused."""
    task = added(world, 1, builders.task(builders.once(DUE)))
    world.look(DUE)
    world.ended(world.only_run(task).id)
    assert pause_all(world).unchanged == [task.id]
    assert resume_all(world).unchanged == [task.id]


def test_resuming_all_resumes_only_what_is_paused(world: World) -> None:
    """P3, P20: a blocked task is not paused, and a `once` whose time passed needs a new one."""
    blocked, late, paused = (
        added(world, 1),
        added(world, 2, builders.task(builders.once(DUE + MINUTE), number=2)),
        added(world, 3),
    )
    for task in (late, paused):
        assert world.store.tasks.switch(task, task.paused(None, world.now))
    assert world.store.tasks.block(builders.ref(blocked), "why", due_at=DUE)
    world.pass_time(2 * HOUR)
    done = resume_all(world)
    assert (done.changed, done.unchanged) == ([paused.id], [blocked.id])
    assert done.refused == [Refused(late.id, "time_passed")]


@pytest.mark.parametrize(
    ("until", "kind"), [("2026-03-02T12:00:00Z", NotInFuture), ("tomorrow", InvalidSchedule)]
)
def test_an_end_that_is_none_is_refused_before_anything_is_written(
    world: World, until: str, kind: type[Exception]
) -> None:
    """P3: also for whoever has no task at all."""
    with pytest.raises(kind):
        pause_all(world, until=until)
    task = added(world, 1)
    with pytest.raises(kind):
        pause_all(world, until=until)
    assert world.read(task) == task


def test_a_task_that_changes_meanwhile_is_decided_anew(world: World) -> None:
    """P19: one that was resumed is paused all the same, one that was deleted is passed over."""
    gone, changed = added(world, 1), added(world, 2)
    world.store.before("tasks.switch", lambda: world.store.tasks.delete(gone, world.now))
    world.store.after("tasks.list", lambda: renamed(world, changed))
    done = pause_all(world)
    assert (done.changed, done.unchanged, done.refused) == ([changed.id], [], [])
    assert world.read(changed).definition.title == "Other"


def renamed(world: World, task: Task) -> None:
    """Give the task another title behind everybody's back."""
    definition = builders.with_definition(task, title="Other")
    assert world.store.tasks.replace(task, task.edited(definition, world.now, world.policy))


def test_a_task_that_the_policy_forbids_is_not_resumed(world: World) -> None:
    """P20: the others are."""
    shell = builders.task(number=1, action_kind=ActionKind.SHELL)
    task = added(world, 1, shell)
    other = added(world, 2)
    pause_all(world)
    world.set_policy(allow_shell_actions=False)
    done = resume_all(world)
    assert (done.changed, done.refused) == ([other.id], [Refused(task.id, "invalid_request")])


def test_resuming_one_takes_it_out_of_the_pause_of_all(world: World) -> None:
    """P3: the pause of all is a pause of each."""
    task, other = added(world, 1), added(world, 2)
    pause_all(world, until=format_instant(END))
    world.pausing.resume_task(ResumeTask(ALICE, task.id), world.now)
    world.look(DUE)
    assert world.only_run(task).scheduled_for == DUE
    assert world.history(other) == []
