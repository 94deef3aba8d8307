"""The fence and the attempts of the deployed state machine, on rows that nobody keeps in step.

Every transaction keeps slot and record in step, so that neither of the two conditions is ever
needed as long as the other holds; the fence relies on neither.
"""

import json
from collections.abc import Generator
from typing import Any

import pytest
from botocore.exceptions import ClientError

import builders
from contract.backends import Dynamo
from contract.steps import admitted, created, ended
from crash import asl
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.model.enums import FailureClass
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.retry import Retry
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import LaunchOrder, Slot
from nightshift.domain.model.task import Task
from nightshift_toolkit.local_cloud.engine import Engine

DUE = builders.NOW + builders.HOUR


class _Resources:
    """What the states call: the real table, and a completion that is not listened to."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def transact(self, parameters: Any) -> None:
        """Send the fence's transaction."""
        try:
            self._client.transact_write_items(**parameters)
        except ClientError as refused:
            raise asl.StateError("DynamoDb.TransactionCanceledException") from refused

    def update(self, parameters: Any) -> None:
        """Record an attempt, twice: the first answer was lost."""
        for _ in range(2):
            try:
                self._client.update_item(**parameters)
            except ClientError as refused:
                code = refused.response["Error"]["Code"]
                raise asl.StateError(f"DynamoDb.{code}") from refused

    def invoke(self, _parameters: Any) -> None:
        """Nobody is told."""


def execution(stores: Dynamo, task: Task, slot: Slot) -> Generator[Any, Any, asl.Ended]:
    """An execution of this run; it yields what it asks of workers."""
    order = LaunchOrder(slot=slot, payload=builders.payload(task))
    definition = asl.read_definition(TableName=stores._name, CompletionFunctionArn="none")
    return asl.execute(
        definition,
        json.loads(execution_input(order, 300)),
        _Resources(stores._client),
        lambda: format_instant(DUE),
    )


def passes(stores: Dynamo, task: Task, slot: Slot) -> bool:
    """Whether an execution of this run comes to its work."""
    return next(execution(stores, task, slot), None) is not None


def test_a_run_passes_that_holds_its_slot(engine: Engine) -> None:
    """SPEC section 6, the fence; without this the two below would prove nothing."""
    stores = Dynamo(engine)
    task = created(stores)
    assert passes(stores, task, admitted(stores, task))


def test_a_run_that_is_over_does_not_pass_though_its_slot_is_still_there(engine: Engine) -> None:
    """SPEC section 6, the fence: the run is not terminal."""
    stores = Dynamo(engine)
    task = created(stores)
    slot = admitted(stores, task)
    stores._set(f"TASK#{task.id}", f"RUN#{slot.run_id}", "status", {"S": "failed"})
    assert not passes(stores, task, slot)


def test_a_run_does_not_pass_whose_slot_another_holds_though_it_is_active(engine: Engine) -> None:
    """SPEC section 6, the fence: the slot holds this run under this nonce."""
    stores = Dynamo(engine)
    task = created(stores)
    slot = admitted(stores, task)
    stores._set(f"ACTIVE#{task.slot_shard}", task.id, "run_id", {"S": f"{slot.run_id}-m1"})
    assert not passes(stores, task, slot)


def test_a_run_does_not_pass_whose_slot_was_taken_under_another_nonce(engine: Engine) -> None:
    """SPEC section 6, the fence: a latecomer of an earlier admission is not this one."""
    stores = Dynamo(engine)
    task = created(stores)
    slot = admitted(stores, task)
    stores._set(f"ACTIVE#{task.slot_shard}", task.id, "nonce", {"S": "another"})
    assert not passes(stores, task, slot)


FAILURE = {"outcome": "failed", "reason": "nonzero_exit", "result": {"exit_code": 3}}
RETRY = Retry(max_attempts=3, on=(FailureClass.NONZERO_EXIT, FailureClass.WORKER_LOST))


def at_work(stores: Dynamo) -> tuple[Slot, Generator[Any, Any, asl.Ended]]:
    """The slot and the execution of a run that may be attempted three times, at its first."""
    task = created(stores, builders.task(retry=RETRY))
    slot = admitted(stores, task)
    steps = execution(stores, task, slot)
    assert next(steps)["attempt"] == 1
    return slot, steps


def record_of(stores: Dynamo, slot: Slot) -> Run:
    """The record of a run."""
    run = stores.runs.get(slot.task_id, slot.run_id)
    assert run is not None
    return run


def test_attempts_that_failed_are_in_the_record_once_each(engine: Engine) -> None:
    """SPEC section 8: also when the answer to a write was lost."""
    stores = Dynamo(engine)
    slot, steps = at_work(stores)
    stores.pick_up(record_of(stores, slot))
    stores.pause(record_of(stores, slot), DUE)
    assert steps.send(FAILURE)["attempt"] == 2
    assert record_of(stores, slot).paused_at is None
    stores._set(f"TASK#{slot.task_id}", f"RUN#{slot.run_id}", "picked_up_attempt", {"N": "2"})
    assert steps.throw(asl.StateError("States.HeartbeatTimeout"))["attempt"] == 3
    run = record_of(stores, slot)
    assert run.attempt == 3
    assert [(one.attempt, one.reason, one.exit_code) for one in run.attempts] == [
        (1, "nonzero_exit", 3),
        (2, "worker_lost", None),
    ]
    assert run.attempts[0].finished_at == DUE


def test_a_silence_without_a_worker_is_followed_by_no_attempt(engine: Engine) -> None:
    """SPEC section 8: nobody had it, so it is `not_picked_up` and nothing was lost."""
    stores = Dynamo(engine)
    slot, steps = at_work(stores)
    stores.pick_up(record_of(stores, slot))
    assert steps.send(FAILURE)["attempt"] == 2
    with pytest.raises(StopIteration):
        steps.throw(asl.StateError("States.HeartbeatTimeout"))
    run = record_of(stores, slot)
    assert (run.attempt, len(run.attempts)) == (2, 1)


def test_a_run_that_is_over_is_not_attempted_again(engine: Engine) -> None:
    """P6: what ended stays as it ended."""
    stores = Dynamo(engine)
    slot, steps = at_work(stores)
    stores.pick_up(record_of(stores, slot))
    ended(stores, slot)
    over = record_of(stores, slot)
    with pytest.raises(StopIteration):
        steps.send(FAILURE)
    assert record_of(stores, slot) == over
