"""The operator's limits (SPEC section 9)."""

from dataclasses import fields

import pytest

from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.policy import Policy

RANGES = [
    ("max_concurrent_runs", 0, 5000),
    ("launch_lease_seconds", 5, 3600),
    ("verify_after_seconds", 1, 86_400),
    ("worker_silence_seconds", 30, 3600),
    ("min_once_delay_seconds", 1, 86_400),
    ("min_every_seconds", 1, 86_400),
    ("min_interval_seconds", 1, 86_400),
    ("max_history_entries_per_task", 1, 1000),
    ("max_tasks_per_user", 0, 1_000_000),
]


def limits(**settings: int) -> Policy:
    """Limits with a deadline that fits any lease."""
    lease = settings.get("launch_lease_seconds", 5)
    return Policy(**{"launch_deadline_seconds": 3 * lease + 300, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "lowest", "highest"), RANGES)
def test_a_setting_is_accepted_at_both_ends_of_its_range(
    name: str, lowest: int, highest: int
) -> None:
    """SPEC section 9."""
    for value in (lowest, highest):
        assert getattr(limits(**{name: value}), name) == value


@pytest.mark.parametrize(("name", "lowest", "highest"), RANGES)
def test_a_setting_outside_its_range_is_refused_by_name(
    name: str, lowest: int, highest: int
) -> None:
    """SPEC section 9: at start-up, not in the middle of a tick."""
    for value in (lowest - 1, highest + 1):
        with pytest.raises(InvalidRequest) as refusal:
            limits(**{name: value})
        assert refusal.value.field == name


@pytest.mark.parametrize("lease", [5, 60, 3600])
def test_the_launch_deadline_leaves_room_for_three_leases_and_clocks_that_differ(
    lease: int,
) -> None:
    """SPEC section 9: at least 3 leases + 300 s."""
    shortest = 3 * lease + 300
    Policy(launch_lease_seconds=lease, launch_deadline_seconds=shortest)
    with pytest.raises(InvalidRequest) as refusal:
        Policy(launch_lease_seconds=lease, launch_deadline_seconds=shortest - 1)
    assert refusal.value.field == "launch_deadline_seconds"


def test_the_default_timeout_fits_the_longest_one() -> None:
    """SPEC section 9."""
    Policy(default_timeout_seconds=600, max_timeout_seconds=600)
    with pytest.raises(InvalidRequest) as refusal:
        Policy(default_timeout_seconds=601, max_timeout_seconds=600)
    assert refusal.value.field == "default_timeout_seconds"


def test_the_domains_own_defaults_are_loose() -> None:
    """SPEC section 9: only the composition root brings production's in."""
    loose = Policy()
    assert loose.max_concurrent_runs == 5000
    assert loose.min_once_delay_seconds == 1
    assert loose.min_every_seconds == 1
    assert loose.max_history_entries_per_task == 1000
    assert loose.allow_shell_actions


def test_a_policy_cannot_be_changed_in_place() -> None:
    """HOUSE: one immutable value."""
    with pytest.raises(AttributeError):
        setattr(Policy(), fields(Policy)[0].name, 1)
