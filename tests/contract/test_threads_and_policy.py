"""`ThreadStore` and `PolicySource`."""

from dataclasses import fields, replace

import pytest

import builders
from builders import ALICE, BOB, HOUR, NOW
from contract.backends import Stores
from nightshift.domain.errors import InvalidCursor
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.policy import Policy


def test_a_registered_thread_exists(stores: Stores) -> None:
    """ThreadStore.register and get."""
    thread = Thread("Support_1-a", ALICE, NOW)
    assert stores.threads.get(ALICE, "Support_1-a") is None
    assert stores.threads.register(thread) == thread
    assert stores.threads.get(ALICE, "Support_1-a") == thread


def test_registering_again_returns_the_thread_as_first_registered(stores: Stores) -> None:
    """ThreadStore.register."""
    first = stores.threads.register(Thread("talk", ALICE, NOW))
    assert stores.threads.register(Thread("talk", ALICE, NOW + HOUR)) == first
    assert stores.threads.get(ALICE, "talk") == first


def test_a_thread_belongs_to_one_user(stores: Stores) -> None:
    """ThreadStore.get, P8: the same name of another user is another thread."""
    stores.threads.register(Thread("talk", ALICE, NOW))
    assert stores.threads.get(BOB, "talk") is None
    theirs = stores.threads.register(Thread("talk", BOB, NOW + HOUR))
    assert theirs == Thread("talk", BOB, NOW + HOUR)


def test_the_policy_is_the_deployed_one_until_it_is_changed(stores: Stores) -> None:
    """PolicySource.current."""
    assert stores.policies.current() == builders.policy()


def test_a_changed_policy_is_in_force_at_once(stores: Stores) -> None:
    """PolicySource.current, P14: the kill switch needs no deploy."""
    stores.set_policy(max_concurrent_runs=0, allow_shell_actions=False)
    current = stores.policies.current()
    assert (current.max_concurrent_runs, current.allow_shell_actions) == (0, False)
    kept = [
        entry.name
        for entry in fields(Policy)
        if getattr(current, entry.name) == getattr(builders.policy(), entry.name)
    ]
    assert len(kept) == len(fields(Policy)) - 2


def test_a_change_says_who_made_it_and_follows_the_one_that_was_seen(stores: Stores) -> None:
    """PolicySource.in_force and change, P19: of two changes of one state only one is made."""
    assert stores.policies.in_force() == PolicyInForce(builders.policy())
    stop = Override(
        settings={"max_concurrent_runs": 0},
        revision=1,
        changed_by="operator",
        changed_at=NOW,
        reason="Maintenance.",
    )
    assert stores.policies.change(stop)
    assert not stores.policies.change(replace(stop, settings={}))
    assert not stores.policies.change(replace(stop, settings={}, revision=3))
    assert stores.policies.in_force() == PolicyInForce(builders.policy(), stop)
    assert stores.policies.current().max_concurrent_runs == 0
    back = replace(stop, settings={}, revision=2, reason=None)
    assert stores.policies.change(back)
    assert stores.policies.in_force() == PolicyInForce(builders.policy(), back)
    assert stores.policies.current() == builders.policy()


def test_the_log_of_the_limits_has_every_change_that_was_made_newest_first(stores: Stores) -> None:
    """PolicySource.changes: page by page, and nothing of a change that was refused."""
    assert stores.policies.changes(limit=2).items == []
    made = [
        Override(
            settings={"max_concurrent_runs": number},
            revision=number,
            changed_by="operator",
            changed_at=NOW + number * HOUR,
            reason=f"Reason {number}.",
        )
        for number in (1, 2, 3)
    ]
    assert all(stores.policies.change(override) for override in made)
    assert not stores.policies.change(made[1])
    first = stores.policies.changes(limit=2)
    assert first.items == [made[2], made[1]]
    assert first.next is not None
    rest = stores.policies.changes(limit=2, after=first.next)
    assert (rest.items, rest.next) == ([made[0]], None)
    with pytest.raises(InvalidCursor):
        stores.policies.changes(limit=2, after="nonsense")
