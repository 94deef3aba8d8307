"""The contract of asking a run at work to stand still and to go on."""

from dataclasses import replace

from builders import HOUR, NOW
from contract.backends import Stores
from contract.steps import admitted, created, ended

DUE = NOW + HOUR


def test_a_pause_is_asked_of_a_run_at_work_whose_worker_can(stores: Stores) -> None:
    """RunStore.request_pause: and taken back again, any number of times."""
    held = admitted(stores, created(stores))
    run = stores.runs.get(held.task_id, held.run_id)
    assert run is not None
    assert not stores.runs.request_pause(run, wanted=True)
    stores.pass_fence(held, DUE)
    assert not stores.runs.request_pause(run, wanted=True)
    stores.pick_up(run)
    for wanted in (True, True, False, False, True):
        assert stores.runs.request_pause(run, wanted=wanted)
        asked = stores.runs.get(held.task_id, held.run_id)
        assert asked is not None
        assert asked.pause_requested is wanted


def test_a_run_that_is_over_is_not_asked_to_pause(stores: Stores) -> None:
    """RunStore.complete: nor is it paused."""
    held = admitted(stores, created(stores))
    stores.pass_fence(held, DUE)
    run = stores.runs.get(held.task_id, held.run_id)
    assert run is not None
    stores.pick_up(run)
    assert stores.runs.request_pause(run, wanted=True)
    stores.pause(run, DUE)
    paused = stores.runs.get(held.task_id, held.run_id)
    assert paused is not None
    assert (paused.paused_at, paused.pause_requested) == (DUE, True)
    ended(stores, held)
    over = stores.runs.get(held.task_id, held.run_id)
    assert over is not None
    assert (over.paused_at, over.pause_requested) == (None, False)


def test_a_pause_is_not_asked_of_a_run_that_is_over_or_was_admitted_anew(stores: Stores) -> None:
    """RunStore.request_pause: what ended stays as it ended."""
    held = admitted(stores, created(stores))
    stores.pass_fence(held, DUE)
    run = stores.runs.get(held.task_id, held.run_id)
    assert run is not None
    stores.pick_up(run)
    assert not stores.runs.request_pause(replace(run, nonce="another"), wanted=True)
    ended(stores, held)
    over = stores.runs.get(held.task_id, held.run_id)
    assert not stores.runs.request_pause(run, wanted=True)
    assert stores.runs.get(held.task_id, held.run_id) == over
