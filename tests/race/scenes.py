"""What may happen at the same time; each scene is one round and tells its complaints."""

import random
from collections.abc import Callable
from datetime import timedelta

import builders
from crash.asl import StateError
from crash.harness import Process
from crash.machine import FAILURE, SUCCESS, Report
from crash.paths import THREAD, threaded
from nightshift.domain.commands import (
    Action,
    CancelRun,
    CreateTask,
    DeleteTask,
    EditTask,
    PauseTask,
    ResumeTask,
    TriggerTask,
)
from nightshift.domain.model.enums import ActionKind
from nightshift.domain.model.idempotency import IdempotencyKey
from nightshift.domain.model.spec import Schedule
from nightshift.domain.model.task import Task
from race.arena import PROCESSES, Arena, Deed, dispatch, look, trigger

HOUR = timedelta(hours=1)

Scene = Callable[[Arena, random.Random], None]


def one_occurrence_many_ticks(arena: Arena, chance: random.Random) -> None:
    """Every process dispatches the same occurrence."""
    task = arena.add(builders.task(_any_schedule(chance)))
    arena.pass_time(HOUR)
    arena.race([dispatch(task)] * PROCESSES, chance)
    _expect(arena, len(arena.machine.executions) == 1, "one execution of one occurrence")


def ticks_and_triggers(arena: Arena, chance: random.Random) -> None:
    """The clock and people want the same task."""
    task = arena.add(builders.task())
    arena.pass_time(HOUR)
    by_hand = chance.randint(1, PROCESSES - 1)
    deeds = [trigger(task)] * by_hand + [dispatch(task)] * (PROCESSES - by_hand)
    arena.race(deeds, chance)
    _expect(arena, len(arena.machine.running) == 1, "one active run of one task")


def triggers_alone(arena: Arena, chance: random.Random) -> None:
    """People want the same task, which may be a single time."""
    task = arena.add_unwatched(builders.task(_any_schedule(chance)))
    arena.race([trigger(task)] * PROCESSES, chance)
    _expect(arena, len(arena.machine.executions) == 1, "one accepted trigger")


def one_request_sent_many_times(arena: Arena, chance: random.Random) -> None:
    """Twins of one request under one key make one thing, be it a task or a run."""
    key = IdempotencyKey("a-request", "of-this-body")
    if chance.random() < 1 / 2:
        arena.race([_creating(builders.create(key=key))] * PROCESSES, chance)
        _expect(arena, len(arena.snapshot().tasks) == 1, "one task of one request")
        return
    task = arena.add(builders.task())
    sent = TriggerTask(task.user_id, task.id, key=key)
    arena.race([_triggering(sent)] * PROCESSES, chance)
    _expect(arena, len(arena.snapshot().runs) == 1, "one run of one request")


def more_tasks_than_seats(arena: Arena, chance: random.Random) -> None:
    """Every process wants a seat for a task of its own, and there are not enough."""
    tasks = [arena.add(builders.task(number=number)) for number in range(1, PROCESSES + 1)]
    arena.pass_time(HOUR)
    arena.race([chance.choice([dispatch, trigger])(task) for task in tasks], chance)


def whole_ticks_at_once(arena: Arena, chance: random.Random) -> None:
    """Ticks that overlap completely, beside triggers."""
    tasks = [arena.add(builders.task(number=number)) for number in range(1, 6)]
    arena.pass_time(HOUR)
    arena.race([look] * (PROCESSES - 1) + [trigger(chance.choice(tasks))], chance)


def one_thread_for_all(arena: Arena, chance: random.Random) -> None:
    """Several tasks want to run in one thread."""
    threaded(arena)
    tasks = [
        arena.add(builders.task(number=number, thread_id=THREAD))
        for number in range(1, PROCESSES + 1)
    ]
    arena.pass_time(HOUR)
    arena.race([chance.choice([dispatch, dispatch, trigger])(task) for task in tasks], chance)
    _expect(arena, len(arena.machine.running) <= 1, "one active run in one thread")


