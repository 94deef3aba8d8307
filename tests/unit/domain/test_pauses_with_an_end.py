"""A pause until a time: the clock ends it, and nothing asked for from then on is lost (P3)."""

from datetime import datetime

import pytest

import builders
from builders import ALICE, DAY, HOUR, MINUTE, NOW, SECOND
from nightshift.domain.commands import EditTask, PauseTask, ResumeTask, TriggerTask
from nightshift.domain.errors import InvalidSchedule, LaunchFailed, NeverFires, NotInFuture
from nightshift.domain.model.enums import Outcome, TaskStatus
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.pause import wakes_at, woken
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR
END = NOW + 5 * HOUR
MILLISECOND = SECOND / 1000


def paused(
    world: World, task: Task, until: datetime | None = END, reason: str | None = None
) -> Task:
    """The task as its owner paused it."""
    end = None if until is None else format_instant(until)
    command = PauseTask(ALICE, task.id, reason, until=end)
    return world.pausing.pause_task(command, world.now).task


# -- what may be asked for --


def test_a_pause_with_an_end_has_no_next_time_and_shows_its_end() -> None:
    """P3, K1: `due_at` alone means wake."""
    state = builders.task().paused("holiday", NOW, END).state
    assert (state.status, state.pause_until, state.due_at) == (TaskStatus.PAUSED, END, END)
    assert state.next_run_at is None


@pytest.mark.parametrize("until", [NOW, NOW - HOUR])
def test_a_pause_that_would_be_over_is_refused(until: datetime) -> None:
    """P3: it ends in the future."""
    with pytest.raises(NotInFuture) as refusal:
        builders.task().paused(None, NOW, until)
    assert refusal.value.field == "until"


def test_a_pause_after_which_no_time_is_left_is_refused() -> None:
    """P3: an end that brings nothing back is none."""
    for schedule in (
        builders.once(END - MILLISECOND),
        builders.cron("0 * * * *", ends_at=END - HOUR),
    ):
        with pytest.raises(NeverFires) as refusal:
            builders.task(schedule).paused(None, NOW, END)
        assert refusal.value.field == "until"
    assert builders.task(builders.once(END)).paused(None, NOW, END).state.pause_until == END


@pytest.mark.parametrize("text", ["2026-03-03T12:00:00", "tomorrow", "", "9999-12-31T23:59:59Z"])
def test_an_end_that_is_no_instant_of_the_calendar_is_refused(world: World, text: str) -> None:
    """SPEC 5: RFC 3339 with an offset."""
    task = world.created()
    with pytest.raises(InvalidSchedule):
        world.pausing.pause_task(PauseTask(ALICE, task.id, until=text), world.now)
    assert world.read(task) == task


def test_pausing_anew_says_anew_until_when(world: World) -> None:
    """P3: later, earlier, for good; the same is no change, and no reason keeps the one it has."""
    task = world.created()
    first = paused(world, task, END, "holiday")
    assert paused(world, task, END) == first
    longer = paused(world, task, END + DAY)
    assert (longer.state.pause_until, longer.state.pause_reason) == (END + DAY, "holiday")
    assert longer.revision == 3
    shorter = paused(world, task, NOW + MINUTE)
    assert wakes_at(shorter) == NOW + MINUTE
    for_good = paused(world, task, None)
    assert (for_good.state.pause_until, for_good.state.due_at) == (None, None)
    world.look(END + 10 * DAY)
    assert world.read(task) == for_good


# -- how it ends --


def test_the_clock_ends_the_pause_and_goes_on_with_the_schedule(world: World) -> None:
    """P3: no run meanwhile, reason and end are gone, the revision stays."""
    task = world.created()
    paused(world, task, END - MINUTE, "holiday")
    world.look(END - MINUTE - MILLISECOND)
    assert world.read(task).state.status is TaskStatus.PAUSED
    world.look(END - MINUTE)
    state = world.read(task).state
    assert (state.status, state.next_run_at, state.due_at) == (TaskStatus.ENABLED, END, END)
    assert (state.pause_reason, state.pause_until) == (None, None)
    assert world.read(task).revision == 2
    assert world.history(task) == []
    world.look(END)
    assert world.only_run(task).scheduled_for == END


