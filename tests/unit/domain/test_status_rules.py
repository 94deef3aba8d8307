"""The four status rules, as full truth tables (SPEC section 3)."""

import pytest

from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus, Trigger
from nightshift.domain.model.status import (
    status_after_completion,
    status_after_failure,
    status_after_launch,
    status_after_skip,
)

UNCHANGED = None


@pytest.mark.parametrize(
    ("trigger", "once", "becomes"),
    [
        (Trigger.SCHEDULE, True, TaskStatus.RUNNING),
        (Trigger.MANUAL, True, TaskStatus.RUNNING),
        (Trigger.SCHEDULE, False, UNCHANGED),
        (Trigger.MANUAL, False, UNCHANGED),
    ],
)
def test_a_launch_makes_a_once_task_running_and_leaves_a_recurring_one(
    trigger: Trigger, once: bool, becomes: TaskStatus | None
) -> None:
    """SPEC section 3: also a paused `once` that is triggered by hand."""
    assert status_after_launch(trigger, once=once) is becomes


@pytest.mark.parametrize("before", list(TaskStatus))
@pytest.mark.parametrize(
    ("trigger", "once", "becomes"),
    [
        (Trigger.MANUAL, True, "before"),
        (Trigger.MANUAL, False, UNCHANGED),
        (Trigger.SCHEDULE, True, TaskStatus.FAILED),
        (Trigger.SCHEDULE, False, UNCHANGED),
    ],
)
def test_a_refused_launch_is_judged_by_its_trigger_first(
    trigger: Trigger, once: bool, becomes: TaskStatus | str | None, before: TaskStatus
) -> None:
    """SPEC section 3: manual comes before once, else a failed trigger eats the task's future."""
    expected = before if becomes == "before" else becomes
    assert status_after_failure(trigger, once=once, before=before) is expected


@pytest.mark.parametrize(("once", "becomes"), [(True, TaskStatus.FAILED), (False, UNCHANGED)])
def test_a_skip_fails_a_once_task_and_leaves_a_recurring_one(
    once: bool, becomes: TaskStatus | None
) -> None:
    """SPEC section 3, P13: a skipped `once` has lost its only chance."""
    assert status_after_skip(once=once) is becomes


@pytest.mark.parametrize(
    ("outcome", "once", "becomes"),
    [
        (Outcome.SUCCESS, True, TaskStatus.COMPLETED),
        (Outcome.INTERRUPTED, True, TaskStatus.CANCELLED),
        (Outcome.FAILED, True, TaskStatus.FAILED),
        (Outcome.SUCCESS, False, UNCHANGED),
        (Outcome.INTERRUPTED, False, UNCHANGED),
        (Outcome.FAILED, False, UNCHANGED),
    ],
)
def test_a_once_task_ends_as_its_run_did_and_a_recurring_one_goes_on(
    outcome: Outcome, once: bool, becomes: TaskStatus | None
) -> None:
    """SPEC section 3: a cancelled run is not a failed one."""
    assert status_after_completion(outcome, once=once) is becomes


def test_queued_and_running_are_the_active_states() -> None:
    """SPEC section 3, B50: in one place, so that look and arbiter cannot disagree."""
    active = {status for status in RunStatus if status.active}
    assert active == {RunStatus.QUEUED, RunStatus.RUNNING}


def test_every_outcome_is_a_terminal_run_status() -> None:
    """Outcome: each is also the run's terminal status."""
    assert all(not RunStatus(outcome.value).active for outcome in Outcome)
