"""What newer zone rules do to plans that older ones made (SPEC section 5, tzdata)."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import builders
from builders import DAY, HOUR, MINUTE, NOW, SECOND, at
from nightshift.domain.errors import StorageUnavailable
from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.replanning import Sweep, planned_by_older_rules, replanned
from nightshift.domain.model.spec import Bounds
from nightshift.domain.model.task import Task
from nightshift.domain.model.zones import tzdata_version
from nightshift.domain.services.replanning import PAGE, Replanning
from worlds import World

OLDER = "2000a"
NEWER = "9999z"
RIGHT = at("2026-03-02T14:00")
"""Nine o'clock in New York, on the day of NOW."""


def planned(
    stored: datetime = RIGHT, *, stamp: str | None = OLDER, number: int = 1, **options: Any
) -> Task:
    """A task for nine o'clock in New York that other rules have put at `stored`."""
    bounds = options.pop("bounds", {})
    planned_from = options.pop("planned_from", NOW)
    schedule = builders.cron("0 9 * * *", zone="America/New_York", **bounds)
    task = builders.task(schedule, number=number, **options)
    times = {"next_run_at": stored, "due_at": stored, "planned_from": planned_from}
    return builders.with_state(task, tzdata_version=stamp, **times)


def replanning(world: World) -> Replanning:
    """The sweep of a world."""
    return Replanning(
        tasks=world.store.tasks, sweeps=world.store.sweeps, observe=world.events.append
    )


def swept(world: World) -> int:
    """Sweep until nothing is left; the number of steps."""
    for step in range(1, 50):
        if replanning(world).sweep_a_page():
            return step
    raise AssertionError("the sweep does not end")


# -- which plans --


@pytest.mark.parametrize(
    ("stamp", "older"), [(OLDER, True), (None, True), (tzdata_version(), False), (NEWER, False)]
)
def test_only_a_plan_of_older_rules_is_made_anew(stamp: str | None, older: bool) -> None:
    """A function from before a deploy undoes nothing that a newer one planned."""
    assert planned_by_older_rules(planned(stamp=stamp)) is older


def test_schedules_that_are_instants_already_need_no_zone_rules() -> None:
    """SPEC section 5: the grid of an `every` and the time of a `once` are UTC."""
    for schedule in (builders.every(600), builders.once()):
        task = builders.with_state(builders.task(schedule), tzdata_version=OLDER)
        assert not planned_by_older_rules(task)


def test_a_task_that_the_clock_will_not_start_is_left_alone() -> None:
    """P3, P20: resuming and unblocking plan anew by themselves."""
    assert not planned_by_older_rules(builders.in_status(planned(), TaskStatus.PAUSED))
    assert not planned_by_older_rules(builders.with_state(planned(), blocked_reason="why"))


# -- the rule --


@pytest.mark.parametrize("stored", [RIGHT - HOUR, RIGHT + HOUR, RIGHT + DAY])
def test_the_new_time_is_the_first_after_what_was_dealt_with(stored: datetime) -> None:
    """Earlier or later, as if the newer rules had been in force since the plan was made."""
    plan = replanned(planned(stored))
    assert (plan.next_run_at, plan.due_at) == (RIGHT, RIGHT)
    assert plan.tzdata_version == tzdata_version()


def test_what_was_dealt_with_is_not_due_again() -> None:
    """Strictly later than the instant from which the old plan was made."""
    assert replanned(planned(RIGHT + HOUR, planned_from=RIGHT)).next_run_at == RIGHT + DAY


def test_the_next_release_begins_where_this_one_did() -> None:
    """Two releases in a row lose nothing that lies between the first and the old time."""
    again = planned(RIGHT + HOUR).with_plan(replanned(planned(RIGHT + HOUR)))
    assert again.state.planned_from == NOW


def test_a_plan_says_where_it_began() -> None:
    """At its creation, and after a dispatch at the later of now and the occurrence."""
    task = builders.task()
    assert task.state.planned_from == NOW
    late = NOW + 5 * HOUR + MINUTE
    assert task.plan_after_dispatch(None, late, counted=True).planned_from == late
    assert task.plan_after_dispatch(None, NOW, counted=True).planned_from == NOW + HOUR


def test_a_plan_that_does_not_say_where_it_began_keeps_a_time_that_still_is_one() -> None:
    """Nothing is lost for want of the word."""
    assert replanned(planned(planned_from=None)).next_run_at == RIGHT


def test_a_time_that_stays_keeps_its_back_off() -> None:
    """K1: `due_at` may have been moved by a failure; zone rules do not undo that."""
    waiting = builders.with_state(planned(), due_at=RIGHT + 10 * MINUTE)
    assert replanned(waiting).due_at == RIGHT + 10 * MINUTE


