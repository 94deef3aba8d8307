"""What each path costs in AWS calls and write units, on the real engine."""

from datetime import timedelta

import pytest

import builders
from listeners import Listener
from nightshift.adapters.dynamodb.sweeps import DynamoSweeps
from nightshift.domain.commands import (
    Action,
    DeleteTask,
    EditTask,
    ExplainTask,
    PauseTask,
    ScheduleRequest,
    TriggerTask,
)
from nightshift.domain.model.enums import ActionKind, Decision, Jitter, Outcome, RunStatus
from nightshift.domain.model.idempotency import IdempotencyKey
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.notify import Notify
from nightshift.domain.model.task import Task
from nightshift.domain.services.announcing import Announcing
from nightshift.domain.services.replanning import Replanning
from nightshift_toolkit.costs import units
from real import Bill, RealWorld

IDLE = dict(units.IDLE_LOOK.calls)


def as_path(bill: Bill) -> units.Path:
    """What was measured, in the form in which it is written down."""
    return units.Path(dict(bill.calls), bill.read_units, bill.write_units)


def prompt(size: int) -> Action:
    return Action(ActionKind.AGENT, "x" * size)


@pytest.mark.parametrize("sleeping", [0, 3, 40])
def test_an_idle_look_makes_the_same_calls_however_many_tasks_sleep(
    real: RealWorld, sleeping: int
) -> None:
    """SPEC section 6, tick: it costs the same with ten tasks or ten million, and reads no task."""
    for _ in range(sleeping):
        real.created(builders.create())
    with real.billed() as bill:
        real.look()
    assert as_path(bill) == units.IDLE_LOOK
    assert bill.items_read == 0


def test_a_finished_sweep_costs_one_read_however_many_tasks_sleep(real: RealWorld) -> None:
    """SPEC section 5, tzdata: that is all that an idle tick adds to its looks."""
    for _ in range(3):
        real.created(builders.create())
    replanning = Replanning(
        tasks=real.tasks, sweeps=DynamoSweeps(real.table), observe=real.events.append
    )
    with real.billed() as bill:
        assert not replanning.sweep_a_page()
    beginning = {"GetItem": 1, "Query": 5, "BatchGetItem": 1, "PutItem": 1}
    assert dict(bill.calls) == beginning
    assert replanning.sweep_a_page()
    with real.billed() as bill:
        assert replanning.sweep_a_page()
    assert as_path(bill) == units.FINISHED_SWEEP


def test_a_creation_costs_one_read_and_one_transaction(real: RealWorld) -> None:
    """SPEC section 4: the policy is read; task, prompt, quota and change log are one write."""
    with real.billed() as bill:
        real.created(builders.create())
    assert as_path(bill) == units.CREATION


def test_an_automatic_place_costs_one_query_a_bucket_when_it_is_chosen(real: RealWorld) -> None:
    """SPEC section 5: the count is bounded; an edit that keeps the place counts nothing."""
    buckets = IDLE["Query"] - 1
    for _ in range(5):
        real.created(builders.create())
    with real.billed() as near:
        task = real.created(builders.create(jitter=Jitter.AUTO, jitter_seconds=600))
    counting = units.Path({"Query": buckets}, reads=buckets / 2)
    assert as_path(near) == units.CREATION + counting
    with real.billed() as far:
        weekly = ScheduleRequest(spec={"cron": "0 9 * * THU"})
        real.created(builders.create(schedule=weekly, jitter=Jitter.AUTO, jitter_seconds=600))
    assert as_path(far) == units.CREATION + counting + counting
    with real.billed() as edited:
        command = EditTask(user_id=task.user_id, task_id=task.id, title="Another")
        real.management.edit_task(command, real.now)
    assert "Query" not in edited.calls


def test_a_run_by_the_clock_costs_one_admission_and_one_start(real: RealWorld) -> None:
    """K3: besides its share of the batched reads, an occurrence costs one transaction."""
    real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    with real.billed() as bill:
        real.look()
    parts = units.IDLE_LOOK + units.BATCHED_READS + units.ADMISSION + units.START
    assert as_path(bill) == parts


def test_ten_runs_of_one_look_share_its_reads(real: RealWorld) -> None:
    """SPEC section 6, tick: rows and payloads are read in batches."""
    for _ in range(10):
        real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    with real.billed() as bill:
        real.look()
    batched = {"BatchGetItem": 2}
    assert dict(bill.calls) == IDLE | batched | {"TransactWriteItems": 10, "StartExecution": 10}


