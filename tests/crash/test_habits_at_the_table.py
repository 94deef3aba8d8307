"""How the adapters treat the table, seen in the requests that they send."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import builders
from crash.faults import Fate, Fault
from crash.harness import Process, Stage
from crash.machine import SUCCESS
from crash.paths import THREAD, due_task, threaded, working_task
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import ActionKind, Outcome
from nightshift.domain.model.run import RunOutcome
from nightshift.domain.model.slot import LaunchOrder
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.services.admission import places_left
from nightshift.domain.services.rulings import Due

KIBIBYTE = 1024
LOCKS = ("ACTIVE#", "SEAT#", "THREADLOCK#")
READS = ("dynamodb.GetItem", "dynamodb.Query", "dynamodb.BatchGetItem")


def requests(fate: Fate, *calls: str) -> list[dict[str, Any]]:
    return [
        json.loads(body)
        for call, body in zip(fate.calls, fate.bodies, strict=True)
        if call in calls
    ]


def reads_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The reads that a request asks for; a batch asks for several."""
    batch: dict[str, dict[str, Any]] | None = request.get("RequestItems")
    return [request] if batch is None else list(batch.values())


def test_everything_is_decided_on_consistent_reads_and_the_index_is_only_a_hint(
    stage: Stage,
) -> None:
    """B103, B104: an index cannot be read consistently, and nothing else is read otherwise."""
    task = due_task(stage)
    stage.others.look()
    stage.others.trigger(stage.add(builders.task(number=2)))
    stage.others.management.get_task(task.user_id, task.id)
    asked = [read for request in requests(stage.others.fate, *READS) for read in reads_of(request)]
    assert any("IndexName" in read for read in asked)
    for read in asked:
        assert read.get("ConsistentRead", False) is ("IndexName" not in read)


def test_a_conflict_is_met_with_the_same_bytes_again(stage: Stage) -> None:
    """B101, B102: it is no answer, and the token names the attempt, not the try."""
    task = due_task(stage)
    calls = len(stage.others.fate.calls)
    stage.others.look()
    place = stage.others.fate.calls.index("dynamodb.TransactWriteItems", calls) - calls
    stage.reset()
    task = due_task(stage)
    stage.victim.fate = Fate(Fault.CONFLICT, place)
    stage.victim.look()
    first, second = requests(stage.victim.fate, "dynamodb.TransactWriteItems")
    assert first == second
    stage.machine.begin()
    assert stage.machine.worked == {stage.run_of(task): 1}


def edited(process: Process, task: Task) -> None:
    changed = task.edited(
        builders.with_definition(task, title="Another"), process.now, process.policy
    )
    assert process.tasks.replace(task, changed)


def dispatched(process: Process, task: Task) -> None:
    process.look()
    assert process.history(task)


CHANGES: list[Callable[[Process, Task], None]] = [
    edited,
    dispatched,
    Process.pause,
    Process.delete,
]


def stale_due(stage: Stage, change: Callable[[Process, Task], None]) -> tuple[Task, Due]:
    """A due task as it was read before somebody changed it."""
    task = stage.add_unwatched(builders.task())
    stage.pass_time(timedelta(hours=1))
    ref = TaskRef(task.user_id, task.id)
    row = stage.others.tasks.read([ref])[ref]
    assert isinstance(row, tuple)
    change(stage.others, row[0])
    return row[0], Due(task=row[0], payload=row[1], holder=None)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_stale_copy_of_a_task_starts_nothing(
    stage: Stage, change: Callable[[Process, Task], None]
) -> None:
    """B103: admission re-checks what the index and the batch read said."""
    task, due = stale_due(stage, change)
    known = set(stage.machine.executions)
    process = stage.victim
    places = places_left([], process.policy)
    result = process.dispatch.dispatch_due(due, places, process.policy, process.now)
    assert result.exit.value == "conflict"
    assert set(stage.machine.executions) == known
    assert len(stage.snapshot().runs) == len(known)
    assert task.id == result.task_id