def test_jitter_follows_the_new_time() -> None:
    """SPEC section 5: spread around the time that counts."""
    plan = replanned(planned(RIGHT + HOUR, jitter_seconds=600))
    assert plan.due_at is not None
    assert RIGHT <= plan.due_at <= RIGHT + 600 * SECOND


def test_a_schedule_of_which_newer_rules_leave_no_time_is_completed() -> None:
    """SPEC section 3: no next time left."""
    ends = RIGHT - MINUTE
    old = planned(RIGHT - HOUR)
    bounded = replace(old.definition.schedule, bounds=Bounds(ends_at=ends))  # type: ignore[arg-type]
    ended = replace(old, definition=replace(old.definition, schedule=bounded))
    plan = replanned(ended)
    assert (plan.status, plan.next_run_at) == (TaskStatus.COMPLETED, None)


# -- by dispatch --


@pytest.mark.parametrize("stored", [RIGHT - HOUR, RIGHT - MINUTE])
def test_nothing_runs_at_an_instant_that_newer_rules_do_not_have(stored: datetime) -> None:
    """Re-planned before it is admitted: it waits for its right time, and runs then, once."""
    world = World()
    task = world.add(planned(stored))
    world.look(stored + SECOND)
    assert world.history(task) == []
    assert world.read(task).state.next_run_at == RIGHT
    world.look(RIGHT)
    assert world.only_run(task).scheduled_for == RIGHT
    assert world.read(task).state.next_run_at == RIGHT + DAY


def test_an_instant_that_passed_unrun_is_run_once_and_only_once() -> None:
    """Nothing is lost: what newer rules have since the last dispatch is due, as after a wait."""
    world = World()
    task = world.add(planned(RIGHT + 2 * HOUR))
    world.look(RIGHT + 2 * HOUR)
    assert world.only_run(task).scheduled_for == RIGHT
    assert world.read(task).state.next_run_at == RIGHT + DAY
    assert world.read(task).state.tzdata_version == tzdata_version()
    world.look(RIGHT + 3 * HOUR)
    assert len(world.history(task)) == 1


def test_a_time_that_newer_rules_leave_is_run_as_if_there_were_none() -> None:
    """One transaction, as always; its plan is stamped by the way."""
    world = World()
    task = world.add(planned())
    world.look(RIGHT)
    assert world.only_run(task).scheduled_for == RIGHT
    assert world.store.calls("tasks.advance") == 0
    assert world.read(task).state.tzdata_version == tzdata_version()


def test_a_task_that_newer_rules_end_does_not_run() -> None:
    """SPEC section 3: completed instead."""
    world = World()
    bounds = {"ends_at": RIGHT + HOUR}
    task = world.add(planned(RIGHT + HOUR, planned_from=RIGHT, bounds=bounds))
    world.look(RIGHT + HOUR)
    assert world.history(task) == []
    assert world.read(task).state.status is TaskStatus.COMPLETED


def test_a_task_that_was_edited_meanwhile_is_not_replanned_over_the_edit() -> None:
    """P19: every write is conditional on what was seen."""
    world = World()
    task = world.add(planned(RIGHT - HOUR))

    def pause() -> None:
        world.store.tasks.switch(task, task.paused("holiday", world.now))

    world.store.before("tasks.advance", pause)
    world.look(RIGHT - HOUR)
    assert world.history(task) == []
    assert world.read(task).state.status is TaskStatus.PAUSED


@settings(deadline=None)
@given(
    off=st.integers(min_value=-26 * 60, max_value=26 * 60),
    waits=st.lists(st.integers(min_value=1, max_value=40 * 60), min_size=1, max_size=8),
    sweeps=st.booleans(),
)
def test_whatever_older_rules_had_planned_every_instant_is_dealt_with_once(
    off: int, waits: list[int], sweeps: bool
) -> None:
    """None that newer rules do not have, none twice, none lost: run, or folded into a run."""
    world = World()
    task = world.add(planned(max(RIGHT + off * MINUTE, NOW + MINUTE)))
    if sweeps:
        swept(world)
    for wait in waits:
        world.pass_time(wait * MINUTE)
        world.look()
        for run_id in world.executions.running:
            world.ended(run_id)
    world.look(world.now + 3 * DAY)
    instants = task.definition.schedule.occurrences(NOW, 60)
    dealt_with: list[datetime] = []
    for run in reversed(world.history(task)):
        assert run.scheduled_for is not None
        first = instants.index(run.scheduled_for)
        dealt_with += instants[first : first + run.folded + 1]
    assert dealt_with == [instant for instant in instants if instant <= world.now]


# -- by the sweep --


