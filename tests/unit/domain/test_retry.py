"""Retry inside a run: what a task may ask for, and what it comes to."""

from dataclasses import replace
from typing import Any

import pytest

import builders
from builders import NOW
from nightshift.domain.commands import UNSET, EditTask
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.enums import FailureClass, RunStatus
from nightshift.domain.model.retry import Retry, retry_from_dict, retry_to_dict
from nightshift.domain.model.run import Run
from nightshift.domain.services.definition import edited_definition, new_definition


@pytest.mark.parametrize(
    ("retry", "waits"),
    [
        (Retry(max_attempts=1), ()),
        (Retry(max_attempts=2, backoff_seconds=7), (7,)),
        (Retry(max_attempts=5, backoff_seconds=30, max_backoff_seconds=100), (30, 60, 100, 100)),
        (Retry(max_attempts=4, backoff_seconds=10, backoff_rate=1), (10, 10, 10)),
        (Retry(max_attempts=3, backoff_seconds=3, backoff_rate=1.5), (3, 4)),
    ],
)
def test_waits_grow_by_the_rate_up_to_their_limit(retry: Retry, waits: tuple[int, ...]) -> None:
    """SPEC section 8: whole seconds, one between every two attempts."""
    assert retry.waits() == waits


def test_a_worker_that_was_stopped_counts_as_lost() -> None:
    """SPEC section 8: neither says anything about the work."""
    retry = Retry(max_attempts=2, on=(FailureClass.TIMEOUT, FailureClass.WORKER_LOST))
    assert retry.reasons() == ("timeout", "worker_lost", "worker_stopped")


@pytest.mark.parametrize(
    "fields",
    [
        {"max_attempts": 0},
        {"max_attempts": 11},
        {"backoff_seconds": 0},
        {"backoff_seconds": 86_401, "max_backoff_seconds": 86_400},
        {"backoff_rate": 0.9},
        {"backoff_rate": 10.1},
        {"backoff_rate": float("nan")},
        {"max_backoff_seconds": 29},
        {"on": ()},
        {"on": (FailureClass.ERROR, FailureClass.ERROR)},
    ],
)
def test_what_is_out_of_range_or_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    """InvalidRequest, which names the field."""
    with pytest.raises(InvalidRequest) as refusal:
        Retry(**{"max_attempts": 3, **fields})
    assert refusal.value.field == "retry"


def test_a_retry_is_stored_and_read_back_as_it_is() -> None:
    """Also that there is none."""
    retry = Retry(max_attempts=4, backoff_rate=1.25, on=(FailureClass.ERROR,))
    for value in (retry, None):
        assert retry_from_dict(retry_to_dict(value)) == value


def test_attempts_that_outlast_the_deployed_workflow_are_refused_with_the_numbers() -> None:
    """SPEC section 8: each may take silence, limit and grace; the waits come on top."""
    limits = builders.policy(workflow_timeout_seconds=3000, worker_silence_seconds=100)
    retry = Retry(max_attempts=3, backoff_seconds=30)
    fitting = (3000 - 300 - 90) // 3 - 100 - 120
    command = builders.create(retry=retry, timeout_seconds=fitting)
    assert new_definition(command, limits, NOW).retry == retry
    with pytest.raises(InvalidRequest, match=r"3 attempts of up to 651 s .* 3003 s; .* 3000 s"):
        new_definition(replace(command, timeout_seconds=fitting + 1), limits, NOW)


def test_a_run_is_at_work_when_a_worker_has_its_latest_attempt() -> None:
    """Between two attempts it runs, and nobody works on it."""
    task = builders.task()
    run = Run.admitted(task, builders.slot(task), None)
    assert not run.at_work
    running = replace(run, status=RunStatus.RUNNING)
    assert not running.at_work
    assert replace(running, picked_up_attempt=1).at_work
    assert not replace(running, attempt=2, picked_up_attempt=1).at_work
    assert not replace(run, status=RunStatus.FAILED, picked_up_attempt=1).at_work


def test_an_edit_changes_the_retry_leaves_it_or_takes_it_away() -> None:
    """P2: and a longer limit must still fit."""
    retry = Retry(max_attempts=3)
    task = builders.task(retry=retry)
    edit = EditTask(user_id=task.user_id, task_id=task.id)
    limits = builders.policy(workflow_timeout_seconds=3000)
    for sent, kept in (
        (UNSET, retry),
        (None, None),
        (Retry(max_attempts=2), Retry(max_attempts=2)),
    ):
        assert edited_definition(task, replace(edit, retry=sent), limits, NOW).retry == kept
    with pytest.raises(InvalidRequest):
        edited_definition(task, replace(edit, timeout_seconds=1000), limits, NOW)