def test_the_end_of_a_run_costs_one_read_and_one_transaction(real: RealWorld) -> None:
    """K6: a completion that meets what it expects is one transaction."""
    task = real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    real.look()
    (run,) = real.history(task)
    with real.billed() as bill:
        assert real.end(run.id)
    assert as_path(bill) == units.END_OF_RUN


def test_a_repeated_completion_costs_one_read_and_writes_nothing(real: RealWorld) -> None:
    """SPEC section 2: a doubled signal changes nothing."""
    task = real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    real.look()
    (run,) = real.history(task)
    real.end(run.id)
    with real.billed() as bill:
        assert not real.end(run.id)
    assert dict(bill.calls) == {"GetItem": 1}


def test_a_skip_costs_one_transaction(real: RealWorld) -> None:
    """P13: the tombstone and the advanced task are one write."""
    task = real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    real.look()
    (running,) = real.history(task)
    real.pass_fence(running)
    real.pass_time(timedelta(hours=1))
    with real.billed() as bill:
        real.clock.look(real.now, lambda: True, verify=False)
    batched = {"BatchGetItem": 2}
    asked_about_the_old_run = {"DescribeExecution": 1}
    assert dict(bill.calls) == IDLE | batched | asked_about_the_old_run | {"TransactWriteItems": 1}
    assert [run.status for run in real.history(task)] == [RunStatus.SKIPPED, RunStatus.RUNNING]


def units_of_a_run(real: RealWorld, size: int) -> tuple[float, float]:
    task = real.created(builders.create(action=prompt(size)))
    real.pass_time(timedelta(hours=1))
    with real.billed() as start:
        real.look()
    (run,) = real.history(task)
    with real.billed() as end:
        real.end(run.id)
    real.management.delete_task(DeleteTask(task.user_id, task.id), real.now)
    return start.write_units, end.write_units


def test_the_write_units_of_a_run_do_not_depend_on_its_prompt(real: RealWorld) -> None:
    """SPEC section 4: advancing a task costs the same whatever its prompt weighs."""
    small = units_of_a_run(real, 100)
    large = units_of_a_run(real, 60 * 1024)
    assert small == large
    assert small == (units.ADMISSION.writes, units.END_OF_RUN.writes)


def test_a_previous_result_costs_one_read_of_those_who_ask(real: RealWorld) -> None:
    """SPEC section 6, tick: nothing else of a launch changes, and nothing of an end."""
    task = real.created(builders.create(include_previous_result=True))
    real.pass_time(timedelta(hours=1))
    with real.billed() as first:
        real.look()
    assert as_path(first) == units.IDLE_LOOK + units.BATCHED_READS + units.ADMISSION + units.START
    (run,) = real.history(task)
    with real.billed() as end:
        assert real.end(run.id)
    assert as_path(end) == units.END_OF_RUN
    real.pass_time(timedelta(hours=1))
    with real.billed() as second:
        real.look()
    one_read = units.Path({"GetItem": 1}, reads=1)
    assert as_path(second) == as_path(first) + one_read


def test_a_manual_trigger_costs_four_reads_one_transaction_and_one_start(real: RealWorld) -> None:
    """P4: policy, task, payload and slots are read; admission decides."""
    task = real.created(builders.create())
    with real.billed() as bill:
        real.trigger(task)
    assert as_path(bill) == units.TRIGGER


def test_a_key_costs_one_more_read_and_no_more_transactions(real: RealWorld) -> None:
    """SPEC section 7: it is taken in the transaction that makes what it is for."""
    with real.billed() as creation:
        task = real.created(builders.create(key=IdempotencyKey("create", "digest")))
    assert dict(creation.calls) == {"GetItem": 2, "TransactWriteItems": 1}
    with real.billed() as trigger:
        command = TriggerTask(task.user_id, task.id, IdempotencyKey("trigger", "digest"))
        real.dispatch.trigger_task(command, real.now)
    wanted = {"GetItem": 4, "Query": 1, "TransactWriteItems": 1, "StartExecution": 1}
    assert dict(trigger.calls) == wanted


