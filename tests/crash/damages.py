"""Tables that are broken in one way each, and which invariant has to notice it.

Each damage is done to a ward: a recurring task at work in a thread, a single time at work, an idle
recurring task with a history, and a single time that is over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import builders
from crash.harness import Stage
from crash.machine import SUCCESS
from crash.paths import THREAD, threaded
from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.outbox import outbox_item
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.task import Task

HOUR = timedelta(hours=1)


class Ward:
    """Four healthy tasks on a stage, and the hands that damage their rows."""

    def __init__(self, stage: Stage) -> None:
        stage.reset()
        self.stage = stage
        threaded(stage)
        self.idle = stage.add(builders.task(builders.every(3600), number=3))
        self.over = stage.add(builders.task(builders.once(), number=4))
        stage.pass_time(HOUR)
        stage.start_due()
        stage.machine.report_all(SUCCESS)
        now = stage.now
        half_past = builders.cron("30 * * * *")
        self.recurring = stage.add(
            builders.task(half_past, number=1, submitted_at=now, thread_id=THREAD)
        )
        soon = builders.once(now + HOUR / 2)
        self.single = stage.add(builders.task(soon, number=2, submitted_at=now))
        stage.pass_time(HOUR / 2)
        stage.start_due()

    def run_key(self, task: Task) -> keys.Key:
        """Where the newest run of a task is."""
        return keys.run(task.id, self.stage.run_of(task))

    def end_unheard(self, task: Task) -> None:
        """Let the execution of a task's run end, and long ago, without anybody being told."""
        self.stage.machine.record = None
        self.stage.machine.report(self.stage.run_of(task), SUCCESS)
        self.stage.pass_time(timedelta(minutes=20))

    def set(self, key: keys.Key, **attributes: Any) -> None:
        """Write attributes of a row: text, numbers, truths, lists, or None to remove one."""
        row = dict(self.stage.others.table.get(key) or {"pk": {"S": key.pk}, "sk": {"S": key.sk}})
        for name, value in attributes.items():
            row.pop(name, None)
            if value is not None:
                row[name] = _spelled(value)
        self.stage.others.dynamodb.put_item(TableName=self.stage.others.table.name, Item=row)

    def remove(self, key: keys.Key) -> None:
        """Remove a row."""
        self.stage.others.table.delete_rows([key])


