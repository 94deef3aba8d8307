"""The four status rules (SPEC section 3); the order of the tests is part of each rule.

A recurring task's status is never changed by a dispatch, so a pause that comes in between is not
undone: None means unchanged. A `once` task is one whose run consumes it, whoever triggered it.
"""

from collections.abc import Mapping

from nightshift.domain.model.enums import Outcome, TaskStatus, Trigger

_ONCE_AFTER_COMPLETION: Mapping[Outcome, TaskStatus] = {
    Outcome.SUCCESS: TaskStatus.COMPLETED,
    Outcome.INTERRUPTED: TaskStatus.CANCELLED,
    Outcome.FAILED: TaskStatus.FAILED,
}


def status_after_launch(trigger: Trigger, *, once: bool) -> TaskStatus | None:  # noqa: ARG001
    """A `once` task is running from its admission on."""
    return TaskStatus.RUNNING if once else None


def status_after_failure(trigger: Trigger, *, once: bool, before: TaskStatus) -> TaskStatus | None:
    """After a refused launch: by hand, a `once` is as before the admission; by the clock, failed.

    Args:
        trigger: what asked for the run.
        once: whether the run consumes its task.
        before: the status that the admission overwrote.
    """
    if trigger is Trigger.MANUAL:
        return before if once else None
    return TaskStatus.FAILED if once else None


def status_after_skip(*, once: bool) -> TaskStatus | None:
    """A skipped `once` has lost its only chance."""
    return TaskStatus.FAILED if once else None


def status_after_completion(outcome: Outcome, *, once: bool) -> TaskStatus | None:
    """A `once` ends as its run did: a cancelled one is cancelled, not failed."""
    return _ONCE_AFTER_COMPLETION[outcome] if once else None
