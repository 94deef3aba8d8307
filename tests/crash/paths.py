"""Every path of the system, as something that a process does and may die in."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import builders
from crash.harness import Stage
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import OverlapPolicy
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit import Snapshot

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
THREAD = "notes"

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Path:
    """`arrange` prepares a stage with healthy processes and returns what the victim then does."""

    name: str
    arrange: Callable[[Stage], Act]


PATHS: list[Path] = []


def path(arrange: Callable[[Stage], Act]) -> Callable[[Stage], Act]:
    """Make a function a path, named after it."""
    PATHS.append(Path(arrange.__name__.replace("_", " "), arrange))
    return arrange


def due_task(stage: Stage, schedule: Schedule | None = None, **options: object) -> Task:
    """A task that is due now."""
    task = stage.add(builders.task(schedule, **options))  # type: ignore[arg-type]
    stage.pass_time(HOUR)
    return task


def working_task(stage: Stage, schedule: Schedule | None = None, **options: object) -> Task:
    """A task whose run is at work."""
    task = due_task(stage, schedule, **options)
    stage.start_due()
    return task


def threaded(stage: Stage) -> None:
    """The thread that tasks may reuse."""
    stage.others.threads.threads.register(Thread(THREAD, builders.ALICE, stage.now))


# -- by the clock --


@path
def the_clock_launches_a_recurring_task(stage: Stage) -> Act:
    due_task(stage)
    return stage.victim.look


@path
def the_clock_launches_a_single_time(stage: Stage) -> Act:
    due_task(stage, builders.once())
    return stage.victim.look


@path
def the_clock_launches_in_a_reused_thread(stage: Stage) -> Act:
    threaded(stage)
    due_task(stage, thread_id=THREAD)
    return stage.victim.look


@path
def the_clock_launches_after_a_downtime(stage: Stage) -> Act:
    due_task(stage)
    stage.pass_time(5 * HOUR + 10 * MINUTE)
    return stage.victim.look


@path
def the_clock_fills_the_budget(stage: Stage) -> Act:
    for number in range(2, 6):
        stage.add(builders.task(number=number))
    stage.pass_time(HOUR)
    return stage.victim.look


@path
def the_clock_completes_the_last_run_of_a_task(stage: Stage) -> Act:
    task = builders.task(builders.every(3600, max_runs=1))
    stage.add_unwatched(task)
    stage.pass_time(HOUR)
    return stage.victim.look


@path
def the_clock_skips_an_overlap(stage: Stage) -> Act:
    working_task(stage)
    stage.pass_time(HOUR)
    return stage.victim.look


@path
def the_clock_lets_an_occurrence_wait_for_the_run_before_it(stage: Stage) -> Act:
    working_task(stage, overlap_policy=OverlapPolicy.QUEUE_ONE)
    stage.pass_time(HOUR)
    return stage.victim.look


@path
def the_clock_ends_the_run_before_an_occurrence(stage: Stage) -> Act:
    working_task(stage, overlap_policy=OverlapPolicy.CANCEL_PREVIOUS)
    stage.pass_time(HOUR)
    return stage.victim.look


@path
def the_clock_finds_a_busy_thread(stage: Stage) -> Act:
    threaded(stage)
    working_task(stage, thread_id=THREAD)
    stage.add(
        builders.task(
            builders.once(stage.now + MINUTE), number=2, thread_id=THREAD, submitted_at=stage.now
        )
    )
    stage.pass_time(2 * MINUTE)
    return stage.victim.look


@path
def the_clock_is_too_late(stage: Stage) -> Act:
    due_task(stage, max_lateness_seconds=60)
    stage.pass_time(30 * MINUTE)
    return stage.victim.look


@path
def the_clock_is_too_late_for_a_single_time(stage: Stage) -> Act:
    due_task(stage, builders.once(), max_lateness_seconds=60)
    stage.pass_time(30 * MINUTE)
    return stage.victim.look


@path
def a_launch_by_the_clock_is_refused(stage: Stage) -> Act:
    due_task(stage)
    stage.machine.refusals = ["InvalidExecutionInput"]
    return stage.victim.look


@path
def a_launch_of_a_single_time_is_refused(stage: Stage) -> Act:
    due_task(stage, builders.once())
    stage.machine.refusals = ["InvalidExecutionInput"]
    return stage.victim.look


@path
def nothing_can_be_launched_for_a_while(stage: Stage) -> Act:
    due_task(stage)
    stage.machine.refusals = ["AccessDeniedException"]
    stage.mends = True
    return stage.victim.look


@path
def the_clock_ends_a_pause(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task())
    end = stage.now + 2 * HOUR
    stage.others.pause(task, until=end)
    stage.pass_time(2 * HOUR + MINUTE)
    stage.afterwards = lambda snapshot: _times_but_one(snapshot, task, end)
    return stage.victim.look


@path
def the_clock_ends_the_pause_of_a_single_time(stage: Stage) -> Act:
    task = stage.add_unwatched(builders.task(builders.once()))
    stage.others.pause(task, until=stage.now + HOUR / 2)
    stage.pass_time(HOUR)
    due = stage.now
    stage.afterwards = lambda snapshot: _times_but_one(snapshot, task, due)
    return stage.victim.look


def _times_but_one(snapshot: Snapshot, task: Task, instant: datetime) -> list[str]:
    """The complaint that an occurrence is not in exactly one record, or that one before it is."""
    times = [run.scheduled_for for run in snapshot.history_of.get(task.id, ())]
    early = [time for time in times if time is not None and time < instant]
    if times.count(instant) == 1 and not early:
        return []
    return [f"{task.id} was paused until {instant}, its records are of {times}"]


@path
def a_task_without_its_prompt_is_blocked(stage: Stage) -> Act:
    due_task(stage)
    task = builders.task(number=2)
    stage.add_unwatched(task)
    stage.pass_time(HOUR)
    stage.damage(task)
    return stage.victim.look


@path
def the_clock_plans_anew_what_older_zone_rules_planned(stage: Stage) -> Act:
    task = builders.task(builders.cron("0 9 * * *", zone="America/New_York"))
    stage.add_unwatched(planned_wrongly(task))
    stage.pass_time(2 * HOUR)
    return stage.victim.look


@path
def a_sweep_plans_anew_what_older_zone_rules_planned(stage: Stage) -> Act:
    for number in (1, 2):
        task = builders.task(builders.cron("0 9 * * *", zone="America/New_York"), number=number)
        stage.add_unwatched(planned_wrongly(task))
    return stage.victim.sweep


def planned_wrongly(task: Task) -> Task:
    """The task as rules of another year would have planned it."""
    wrong = builders.NOW + HOUR
    return builders.with_state(
        task,
        next_run_at=wrong,
        due_at=wrong,
        planned_from=builders.NOW,
        tzdata_version="2000a",
    )


# -- recovery --


@path
def recovery_launches_what_was_only_admitted(stage: Stage) -> Act:
    due_task(stage)
    stage.die_at_launch()
    stage.pass_time(2 * MINUTE)
    return stage.victim.look


@path
def recovery_meets_an_execution_that_started(stage: Stage) -> Act:
    due_task(stage)
    stage.others.look()
    stage.pass_time(2 * MINUTE)
    return stage.victim.look


@path
def recovery_frees_a_run_that_was_never_launched(stage: Stage) -> Act:
    due_task(stage)
    stage.die_at_launch()
    stage.pass_time(20 * MINUTE)
    return stage.victim.look


@path
def recovery_of_a_single_time_that_was_never_launched(stage: Stage) -> Act:
    due_task(stage, builders.once())
    stage.die_at_launch()
    stage.pass_time(20 * MINUTE)
    return stage.victim.look


@path
def recovery_finds_the_launch_refused(stage: Stage) -> Act:
    due_task(stage)
    stage.die_at_launch()
    stage.pass_time(2 * MINUTE)
    stage.machine.refusals = ["InvalidExecutionInput"]
    return stage.victim.look