def _spelled(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case list():
            return {"L": [_spelled(each) for each in value]}
        case dict():
            return {"M": {name: _spelled(each) for name, each in value.items()}}
        case _:
            return {"S": value}


@dataclass(frozen=True, slots=True)
class Damage:
    """A way to break a ward, the invariant that notices, and whether there is one right answer."""

    invariant: str
    inflict: Callable[[Ward], None]
    repairable: bool


DAMAGES: list[Damage] = []


def breaks(
    invariant: str, *, repairable: bool
) -> Callable[[Callable[[Ward], None]], Callable[[Ward], None]]:
    """Make a function a damage."""

    def add(inflict: Callable[[Ward], None]) -> Callable[[Ward], None]:
        DAMAGES.append(Damage(invariant, inflict, repairable))
        return inflict

    return add


def task_key(task: Task) -> keys.Key:
    return keys.task(task.user_id, task.id)


def slot_key(task: Task) -> keys.Key:
    return keys.slot(task.id, task.slot_shard)


@breaks("failures_in_a_row_are_those_of_the_history", repairable=False)
def failures_are_counted_that_nobody_had(ward: Ward) -> None:
    ward.set(task_key(ward.idle), failures_in_a_row=1)


@breaks("handed_results_are_of_successes", repairable=False)
def the_last_success_is_a_run_that_is_at_work(ward: Ward) -> None:
    slot = ward.stage.others.runs.slot(ward.recurring.id, ward.recurring.slot_shard)
    assert slot is not None
    ward.set(task_key(ward.recurring), last_success_run_id=slot.run_id)


@breaks("slot_has_active_run", repairable=True)
def the_slot_outlives_its_run(ward: Ward) -> None:
    ward.end_unheard(ward.recurring)
    ended = format_instant(ward.stage.now)
    run = ward.run_key(ward.recurring)
    ward.set(run, status="success", finished_at=ended, expires_at=2_000_000_000)


@breaks("slot_has_active_run", repairable=True)
def the_record_of_an_active_run_is_gone(ward: Ward) -> None:
    ward.end_unheard(ward.single)
    ward.remove(ward.run_key(ward.single))


@breaks("active_run_has_slot", repairable=True)
def the_slot_of_an_active_run_is_gone(ward: Ward) -> None:
    ward.end_unheard(ward.recurring)
    ward.remove(slot_key(ward.recurring))


@breaks("seats_are_held_by_active_runs", repairable=True)
def a_finished_run_holds_a_seat(ward: Ward) -> None:
    ward.set(keys.seat(7), run_id=ward.stage.run_of(ward.idle), nonce="n")


@breaks("user_seats_are_held_by_active_runs", repairable=True)
def a_finished_run_holds_a_user_seat(ward: Ward) -> None:
    key = keys.Key("USERSEAT#alice#0", "SEAT")
    ward.set(key, run_id=ward.stage.run_of(ward.idle), nonce="n")


@breaks("thread_locks_are_held_by_active_runs", repairable=True)
def a_run_that_never_was_holds_a_thread(ward: Ward) -> None:
    ward.set(keys.thread_lock("alice", "other"), run_id="tsk_none-1", nonce="n")


@breaks("slots_hold_all_their_keys", repairable=True)
def an_active_run_lost_its_seat_and_its_thread(ward: Ward) -> None:
    run = ward.stage.others.history(ward.recurring)[0]
    assert run.keys is not None
    ward.remove(keys.seat(run.keys.seat))
    ward.remove(keys.thread_lock("alice", THREAD))


@breaks("ended_executions_are_recorded", repairable=True)
def the_end_of_a_run_was_never_heard(ward: Ward) -> None:
    ward.end_unheard(ward.single)


@breaks("launches_are_settled", repairable=True)
def a_launch_was_never_settled(ward: Ward) -> None:
    ward.stage.pass_time(HOUR / 2)
    ward.stage.die_at_launch()
    ward.stage.pass_time(timedelta(minutes=25))


@breaks("terminal_runs_are_dated", repairable=True)
def a_finished_run_never_expires(ward: Ward) -> None:
    ward.set(ward.run_key(ward.idle), expires_at=None, finished_at=None)


@breaks("terminal_runs_are_dated", repairable=True)
def an_active_run_expires(ward: Ward) -> None:
    ward.set(ward.run_key(ward.single), expires_at=2_000_000_000)


@breaks("only_runs_at_work_are_paused", repairable=True)
def a_finished_run_is_paused(ward: Ward) -> None:
    since = format_instant(ward.stage.now)
    run = ward.run_key(ward.idle)
    ward.set(run, can_pause=True, picked_up_attempt=1, pause_requested=True, paused_at=since)


@breaks("only_runs_at_work_are_paused", repairable=True)
def a_run_is_paused_that_no_worker_has(ward: Ward) -> None:
    since = format_instant(ward.stage.now)
    run = ward.run_key(ward.single)
    ward.set(run, pause_requested=True, paused_at=since, paused_seconds=7)


@breaks("armed_tasks_have_a_next_time", repairable=True)
def an_enabled_task_has_no_next_time(ward: Ward) -> None:
    gone = dict.fromkeys(("next_run_at", "due_at", "due_key", "due_bucket", "tzdata_version"))
    ward.set(task_key(ward.idle), **gone)


@breaks("idle_tasks_have_no_time", repairable=True)
def a_finished_task_has_a_next_time(ward: Ward) -> None:
    ward.set(task_key(ward.over), next_run_at=format_instant(ward.stage.now + HOUR))


@breaks("pauses_with_an_end_come_to_it", repairable=True)
def the_end_of_a_pause_is_forgotten(ward: Ward) -> None:
    end = format_instant(ward.stage.now + HOUR)
    gone = dict.fromkeys(("next_run_at", "due_at", "due_key", "due_bucket"))
    ward.set(task_key(ward.idle), status="paused", pause_until=end, **gone)


@breaks("index_keys_are_right", repairable=True)
def an_enabled_task_is_not_in_the_index(ward: Ward) -> None:
    ward.set(task_key(ward.idle), due_key=None, due_bucket=None)


@breaks("index_keys_are_right", repairable=True)
def a_finished_task_is_in_the_index(ward: Ward) -> None:
    due_key = keys.due_key(ward.stage.now, ward.over.id)
    ward.set(task_key(ward.over), due_key=due_key, due_bucket="P5#0")


@breaks("active_run_ids_name_the_slot", repairable=True)
def an_idle_task_names_an_active_run(ward: Ward) -> None:
    ward.set(task_key(ward.idle), active_run_id=ward.stage.run_of(ward.idle))


@breaks("active_run_ids_name_the_slot", repairable=True)
def a_task_at_work_names_no_run(ward: Ward) -> None:
    ward.set(task_key(ward.recurring), active_run_id=None)


@breaks("running_means_a_run", repairable=True)
def a_single_time_runs_without_a_run(ward: Ward) -> None:
    ward.set(task_key(ward.over), status="running")


@breaks("payloads_are_needed", repairable=True)
def an_old_prompt_was_left(ward: Ward) -> None:
    key = keys.payload("alice", ward.idle.id, 99)
    ward.set(key, revision=99, kind="agent", text="Old.")


@breaks("payloads_are_needed", repairable=True)
def a_prompt_outlived_its_task(ward: Ward) -> None:
    key = keys.payload("alice", builders.task_id(99), 1)
    ward.set(key, revision=1, kind="agent", text="Old.")


@breaks("quotas_count_the_tasks", repairable=True)
def too_many_tasks_are_counted(ward: Ward) -> None:
    ward.set(keys.quota("alice"), tasks=99)


@breaks("history_goes_with_its_task", repairable=True)
def a_history_outlived_its_task(ward: Ward) -> None:
    ward.remove(task_key(ward.idle))
    ward.remove(keys.payload("alice", ward.idle.id, 1))
    ward.set(keys.change(ward.idle.id, 1), expires_at=2_000_000_000)
    ward.set(keys.quota("alice"), tasks=3)


@breaks("logs_expire_after_their_task", repairable=True)
def a_log_outlives_its_task_for_ever(ward: Ward) -> None:
    ward.stage.others.delete(ward.idle)
    ward.set(keys.change(ward.idle.id, 1), expires_at=None)


@breaks("notices_tell_what_happened", repairable=True)
def a_notice_tells_of_a_failure_that_was_none(ward: Ward) -> None:
    row = outbox_item(builders.outgoing(ward.stage.run_of(ward.idle))).serialize()
    name = ward.stage.others.table.name
    ward.stage.others.dynamodb.put_item(TableName=name, Item=row)
