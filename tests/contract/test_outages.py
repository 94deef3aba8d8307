"""What every port says when the store does not answer, or when its answer is lost."""

from collections.abc import Callable

import pytest

import builders
from builders import ALICE, HOUR, MINUTE, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, completion, created, read
from nightshift.domain.errors import PersistenceUncertain, StorageUnavailable
from nightshift.domain.exchanged import AdmissionAnswer, Thread
from nightshift.domain.model.enums import RunStatus

DUE = NOW + HOUR
TASK = builders.task()
SLOT = builders.slot(TASK)
PLAN = TASK.plan_after_dispatch(None, DUE, counted=False)
THREAD = Thread("talk", ALICE, NOW)
NOTICE = builders.outgoing(SLOT.run_id)

Call = Callable[[Stores], object]
CALLS: dict[str, Call] = {
    "tasks.create": lambda stores: created(stores, TASK),
    "tasks.get": lambda stores: stores.tasks.get(ref(TASK)),
    "tasks.list": lambda stores: stores.tasks.list(ALICE, limit=1),
    "tasks.payload": lambda stores: stores.tasks.payload(ref(TASK), 1),
    "tasks.replace": lambda stores: stores.tasks.replace(TASK, TASK),
    "tasks.switch": lambda stores: stores.tasks.switch(TASK, TASK.paused(None, NOW)),
    "tasks.delete": lambda stores: stores.tasks.delete(TASK, NOW),
    "tasks.due": lambda stores: list(stores.tasks.due(NOW).hints),
    "tasks.read": lambda stores: stores.tasks.read([ref(TASK)]),
    "tasks.advance": lambda stores: stores.tasks.advance(TASK, PLAN),
    "tasks.back_off": lambda stores: stores.tasks.back_off(TASK, DUE),
    "tasks.block": lambda stores: stores.tasks.block(ref(TASK), "why", due_at=DUE),
    "runs.admit": lambda stores: stores.runs.admit(builders.admission(TASK)),
    "runs.skip": lambda stores: stores.runs.skip(builders.tombstone(TASK), TASK, PLAN),
    "runs.slots": lambda stores: stores.runs.slots(),
    "runs.slot": lambda stores: stores.runs.slot(TASK.id, 0),
    "runs.take_lease": lambda stores: stores.runs.take_lease(SLOT, DUE),
    "runs.request_cancel": lambda stores: stores.runs.request_cancel(SLOT),
    "runs.request_pause": lambda stores: stores.runs.request_pause(
        builders.admission(TASK).run, wanted=True
    ),
    "runs.complete": lambda stores: stores.runs.complete(completion(SLOT)),
    "runs.get": lambda stores: stores.runs.get(TASK.id, SLOT.run_id),
    "runs.list": lambda stores: stores.runs.list(TASK.id, limit=1, keep=1),
    "runs.prune": lambda stores: stores.runs.prune(TASK.id, 1),
    "threads.register": lambda stores: stores.threads.register(THREAD),
    "threads.get": lambda stores: stores.threads.get(ALICE, "talk"),
    "outbox.due": lambda stores: stores.outbox.due(NOW, limit=1),
    "outbox.claim": lambda stores: stores.outbox.claim(NOTICE, DUE),
    "outbox.note_done": lambda stores: stores.outbox.note_done(NOTICE, ["bus"]),
    "outbox.settle": lambda stores: stores.outbox.settle(NOTICE),
    "policies.current": lambda stores: stores.policies.current(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_store_that_does_not_answer_is_unavailable(stores: Stores, name: str) -> None:
    """Ports: StorageUnavailable, from every method, and nothing else."""
    stores.unplug()
    with pytest.raises(StorageUnavailable):
        CALLS[name](stores)


def test_a_task_created_without_an_answer_may_exist(stores: Stores) -> None:
    """Ports: PersistenceUncertain; reading tells."""
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        created(stores, TASK)
    assert read(stores, TASK) == TASK


def test_an_admission_without_an_answer_is_settled_by_asking_again(stores: Stores) -> None:
    """B48: the same bytes again find their own nonce."""
    created(stores, TASK)
    admission = builders.admission(TASK)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.runs.admit(admission)
    assert stores.runs.admit(admission).answer is AdmissionAnswer.ADMITTED
    assert read(stores, TASK).state.run_count == 1


def test_a_completion_without_an_answer_is_settled_by_sending_it_again(stores: Stores) -> None:
    """K6: at any time, any number of times."""
    created(stores, TASK)
    held = admitted(stores, TASK)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.runs.complete(completion(held))
    stores.runs.complete(completion(held))
    run = stores.runs.get(TASK.id, held.run_id)
    assert run is not None
    assert run.status is RunStatus.SUCCESS
    assert stores.held_keys() == {}
    assert read(stores, TASK).state.last_status == "success"


@pytest.mark.parametrize("name", ["replace", "pause", "advance", "back_off", "block", "skip"])
def test_a_change_without_an_answer_is_uncertain_and_happened(stores: Stores, name: str) -> None:
    """Ports: PersistenceUncertain when a write may have happened."""
    created(stores, TASK)
    calls = {
        "replace": lambda: stores.tasks.replace(TASK, TASK.paused("why", NOW)),
        "pause": lambda: stores.tasks.switch(TASK, TASK.paused("why", NOW)),
        "advance": lambda: stores.tasks.advance(TASK, PLAN),
        "back_off": lambda: stores.tasks.back_off(TASK, DUE + MINUTE),
        "block": lambda: stores.tasks.block(ref(TASK), "why", due_at=DUE),
        "skip": lambda: stores.runs.skip(builders.tombstone(TASK), TASK, PLAN),
    }
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        calls[name]()
    assert read(stores, TASK) != TASK


def test_a_lease_or_cancellation_without_an_answer_is_uncertain(stores: Stores) -> None:
    """Ports: PersistenceUncertain; both can be asked for again."""
    created(stores, TASK)
    held = admitted(stores, TASK)
    with stores.losing_answers():
        with pytest.raises(PersistenceUncertain):
            stores.runs.take_lease(held, DUE + HOUR)
        with pytest.raises(PersistenceUncertain):
            stores.runs.request_cancel(held)
    (slot,) = stores.runs.slots()
    assert (slot.lease_until, slot.cancel_requested) == (DUE + HOUR, True)


def test_a_deletion_without_an_answer_may_have_happened(stores: Stores) -> None:
    """Ports: PersistenceUncertain; deleting again finds nothing."""
    created(stores, TASK)
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.tasks.delete(TASK, NOW)
    assert stores.tasks.get(ref(TASK)) is None
    assert not stores.tasks.delete(TASK, NOW)


def test_a_registration_without_an_answer_may_have_happened(stores: Stores) -> None:
    """Ports: PersistenceUncertain; registering again returns what was registered."""
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.threads.register(THREAD)
    assert stores.threads.register(Thread("talk", ALICE, DUE)) == THREAD
