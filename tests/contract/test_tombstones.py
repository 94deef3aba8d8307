"""`RunStore.skip`: a tombstone and the advance of its task are one step (P13)."""

import pytest

import builders
from builders import HOUR, NOW, ref
from contract.backends import Stores
from contract.steps import admitted, created, ended, read
from nightshift.domain.model.enums import Outcome, RunStatus, SkipReason, TaskStatus

DUE = NOW + HOUR


@pytest.mark.parametrize("reason", list(SkipReason))
def test_a_skip_writes_the_tombstone_and_advances_the_task(
    stores: Stores, reason: SkipReason
) -> None:
    """RunStore.skip, P13, B49: one record, next in the future, no key, no count."""
    task = created(stores)
    tombstone = builders.tombstone(task, reason)
    plan = task.plan_after_dispatch(None, DUE, counted=False)
    assert stores.runs.skip(tombstone, task, plan)
    assert stores.runs.get(task.id, tombstone.id) == tombstone
    after = read(stores, task)
    assert after.state.next_run_at == DUE + HOUR
    assert (after.state.run_count, after.state.scheduled_run_count) == (0, 0)
    assert after.state.active_run_id is None
    assert stores.held_keys() == {}


def test_a_skip_leaves_what_is_shown_of_the_last_run(stores: Stores) -> None:
    """RunStore.skip: that nothing ran is no reason to say that something did (B73)."""
    task = created(stores)
    held = admitted(stores, task)
    ended(stores, held, outcome=Outcome.FAILED, error="it broke", started_at=DUE)
    before = read(stores, task)
    plan = before.plan_after_dispatch(None, before.state.next_run_at or DUE, counted=False)
    assert stores.runs.skip(builders.tombstone(before), before, plan)
    state = read(stores, task).state
    assert (state.last_run_id, state.last_status) == (held.run_id, "failed")
    assert (state.last_run_at, state.last_thread_id) == (DUE, held.thread_id)
    assert state.last_error == "it broke"


def test_a_skipped_once_task_fails_with_the_reason(stores: Stores) -> None:
    """RunStore.skip, P13, B72: its only chance is gone, and it says why."""
    task = created(stores, builders.task(builders.once(DUE)))
    plan = task.plan_after_dispatch(TaskStatus.FAILED, DUE, counted=False)
    assert stores.runs.skip(builders.tombstone(task, SkipReason.TOO_LATE), task, plan)
    state = read(stores, task).state
    assert state.status is TaskStatus.FAILED
    assert state.last_error is not None
    assert "too_late" in state.last_error


def test_a_skip_of_a_task_that_changed_writes_nothing(stores: Stores) -> None:
    """RunStore.skip: False."""
    task = created(stores)
    paused = task.paused(None, NOW)
    assert stores.tasks.switch(task, paused)
    tombstone = builders.tombstone(task)
    assert not stores.runs.skip(tombstone, task, task.plan_after_dispatch(None, DUE, counted=False))
    assert read(stores, task) == paused
    assert stores.runs.get(task.id, tombstone.id) is None
    assert stores.tasks.delete(paused, NOW)
    assert not stores.runs.skip(tombstone, task, task.plan_after_dispatch(None, DUE, counted=False))
    assert stores.tasks.get(ref(task)) is None


def test_a_skip_of_a_recorded_occurrence_only_advances(stores: Stores) -> None:
    """RunStore.skip: the first record stands; P6, exactly one record."""
    task = created(stores)
    held = admitted(stores, task)
    ended(stores, held, outcome=Outcome.FAILED, error="it broke")
    done = read(stores, task)
    assert stores.tasks.advance(done, task.plan(TaskStatus.ENABLED, NOW))
    rewound = read(stores, task)
    plan = rewound.plan_after_dispatch(None, DUE, counted=False)
    assert stores.runs.skip(builders.tombstone(rewound), rewound, plan)
    run = stores.runs.get(task.id, held.run_id)
    assert run is not None
    assert run.status is RunStatus.FAILED
    assert read(stores, task).state == done.state
