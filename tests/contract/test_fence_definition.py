"""The fence of the deployed state machine, on rows that nobody keeps in step.

Every transaction keeps slot and record in step, so that neither of the two conditions is ever
needed as long as the other holds; the fence relies on neither.
"""

import json
from typing import Any

from botocore.exceptions import ClientError

import builders
from contract.backends import Dynamo
from contract.steps import admitted, created
from crash import asl
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.run import LaunchOrder, Slot
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

    def invoke(self, _parameters: Any) -> None:
        """Nobody is told."""


def passes(stores: Dynamo, task: Task, slot: Slot) -> bool:
    """Whether an execution of this run comes to its work."""
    order = LaunchOrder(slot=slot, payload=builders.payload(task))
    definition = asl.read_definition(TableName=stores._name, CompletionFunctionArn="none")
    states = asl.execute(
        definition,
        json.loads(execution_input(order, 300)),
        _Resources(stores._client),
        lambda: format_instant(DUE),
    )
    return next(states, None) is not None


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