def test_an_occurrence_at_the_very_end_of_the_pause_runs_in_the_same_look(world: World) -> None:
    """P3: from the end on, not after it."""
    task = world.created()
    paused(world, task, END)
    world.look(END)
    assert world.only_run(task).scheduled_for == END


def test_a_clock_that_comes_late_starts_what_was_asked_for_from_the_end_on(world: World) -> None:
    """P15: once, with the instants since the end folded into it, and none from before it."""
    task = world.created()
    paused(world, task, END)
    world.look(END + 3 * HOUR + MINUTE)
    run = world.only_run(task)
    assert (run.scheduled_for, run.folded, run.folded_through) == (END, 3, END + 3 * HOUR)


def test_a_once_task_wakes_for_its_time(world: World) -> None:
    """P3: also when the clock is late."""
    task = world.add(builders.task(builders.once(END + MINUTE)))
    paused(world, task, END)
    world.look(END)
    assert world.read(task).state.next_run_at == END + MINUTE
    world.look(END + DAY)
    assert world.only_run(task).scheduled_for == END + MINUTE


def test_a_once_task_whose_time_lies_before_the_end_stays_paused_without_one() -> None:
    """P3: it is never started for a time at which it was paused."""
    task = builders.task(builders.once(END)).paused("why", NOW, END)
    late = builders.with_state(task, pause_until=END + MINUTE, due_at=END + MINUTE)
    after = woken(late).state
    assert (after.status, after.due_at, after.pause_until) == (TaskStatus.PAUSED, None, None)
    assert after.pause_reason == "why"


def test_a_recurring_task_with_no_run_left_ends_with_its_pause() -> None:
    """SPEC 3: completed, as after its last run."""
    task = builders.task(builders.cron("0 * * * *", max_runs=2)).paused("why", NOW, END)
    after = woken(builders.with_state(task, scheduled_run_count=2)).state
    assert (after.status, after.next_run_at, after.due_at) == (TaskStatus.COMPLETED, None, None)


def test_only_a_pause_with_an_end_wakes() -> None:
    """P3."""
    for task in (builders.task(), builders.task().paused("why", NOW)):
        with pytest.raises(ValueError, match="paused until"):
            woken(task)


# -- what comes in between --


def test_a_resume_before_the_end_leaves_no_end(world: World) -> None:
    """P3."""
    task = world.created()
    paused(world, task)
    resumed = world.pausing.resume_task(ResumeTask(ALICE, task.id), world.now).task
    assert (resumed.state.next_run_at, resumed.state.pause_until) == (DUE, None)
    paused(world, task, None)
    world.look(END + HOUR)
    assert world.history(task) == []


def test_an_edit_keeps_the_pause_and_its_end(world: World) -> None:
    """P2: a paused one stays paused; what it wakes for is the new schedule."""
    task = world.created()
    paused(world, task)
    command = EditTask(user_id=ALICE, task_id=task.id, title="Other", priority=9)
    edited = world.management.edit_task(command, world.now).task
    assert (edited.state.pause_until, edited.state.due_at) == (END, END)
    assert [hint.priority for hint in world.store.tasks.due(END).hints] == [9]
    world.look(END)
    assert world.only_run(task).scheduled_for == END


def test_an_edit_that_leaves_no_time_after_the_pause_is_refused() -> None:
    """P3: as the pause would be."""
    task = builders.task().paused(None, NOW, END)
    schedule = builders.once(END - MINUTE)
    with pytest.raises(NeverFires):
        task.edited(builders.with_definition(task, schedule=schedule), NOW, builders.policy())