def test_nothing_brings_a_deleted_task_back(stage: Stage) -> None:
    """B111, K7: every write of a row requires the row."""
    task = working_task(stage)
    run_id = stage.run_of(task)
    stage.watched.clear()
    seen = stage.others.read(task)
    stage.others.delete(task)
    process = stage.victim
    plan = seen.plan_after_dispatch(None, process.now, counted=False)
    assert not process.tasks.advance(seen, plan)
    assert not process.tasks.back_off(seen, process.now)
    assert not process.tasks.block(
        TaskRef(seen.user_id, seen.id), "broken", due_at=seen.state.due_at or process.now
    )
    assert not process.tasks.switch(seen, seen.paused(None, process.now))
    assert not process.tasks.replace(
        seen, seen.edited(seen.definition, process.now, process.policy)
    )
    ended = RunOutcome(run_id=run_id, outcome=Outcome.SUCCESS, finished_at=process.now)
    process.lifecycle.record_outcome(ended)
    process.lifecycle.record_outcome(ended)
    snapshot = stage.snapshot(with_index=True)
    assert not snapshot.tasks
    assert not snapshot.runs
    assert not snapshot.slots
    assert not snapshot.payloads
    assert not snapshot.index
    assert not snapshot.unreadable


def test_a_task_that_the_clock_must_not_start_has_no_index_keys(stage: Stage) -> None:
    """B113, K1: the attributes are removed, since neither empty text nor null may stand there."""
    paused = stage.add_unwatched(builders.task(number=1))
    stage.others.pause(paused)
    over = stage.add_unwatched(builders.task(builders.once(), number=2))
    stage.pass_time(timedelta(hours=1))
    stage.others.look()
    rows = {row["sk"]["S"]: row for row in stage.others.rows()}
    for task in (paused, over):
        assert not {"due_bucket", "due_key", "due_at"} & rows[f"TASK#{task.id}"].keys()
    assert not stage.snapshot(with_index=True).index


def test_only_what_is_over_ever_expires(stage: Stage) -> None:
    """B110: expiry cleans up; no lock, seat or slot waits for it."""
    threaded(stage)
    due_task(stage, thread_id=THREAD)
    stage.others.look()
    held = [row for row in stage.others.rows() if row["pk"]["S"].startswith(LOCKS)]
    assert len(held) == len(LOCKS)
    assert not [row for row in held if "expires_at" in row]


def test_a_megabyte_of_output_and_error_still_frees_the_keys(stage: Stage) -> None:
    """B108, K8: no row grows with what a run says."""
    task = working_task(stage)
    flood = "x" * KIBIBYTE * KIBIBYTE
    report = SUCCESS | {
        "outcome": "failed",
        "reason": "error",
        "error": flood,
        "result": {"exit_code": 1, "output": flood, "truncated": False},
    }
    stage.machine.report(stage.run_of(task), report)
    newest = stage.others.history(task)[0]
    assert newest.status == "failed"
    assert newest.error is not None
    assert len(newest.error.encode()) <= 2 * KIBIBYTE
    assert len(json.dumps(newest.result, separators=(",", ":"))) <= 16 * KIBIBYTE
    assert not stage.snapshot().slots


def test_numbers_of_any_kind_in_a_result_come_back_as_they_were(stage: Stage) -> None:
    """B107: what a worker says is kept as JSON text, not as the table's numbers."""
    task = working_task(stage)
    said = {"exit_code": 0, "cost": 0.1, "tokens": 2**70, "tiny": 1e-300, "nested": [{"a": [0.3]}]}
    stage.machine.report(stage.run_of(task), SUCCESS | {"result": said})
    assert stage.others.history(task)[0].result == said


@pytest.mark.parametrize("text", ['"' * 64 * KIBIBYTE, "😀" * 16 * KIBIBYTE, "\\" * 64 * KIBIBYTE])
def test_the_largest_prompt_fits_an_execution_input(stage: Stage, text: str) -> None:
    """B96: 256 KiB is the limit of Step Functions, whatever the prompt is made of."""
    task = due_task(stage)
    stage.others.look()
    (slot,) = stage.others.runs.slots()
    payload = Payload(task.id, task.user_id, 1, ActionKind.AGENT, text)
    told = execution_input(LaunchOrder(slot=slot, payload=payload), 300)
    assert len(told.encode()) < 200 * KIBIBYTE