def an_end_that_is_told_many_times(arena: Arena, chance: random.Random) -> None:
    """The end of a run is told twice, verified, and the next occurrence comes."""
    task = _at_work(arena)
    run_id = arena.run_of(task)
    (slot,) = arena.others.runs.slots()
    arena.machine.record = None
    endings: list[Report] = [SUCCESS, FAILURE, StateError("States.HeartbeatTimeout")]
    arena.machine.report(run_id, chance.choice(endings))
    arena.machine.record = arena.others.record_step
    (signal,) = arena.machine.signals
    arena.pass_time(HOUR)
    told: list[Deed] = [lambda process: process.hear(signal)] * 2
    asked: list[Deed] = [lambda process: process.lifecycle.verify(slot, process.now)]
    arena.race([*told, *asked, dispatch(task), dispatch(task), trigger(task)], chance)


def a_cancel_and_an_end(arena: Arena, chance: random.Random) -> None:
    """A run is cancelled while it ends, starts or is recovered."""
    task = _at_work(arena) if chance.random() < 1 / 2 else _launched(arena)
    run_id = arena.run_of(task)
    command = CancelRun(task.user_id, task.id, run_id)

    def cancel(process: Process) -> object:
        return process.lifecycle.cancel_run(command)

    def start_or_end(_: Process) -> None:
        arena.machine.begin()
        arena.machine.report_all(SUCCESS)

    arena.pass_time(timedelta(minutes=2))
    arena.race([cancel, cancel, start_or_end, look, trigger(task)], chance)


def a_task_that_changes_while_it_is_due(arena: Arena, chance: random.Random) -> None:
    """People edit, pause, resume and delete a task that the clock is starting."""
    task = arena.add_unwatched(builders.task())
    arena.pass_time(HOUR)
    deeds = [*chance.sample(_changes(task), 3), dispatch(task), dispatch(task), trigger(task)]
    arena.race(deeds, chance)


def a_task_that_is_deleted_while_it_runs(arena: Arena, chance: random.Random) -> None:
    """A task is deleted while its run starts, works and ends."""
    task = _at_work(arena) if chance.random() < 1 / 2 else _launched(arena)
    arena.watched.clear()
    command = DeleteTask(task.user_id, task.id)

    def delete(process: Process) -> None:
        process.management.delete_task(command, process.now)

    def end(_: Process) -> None:
        arena.machine.begin()
        arena.machine.report_all(SUCCESS)

    arena.race([delete, delete, end, dispatch(task), trigger(task)], chance)


def _changes(task: Task) -> list[Deed]:
    user_id, task_id = task.user_id, task.id
    action = Action(ActionKind.AGENT, "Something else.")
    edits = [
        EditTask(user_id=user_id, task_id=task_id, title="Another"),
        EditTask(user_id=user_id, task_id=task_id, action=action),
        EditTask(user_id=user_id, task_id=task_id, priority=9),
    ]

    def editing(command: EditTask) -> Deed:
        return lambda process: process.management.edit_task(command, process.now)

    return [
        *(editing(command) for command in edits),
        lambda process: process.pausing.pause_task(PauseTask(user_id, task_id), process.now),
        lambda process: process.pausing.resume_task(ResumeTask(user_id, task_id), process.now),
        lambda process: process.management.delete_task(DeleteTask(user_id, task_id), process.now),
    ]


def _creating(command: CreateTask) -> Deed:
    return lambda process: process.management.create_task(command, process.now)


def _triggering(command: TriggerTask) -> Deed:
    return lambda process: process.dispatch.trigger_task(command, process.now)


def _any_schedule(chance: random.Random) -> Schedule:
    return builders.hourly() if chance.random() < 1 / 2 else builders.once()


def _launched(arena: Arena) -> Task:
    task = arena.add(builders.task())
    arena.pass_time(HOUR)
    arena.others.look()
    return task


def _at_work(arena: Arena) -> Task:
    task = _launched(arena)
    arena.machine.begin()
    return task


def _expect(arena: Arena, holds: object, promise: str) -> None:
    if not holds:
        arena.complaints.append(f"not {promise}")


SCENES: dict[Scene, int] = {
    one_occurrence_many_ticks: 14,
    ticks_and_triggers: 14,
    triggers_alone: 10,
    one_request_sent_many_times: 4,
    more_tasks_than_seats: 6,
    whole_ticks_at_once: 3,
    one_thread_for_all: 7,
    an_end_that_is_told_many_times: 10,
    a_cancel_and_an_end: 12,
    a_task_that_changes_while_it_is_due: 12,
    a_task_that_is_deleted_while_it_runs: 8,
}
"""The scenes, and of a hundred rounds how many each of them gets: the quick ones get more."""
