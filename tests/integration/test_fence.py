"""The fence as the state machine asks for it, on a real table."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

import builders
import execution
import stack
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.model.enums import Outcome, RunStatus, SlotState
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.slot import LaunchOrder, Slot

if TYPE_CHECKING:
    from nightshift.domain.model.run import Run
    from real import RealWorld

ENTERED = execution.CONTEXT["State"]["EnteredTime"]


def admitted(real: RealWorld) -> tuple[Run, Slot]:
    """A run that the clock has admitted and launched."""
    task = real.created(builders.create())
    real.pass_time(timedelta(hours=1))
    real.look()
    [run] = real.history(task)
    return run, slot_of(real, run)


def slot_of(real: RealWorld, run: Run) -> Slot:
    """The slot that the run holds."""
    assert run.keys is not None
    held = real.runs.slot(run.task_id, run.keys.slot_shard)
    assert held is not None
    return held


def cross(real: RealWorld, slot: Slot, **changed: Any) -> None:
    """Send the transaction of the first state for this run's input, some of it changed."""
    payload = builders.payload(builders.task())
    start = json.loads(execution_input(LaunchOrder(slot=slot, payload=payload), 300)) | changed
    asked = execution.render(stack.workflow()["States"]["Fence"]["Parameters"], start)
    named = re.sub(r"\$\{TableName\}", real.table.name, json.dumps(asked))
    real.dynamodb.transact_write_items(**json.loads(named))


def refused(real: RealWorld, slot: Slot, **changed: Any) -> None:
    """Cross in vain, and see that nothing was written."""
    before = real.rows()
    with pytest.raises(ClientError) as caught:
        cross(real, slot, **changed)
    assert caught.value.response["Error"]["Code"] == "TransactionCanceledException"
    assert real.rows() == before


def test_admitted_run_crosses_the_fence_and_runs(real: RealWorld) -> None:
    """Section 6: slot and run become `running`, and nobody has to write that afterwards."""
    run, slot = admitted(real)
    cross(real, slot)
    held = slot_of(real, run)
    assert held.state is SlotState.RUNNING
    stored = real.runs.get(run.task_id, run.id)
    assert stored is not None
    assert stored.status is RunStatus.RUNNING
    assert stored.started_at is not None
    assert format_instant(stored.started_at) == ENTERED


def test_second_try_of_the_same_execution_passes_and_changes_nothing(real: RealWorld) -> None:
    """Section 6: the answer of the first try may have been lost."""
    _, slot = admitted(real)
    cross(real, slot)
    before = real.rows()
    cross(real, slot)
    assert real.rows() == before


@pytest.mark.parametrize(
    "changed",
    [{"nonce": "another"}, {"run_id": f"{builders.task_id(1)}-x"}, {"slot_pk": "ACTIVE#7"}],
    ids=["nonce", "run", "shard"],
)
def test_execution_that_is_not_the_admitted_run_is_refused(
    real: RealWorld, changed: dict[str, str]
) -> None:
    """Section 6: it does no work and changes nothing."""
    _, slot = admitted(real)
    refused(real, slot, **changed)


def test_run_whose_cancellation_was_requested_is_refused(real: RealWorld) -> None:
    """Section 6: an execution that starts after its cancellation is harmless."""
    _, slot = admitted(real)
    assert real.runs.request_cancel(slot)
    refused(real, slot)


@pytest.mark.parametrize("outcome", Outcome)
def test_run_that_has_ended_is_refused_and_no_row_comes_back(
    real: RealWorld, outcome: Outcome
) -> None:
    """K7: its keys were freed; a latecomer makes none of them anew."""
    run, slot = admitted(real)
    assert real.end(run.id, outcome)
    refused(real, slot)