def test_the_sweep_finds_what_moves_earlier_and_no_look_would_meet() -> None:
    """Issue: also those that move earlier; it is then due in time."""
    world = World()
    task = world.add(planned(RIGHT + HOUR))
    swept(world)
    world.look(RIGHT)
    assert world.only_run(task).scheduled_for == RIGHT


def test_the_sweep_leaves_no_older_plan_and_moves_only_what_is_wrong() -> None:
    """Every plan is stamped; a time that stays is not told."""
    world = World()
    right, wrong = planned(number=1), planned(RIGHT + HOUR, number=2)
    world.add(right, wrong)
    swept(world)
    for task in (right, wrong):
        assert world.read(task).state.next_run_at == RIGHT
        assert world.read(task).state.tzdata_version == tzdata_version()
    assert [event.facts for event in world.told("task_replanned")] == [
        {"task_id": wrong.id, "moved_seconds": -3600.0}
    ]


def test_the_sweep_takes_a_page_at_a_time_and_keeps_its_place() -> None:
    """Issue: bounded; any tick goes on where another ended."""
    world = World()
    tasks = [planned(RIGHT + HOUR, number=number) for number in range(2 * PAGE + 1)]
    world.add(*tasks)
    for done in (PAGE, 2 * PAGE, 2 * PAGE + 1):
        assert not replanning(world).sweep_a_page()
        moved = [task for task in tasks if world.read(task).state.next_run_at == RIGHT]
        assert len(moved) == done
    assert swept(world) == 3  # a second pass, which meets no older plan


def test_a_sweep_that_is_done_costs_one_read() -> None:
    """SPEC section 6: an idle tick costs the same however many tasks sleep."""
    world = World()
    world.add(*(builders.task(number=number) for number in range(5)))
    swept(world)
    world.store.forget_calls()
    assert replanning(world).sweep_a_page()
    assert world.store.all_calls() == {"sweeps.progress": 1}


def test_a_plan_that_an_old_function_wrote_behind_the_pass_is_found_by_the_next() -> None:
    """During a deploy both versions are at work."""
    world = World()
    world.add(planned(RIGHT + HOUR, number=1))
    assert not replanning(world).sweep_a_page()
    late = world.add(planned(RIGHT + HOUR, number=2))
    assert not replanning(world).sweep_a_page()
    assert replanning(world).sweep_a_page()
    assert world.read(late).state.next_run_at == RIGHT


def test_an_old_function_does_not_sweep_for_its_own_rules() -> None:
    """The newest rules that were ever in use win."""
    world = World()
    from_the_future = Sweep(NEWER)
    world.store.sweeps.record(None, from_the_future)
    assert replanning(world).sweep_a_page()
    assert world.store.sweeps.progress() == from_the_future


def test_a_release_begins_a_sweep_of_its_own() -> None:
    """The place of an older sweep is of no use to it."""
    world = World()
    task = world.add(planned(RIGHT + HOUR))
    world.store.sweeps.record(None, Sweep(OLDER, "9", done=True))
    swept(world)
    assert world.read(task).state.next_run_at == RIGHT


def test_two_ticks_at_one_page_move_the_sweep_once() -> None:
    """The slower one takes nothing back."""
    world = World()
    world.add(*(planned(RIGHT + HOUR, number=number) for number in range(PAGE + 1)))
    world.store.before("sweeps.record", lambda: swept(world))
    replanning(world).sweep_a_page()
    progress = world.store.sweeps.progress()
    assert progress is not None
    assert progress.done


def test_a_sweep_that_fails_is_told_and_stops_no_tick() -> None:
    """P20: whoever is due is re-planned all the same."""
    world = World()

    def fail() -> None:
        raise StorageUnavailable

    world.store.before("sweeps.planned", fail)
    assert replanning(world).sweep_a_page()
    assert len(world.told("replanning_failed")) == 1
    assert swept(world) == 1


def test_a_row_that_cannot_be_read_does_not_hold_up_the_sweep() -> None:
    """SPEC section 2: that task alone is in trouble."""
    world = World()
    broken, task = planned(number=1), planned(RIGHT + HOUR, number=2)
    world.add(broken, task)
    world.store.corrupt_task(builders.ref(broken))
    swept(world)
    assert world.read(task).state.next_run_at == RIGHT


# -- at once --


def test_a_dry_run_lists_what_would_move_and_writes_nothing() -> None:
    """Issue: `nightshift replan --dry-run`."""
    world = World()
    task = world.add(planned(RIGHT + HOUR, number=1), planned(number=2))
    world.store.forget_calls()
    moves = list(replanning(world).all_moves())
    assert [(move.task.id, move.moves, move.seconds) for move in moves] == [
        (builders.task_id(2), False, 0.0),
        (task.id, True, -3600.0),
    ]
    assert world.store.all_calls() == {"sweeps.planned": 1}
