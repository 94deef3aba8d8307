"""Each function's role against the calls that its services really make, on the real engine.

No local engine refuses what a role does not grant, so that a missing grant would show on AWS alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import builders
import stack
from listeners import Listener, refusing
from nightshift.domain.commands import (
    CancelRun,
    DeleteTask,
    EditTask,
    ExplainTask,
    PauseTask,
    RegisterThread,
    ResumeTask,
)
from nightshift.domain.errors import ActiveRun
from nightshift.domain.model.enums import ContextMode, Outcome
from nightshift.domain.model.notify import NoticeKind, Notify
from nightshift.domain.services.announcing import Announcing

if TYPE_CHECKING:
    from nightshift.domain.model.run import Run
    from real import RealWorld

ALICE = builders.ALICE
IN_TRANSACTIONS = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}


@contextmanager
def used(real: RealWorld) -> Iterator[set[str]]:
    """The actions that IAM would ask for; a transaction is asked for as what is in it."""
    actions: set[str] = set()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name == "TransactWriteItems":
            kinds = {kind for item in params["TransactItems"] for kind in item}
            actions.update(IN_TRANSACTIONS[kind] for kind in kinds)
        else:
            service = (
                "states" if model.service_model.service_name == "stepfunctions" else "dynamodb"
            )
            actions.add(f"{service}:{model.name}")

    for client in (real.dynamodb, real.stepfunctions):
        client.meta.events.register("provide-client-params.*.*", note, "actions-used")
    try:
        yield actions
    finally:
        for client in (real.dynamodb, real.stepfunctions):
            client.meta.events.unregister("provide-client-params.*.*", unique_id="actions-used")


def granted(role: str) -> set[str]:
    """What the template lets a function do with the table and the executions."""
    policies = stack.resources("AWS::IAM::Role")[role]["Policies"]
    named: set[str] = set()
    for policy in policies:
        for statement in stack.statements(policy["PolicyDocument"]):
            actions = statement["Action"]
            named.update([actions] if isinstance(actions, str) else actions)
    return {action for action in named if action.startswith(("dynamodb:", "states:"))}


def due_run(real: RealWorld, **fields: Any) -> Run:
    """A run that the clock has started."""
    task = real.created(builders.create(**fields))
    real.pass_time(timedelta(hours=1))
    real.look()
    return real.history(task)[0]


def everything_the_api_does(real: RealWorld) -> None:
    """Every use case that a route calls."""
    manage = real.management
    real.threads.register_thread(RegisterThread(user_id=ALICE, thread_id="chat"), real.now)
    real.threads.get_thread(ALICE, "chat")
    reuse = {"context_mode": ContextMode.REUSE_THREAD, "thread_id": "chat"}
    task = real.created(builders.create(**reuse))
    manage.edit_task(EditTask(user_id=ALICE, task_id=task.id, title="Another title"), real.now)
    real.pausing.pause_task(PauseTask(user_id=ALICE, task_id=task.id), real.now)
    real.pausing.resume_task(ResumeTask(user_id=ALICE, task_id=task.id), real.now)
    run = real.trigger(task)
    real.pass_time(timedelta(hours=1))
    with pytest.raises(ActiveRun):
        real.trigger(task)
    manage.list_tasks(ALICE, limit=10, after=None)
    manage.list_runs(ALICE, task.id, limit=10, after=None)
    manage.get_run(ALICE, task.id, run.id)
    real.explaining.explain_task(ExplainTask(user_id=ALICE, task_id=task.id), real.now)
    real.lifecycle.cancel_run(CancelRun(user_id=ALICE, task_id=task.id, run_id=run.id))
    real.end(run.id)
    manage.list_changes(ALICE, task.id, limit=10, after=None)
    manage.delete_task(DeleteTask(user_id=ALICE, task_id=task.id), real.now)


def everything_the_tick_does(real: RealWorld) -> None:
    """Dispatch, a skip, a recovered launch, a verified end and a repeated cancellation."""
    due_run(real)
    real.pass_time(timedelta(hours=1))
    real.look()
    [slot] = real.runs.slots()
    real.lifecycle.recover(slot, real.policy, real.now)
    assert real.runs.request_cancel(slot)
    real.look()
    real.look()
    assert not real.runs.slots()


def everything_the_completion_does(real: RealWorld, run: Run) -> None:
    """The end of a run, told twice, and the pruning of its history."""
    real.end(run.id)
    real.end(run.id, Outcome.FAILED)
    real.runs.prune(run.task_id, keep=1)


def test_api_role_grants_exactly_what_the_routes_use(real: RealWorld) -> None:
    """Least privilege, and nothing that fails on AWS alone."""
    with used(real) as actions:
        everything_the_api_does(real)
    assert actions == granted("ApiRole")


def test_tick_role_grants_exactly_what_the_clock_uses(real: RealWorld) -> None:
    """Least privilege, and nothing that fails on AWS alone."""
    real.look()
    with used(real) as actions:
        everything_the_tick_does(real)
    assert actions == granted("TickRole")


def test_completion_role_grants_exactly_what_the_end_of_a_run_uses(real: RealWorld) -> None:
    """Least privilege, and nothing that fails on AWS alone."""
    tells = Notify(webhook="https://hooks.example/mine", on=tuple(NoticeKind))
    task = real.created(builders.create(notify=tells))
    for _ in range(3):
        real.pass_time(timedelta(hours=1))
        real.look()
        real.end(real.history(task)[0].id)
    real.pass_time(timedelta(hours=1))
    real.look()
    run = real.history(task)[0]
    with used(real) as actions:
        everything_the_completion_does(real, run)
    assert actions == granted("CompletionRole")


def test_notices_function_may_do_what_it_does_and_no_more(real: RealWorld) -> None:
    """It claims, notes who has a notice, and forgets it."""
    run = due_run(real, notify=Notify(webhook="https://hooks.example/mine"))
    real.end(run.id, Outcome.FAILED)
    hook = Listener(behave=refusing())
    receivers = [hook, Listener("bus")]
    announcing = Announcing(outbox=real.outbox, receivers=receivers, observe=real.events.append)
    with used(real) as actions:
        announcing.deliver(real.now)
        hook.behave = lambda _: None
        announcing.deliver(real.now + timedelta(hours=1))
    assert actions == granted("NoticesRole")
    assert [len(receiver.took) for receiver in receivers] == [1, 1]
