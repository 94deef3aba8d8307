"""What was read may differ from what is stored in one respect only: the write is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import builders
from builders import MINUTE, NOW
from contract.backends import Dynamo, Stores
from contract.steps import admitted, completed, created, ended, read
from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.exchanged import AdmissionAnswer
from nightshift.domain.model.enums import TaskStatus, Trigger
from nightshift.domain.model.slot import LaunchOrder
from nightshift_toolkit.local_cloud.engine import Engine


def test_a_once_task_that_ended_meanwhile_is_not_admitted_as_one_that_runs(stores: Stores) -> None:
    """K3: only the status tells them apart, and a refused launch would put the wrong one back."""
    task = created(stores, builders.task(builders.once()))
    held = admitted(stores, task)
    running = read(stores, task)
    ended(stores, held)
    trigger = builders.admission(running, trigger=Trigger.MANUAL, nonce="nonce-b", now=NOW)
    assert stores.runs.admit(trigger).answer is AdmissionAnswer.CHANGED
    assert read(stores, task).state.status is TaskStatus.COMPLETED
    assert stores.held_keys() == {}


def test_the_lease_of_one_run_is_not_that_of_the_next_though_it_ends_with_it(
    stores: Stores,
) -> None:
    """RunStore.take_lease: two runs of a task may be admitted in the same millisecond."""
    task = created(stores)
    first = admitted(stores, task)
    ended(stores, first)
    following = admitted(
        stores,
        read(stores, task),
        trigger=Trigger.MANUAL,
        nonce="nonce-b",
        now=first.admitted_at,
    )
    assert following.lease_until == first.lease_until
    assert stores.runs.take_lease(first, first.lease_until + MINUTE) is None
    assert stores.runs.slot(task.id, task.slot_shard) == following


class _Between:
    """A client that lets somebody else come first, just before one kind of call."""

    def __init__(self, client: Any, call: str, action: Callable[[], object]) -> None:
        self._client = client
        self._call = call
        self._action = action

    def __getattr__(self, name: str) -> Any:
        if name == self._call:
            self._action()
        return getattr(self._client, name)


def test_a_recorded_occurrence_is_not_advanced_past_an_edit_in_between(engine: Engine) -> None:
    """RunStore.skip: between its two writes the task may change as well (P19)."""
    stores = Dynamo(engine)
    task = created(stores)
    completed(stores, task)
    done = read(stores, task)
    assert stores.tasks.advance(done, task.plan(TaskStatus.ENABLED, NOW))
    rewound = read(stores, task)
    paused = rewound.paused("holidays", NOW)
    between: Any = _Between(
        stores._client, "update_item", lambda: stores.tasks.switch(rewound, paused)
    )
    runs = DynamoRuns(Table(between, stores._name), stores.events.append, slot_shards=2)
    plan = rewound.plan_after_dispatch(None, NOW, counted=False)
    assert not runs.skip(builders.tombstone(rewound), rewound, plan)
    assert read(stores, task).state == replace(paused.state)


def test_an_execution_is_asked_for_with_the_same_bytes_each_time() -> None:
    """SPEC section 6, launch: the same name with other input would be another execution."""
    task = builders.task()
    order = LaunchOrder(slot=builders.slot(task), payload=builders.payload(task))
    assert execution_input(order, 300) == execution_input(order, 300)