def test_a_blocked_task_does_not_wake_until_it_is_edited(world: World) -> None:
    """P20: it keeps its status and its reason; the edit brings back the end, passed or not."""
    task = world.created()
    paused(world, task)
    assert world.store.tasks.block(builders.ref(task), "shell is off", due_at=END)
    world.look(END + MINUTE)
    blocked = world.read(task)
    assert (blocked.state.status, blocked.state.due_at) == (TaskStatus.PAUSED, None)
    again = paused(world, task, END + HOUR)
    assert (again.state.pause_until, again.state.due_at) == (END + HOUR, None)
    world.management.edit_task(EditTask(user_id=ALICE, task_id=task.id, title="New"), world.now)
    world.look(END + HOUR)
    assert world.only_run(task).scheduled_for == END + HOUR


def test_a_trigger_by_hand_leaves_the_pause_of_a_recurring_task(world: World) -> None:
    """P3, P4."""
    task = world.created()
    before = paused(world, task)
    run = world.dispatch.trigger_task(TriggerTask(ALICE, task.id), world.now)
    after = world.read(task).state
    assert (after.status, after.pause_until, after.due_at) == (TaskStatus.PAUSED, END, END)
    world.ended(run.id, Outcome.SUCCESS)
    world.look(END)
    assert world.history(before)[0].scheduled_for == END


def test_a_refused_trigger_of_a_once_task_puts_its_pause_back(world: World) -> None:
    """P4: the task is as it was, and wakes as it was to wake."""
    task = world.add(builders.task(builders.once(END + MINUTE)))
    before = paused(world, task)
    world.executions.refuse_next("no such input")
    with pytest.raises(LaunchFailed):
        world.dispatch.trigger_task(TriggerTask(ALICE, task.id), world.now)
    assert world.read(task).state.due_at == before.state.due_at
    world.look(END)
    assert world.read(task).state.next_run_at == END + MINUTE


def test_whoever_changes_the_task_while_it_wakes_has_the_last_word(world: World) -> None:
    """P19: the pause of the owner stands."""
    task = world.created()
    paused(world, task, END)
    world.store.before("tasks.wake", lambda: paused(world, task, None))
    world.look(END)
    assert world.read(task).state.status is TaskStatus.PAUSED
    assert world.history(task) == []


# -- the line --


def test_waking_needs_no_place_and_shows_as_no_wait(world: World) -> None:
    """P14: with the kill switch thrown, and a thousand at once."""
    world.set_policy(max_concurrent_runs=0)
    for number in range(1, 251):
        task = builders.task(builders.cron("30 * * * *"), number=number)
        world.add(task)
        paused(world, task, END)
    world.look(END)
    statuses = {task.state.status for task in world.store.tasks.list(ALICE, limit=1000).items}
    assert statuses == {TaskStatus.ENABLED}
    (looked,) = [event.facts for event in world.events if event.action == "looked"]
    assert (looked["waiting"], looked["oldest_due_seconds"]) == (0, 0.0)
    woken_ones = [event for event in world.events if event.action == "task_woken"]
    assert len(woken_ones) == 250


def test_waking_takes_no_turn_of_whoever_is_due(world: World) -> None:
    """P14: those of one user that wake behind a page of others, and one of theirs that is due."""
    world.set_policy(max_concurrent_runs=3, max_concurrent_runs_per_user=1)
    for number in range(1, 121):
        world.add(builders.task(builders.once(DUE), number=number, user_id="bob"))
    sleeper = world.add(builders.task(builders.once(END), number=200))
    paused(world, sleeper, DUE + MINUTE)
    ready = world.add(builders.task(builders.once(DUE + 2 * MINUTE), number=201))
    world.look(DUE + 2 * MINUTE)
    assert world.only_run(ready).status.active
    assert world.read(sleeper).state.next_run_at == END


def test_a_task_that_cannot_be_woken_stops_nobody(world: World) -> None:
    """P20: an error puts it off, a row that nobody can read is blocked."""
    first, second, third = (world.add(builders.task(number=number)) for number in (1, 2, 3))
    for task in (first, second, third):
        paused(world, task)
    world.store.corrupt_task(builders.ref(second))

    def fail() -> None:
        raise RuntimeError

    world.store.before("tasks.wake", fail)
    world.look(END)
    assert wakes_at(world.read(first)) == END + MINUTE
    assert world.only_run(third).scheduled_for == END
    world.look(END + MINUTE)
    assert world.only_run(first).scheduled_for == END
