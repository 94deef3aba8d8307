"""Damages to which there is no single right answer, so that nobody repairs them."""

from dataclasses import replace

import builders
from crash.damages import HOUR, Ward, breaks, slot_key, task_key
from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.outbox import outbox_item
from nightshift.domain.model.instants import format_instant


@breaks("logs_tell_every_change", repairable=False)
def an_entry_of_the_log_is_gone(ward: Ward) -> None:
    ward.remove(keys.change(ward.idle.id, 1))


@breaks("payloads_are_there", repairable=False)
def a_prompt_is_gone(ward: Ward) -> None:
    ward.remove(keys.payload("alice", ward.idle.id, 1))


@breaks("rows_can_be_read", repairable=False)
def a_schedule_cannot_be_read(ward: Ward) -> None:
    ward.set(task_key(ward.idle), schedule="{}")


@breaks("slot_and_run_agree_on_the_fence", repairable=False)
def a_working_run_is_queued_in_its_slot(ward: Ward) -> None:
    ward.set(slot_key(ward.single), state="queued")


@breaks("no_seat_is_shared", repairable=False)
def two_runs_name_one_seat(ward: Ward) -> None:
    run = ward.stage.others.history(ward.recurring)[0]
    assert run.keys is not None
    ward.set(slot_key(ward.single), seat=run.keys.seat)


@breaks("occurrences_have_one_record", repairable=False)
def an_instant_is_also_folded_into_the_run_before(ward: Ward) -> None:
    ward.stage.pass_time(HOUR / 2)
    ward.stage.start_due()
    newest, before = ward.stage.others.history(ward.idle)
    assert newest.scheduled_for is not None
    covered = format_instant(newest.scheduled_for)
    ward.set(keys.run(ward.idle.id, before.id), folded_through=covered)


@breaks("occurrence_records_carry_their_names", repairable=False)
def a_record_names_another_instant(ward: Ward) -> None:
    another = format_instant(ward.stage.now - 5 * HOUR)
    ward.set(ward.run_key(ward.idle), scheduled_for=another)


@breaks("tombstones_never_held_keys", repairable=False)
def a_run_that_was_admitted_is_called_skipped(ward: Ward) -> None:
    ward.set(ward.run_key(ward.idle), status="skipped", reason="overlap")


@breaks("failures_say_why", repairable=False)
def a_failure_has_no_reason(ward: Ward) -> None:
    ward.set(ward.run_key(ward.idle), status="failed")


@breaks("counters_cover_the_history", repairable=False)
def a_task_counts_too_few_runs(ward: Ward) -> None:
    ward.set(task_key(ward.idle), run_count=0)


@breaks("running_executions_are_active_runs", repairable=False)
def an_execution_runs_for_nobody(ward: Ward) -> None:
    run_id = ward.stage.run_of(ward.single)
    executions = ward.stage.machine.executions
    executions["tsk_none-1"] = replace(executions[run_id], name="tsk_none-1")


@breaks("next_times_are_not_recorded_yet", repairable=False)
def a_task_is_due_for_what_is_recorded(ward: Ward) -> None:
    recorded = ward.stage.now - HOUR / 2
    due_key = keys.due_key(recorded, ward.idle.id)
    instant = format_instant(recorded)
    ward.set(task_key(ward.idle), next_run_at=instant, due_at=instant, due_key=due_key)


def _failed(number: int, ended: str) -> dict[str, object]:
    return {"attempt": number, "reason": "error", "finished_at": ended}


@breaks("attempts_are_in_order", repairable=False)
def an_attempt_is_missing_from_a_record(ward: Ward) -> None:
    ward.set(ward.run_key(ward.idle), attempt=2, picked_up_attempt=2)


@breaks("attempts_are_in_order", repairable=False)
def two_attempts_are_recorded_in_the_wrong_order(ward: Ward) -> None:
    early, late = (format_instant(ward.stage.now - at) for at in (2 * HOUR, HOUR))
    attempts = [_failed(1, late), _failed(2, early)]
    ward.set(ward.run_key(ward.idle), attempt=3, attempts=attempts, picked_up_attempt=3)


@breaks("attempts_are_allowed", repairable=False)
def a_run_is_attempted_again_though_its_task_allows_one(ward: Ward) -> None:
    attempts = [_failed(1, format_instant(ward.stage.now))]
    ward.set(ward.run_key(ward.single), attempt=2, attempts=attempts, picked_up_attempt=1)


@breaks("pickups_are_of_attempts", repairable=False)
def an_attempt_was_picked_up_that_nobody_asked_for(ward: Ward) -> None:
    ward.set(ward.run_key(ward.single), picked_up_attempt=2)


@breaks("pickups_are_of_attempts", repairable=False)
def a_run_was_picked_up_before_it_began(ward: Ward) -> None:
    ward.set(ward.run_key(ward.idle), picked_up_attempt=1, started_at=None)


@breaks("notices_are_there_once", repairable=False)
def a_notice_is_there_for_two_times(ward: Ward) -> None:
    outgoing = builders.outgoing(ward.stage.run_of(ward.idle), outcome="success")
    for due_at in (outgoing.due_at, outgoing.due_at + HOUR):
        row = outbox_item(replace(outgoing, due_at=due_at)).serialize()
        name = ward.stage.others.table.name
        ward.stage.others.dynamodb.put_item(TableName=name, Item=row)