def test_a_pause_costs_one_transaction_with_its_entry_in_the_log(real: RealWorld) -> None:
    """SPEC section 4: task, and who changed it; and the task and its payload are read."""
    task = real.created(builders.create())
    with real.billed() as bill:
        real.pausing.pause_task(PauseTask(task.user_id, task.id), real.now)
    assert dict(bill.calls) == {"GetItem": 2, "TransactWriteItems": 1}


def explanation(real: RealWorld, task: Task, at: str | None = None) -> Decision:
    """What an explanation comes to."""
    command = ExplainTask(task.user_id, task.id, at)
    return real.explaining.explain_task(command, real.now).decision


def test_an_explanation_reads_no_more_than_the_look_it_tells_of(real: RealWorld) -> None:
    """SPEC section 6, tick: the line is read only where the task is in it."""
    task = real.created(builders.create())
    for _ in range(30):
        real.created(builders.create(user_id=builders.BOB))
    with real.billed() as resting:
        assert explanation(real, task) is Decision.RESTS
    assert dict(resting.calls) == {"BatchGetItem": 2}
    real.pass_time(timedelta(hours=1))
    with real.billed() as due:
        assert explanation(real, task) is Decision.STARTS
    asked_for_a_record = {"GetItem": IDLE["GetItem"] + 1}
    assert dict(due.calls) == IDLE | {"BatchGetItem": 2} | asked_for_a_record
    assert due.items_read == 31
    assert due.write_units == resting.write_units == 0


def test_an_explanation_of_the_past_reads_one_page_of_the_history(real: RealWorld) -> None:
    """K10: the history is bounded; a time that is a run's own costs that run alone."""
    task = real.created(builders.create())
    real.pass_time(timedelta(hours=3))
    real.look()
    first, folded = (format_instant(real.now - timedelta(hours=hours)) for hours in (2, 1))
    with real.billed() as own:
        assert explanation(real, task, first) is Decision.RECORDED
    assert dict(own.calls) == {"BatchGetItem": 2, "GetItem": 1}
    with real.billed() as of_another:
        assert explanation(real, task, folded) is Decision.RECORDED
    assert dict(of_another.calls) == {"BatchGetItem": 2, "GetItem": 2, "Query": 1}
    assert own.write_units == of_another.write_units == 0


def test_editing_a_title_does_not_write_the_prompt_again(real: RealWorld) -> None:
    """SPEC section 4: payload rows are immutable and apart from the task row."""
    task = real.created(builders.create(action=prompt(60 * 1024)))
    with real.billed() as bill:
        command = EditTask(user_id=task.user_id, task_id=task.id, title="Another")
        real.management.edit_task(command, real.now)
    assert bill.calls["TransactWriteItems"] == 1
    assert bill.write_units < 20


def test_listing_tasks_does_not_read_their_prompts(real: RealWorld) -> None:
    """SPEC section 4: the keys of payloads lie outside the range of a user's tasks."""
    for _ in range(5):
        schedule = ScheduleRequest(spec={"every_seconds": 3600})
        real.created(builders.create(action=prompt(60 * 1024), schedule=schedule))
    with real.billed() as bill:
        page = real.management.list_tasks(builders.ALICE, limit=50, after=None)
    assert len(page.items) == 5
    assert dict(bill.calls) == {"Query": 1}
    assert bill.items_read == 5


def test_an_end_that_is_told_costs_its_notice_and_one_that_is_not_costs_nothing_more(
    real: RealWorld,
) -> None:
    """Notices: a row in the same transaction; the claim moves it, and it goes when all have it."""
    tells = Notify(webhook="https://hooks.example/mine")
    silent = real.created(builders.create())
    telling = real.created(builders.create(notify=tells))
    real.pass_time(timedelta(hours=1))
    real.look()
    bills = []
    for task in (silent, telling):
        (run,) = real.history(task)
        with real.billed() as bill:
            assert real.end(run.id, Outcome.FAILED)
        bills.append(bill)
    assert bills[0].calls == bills[1].calls
    assert bills[1].write_units - bills[0].write_units == 2
    announcing = Announcing(
        outbox=real.outbox, receivers=[Listener()], observe=real.events.append, workers=16
    )
    with real.billed() as bill:
        assert announcing.deliver(real.now) == 1
    assert dict(bill.calls) == {"Query": 4, "TransactWriteItems": 1, "DeleteItem": 1}
    assert bill.write_units == 5
    with real.billed() as bill:
        assert announcing.deliver(real.now) == 0
    assert (dict(bill.calls), bill.items_read) == ({"Query": 4}, 0)
