"""What workers and workflows write in memory holds on rows that nobody keeps in step.

Each of the conditions is the one of the deployed workflow and of the worker, dropped by nobody.
"""

from dataclasses import replace
from typing import Any

import pytest

import builders
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.retry import FailedAttempt
from nightshift.domain.model.run import Run
from nightshift_toolkit.memory import MemoryStore

DUE = builders.NOW + builders.HOUR
FIRST = FailedAttempt(attempt=1, reason="nonzero_exit", exit_code=3, finished_at=DUE)
SECOND = FailedAttempt(attempt=2, reason="worker_lost", exit_code=None, finished_at=DUE)


class Ward:
    """A store with one run past its fence."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        task = builders.task()
        self.store.tasks.create(task, builders.payload(task), max_tasks=9)
        self.slot = builders.admission(task).slot
        self.store.runs.admit(builders.admission(task))
        assert self.store.pass_fence(self.slot.run_id, self.slot.nonce, DUE)
        self.work = self.store.work

    @property
    def run(self) -> Run:
        """The record."""
        run = self.store.runs.get(self.slot.task_id, self.slot.run_id)
        assert run is not None
        return run

    def change(self, **fields: Any) -> None:
        """Write on the record, whoever should."""
        row = self.store._state.runs[self.slot.task_id][self.slot.run_id]
        row.run = replace(row.run, **fields)

    def wins(self, attempt: int, nonce: str | None = None) -> bool:
        """Whether a worker gets an attempt."""
        return self.work.win(self.slot.run_id, nonce or self.slot.nonce, attempt)

    def records(self, failed: FailedAttempt, nonce: str | None = None) -> bool:
        """Whether an attempt is recorded."""
        return self.work.record_attempt(self.slot.run_id, nonce or self.slot.nonce, failed)

    def notes(self, attempt: int = 1, nonce: str | None = None, *, spent: bool = False) -> bool:
        """Whether a pause is noted."""
        before, run_id = self.run, self.slot.run_id
        self.work.note_pause(run_id, nonce or self.slot.nonce, attempt, DUE, 7, spent=spent)
        return self.run != before


@pytest.fixture
def ward() -> Ward:
    return Ward()


def test_every_attempt_is_won_once_and_in_order(ward: Ward) -> None:
    """A later attempt than any so far."""
    assert [ward.wins(1), ward.wins(1), ward.wins(2), ward.wins(1)] == [True, False, True, False]


@pytest.mark.parametrize("word", [Ward.wins, Ward.records])
def test_nothing_is_won_or_recorded_of_a_run_that_is_over_or_another(ward: Ward, word: Any) -> None:
    """Running, under this nonce."""
    what: Any = {Ward.wins: 2, Ward.records: FIRST}[word]
    ward.wins(1)
    before = ward.run
    assert not word(ward, what, "another")
    ward.change(status=RunStatus.FAILED)
    assert not word(ward, what)
    assert ward.run == replace(before, status=RunStatus.FAILED)


def test_an_attempt_is_recorded_once_however_often_it_is_sent(ward: Ward) -> None:
    """At its place in the list."""
    assert not ward.records(FIRST)
    ward.wins(1)
    ward.change(paused_at=DUE)
    assert ward.records(FIRST)
    assert ward.records(FIRST)
    assert (ward.run.attempt, ward.run.attempts, ward.run.paused_at) == (2, (FIRST,), None)
    assert not ward.records(SECOND)
    ward.wins(2)
    assert not ward.records(FIRST)
    assert ward.records(SECOND)
    assert ward.run.attempts == (FIRST, SECOND)
    ward.change(attempt=9)
    assert not ward.records(SECOND)


def test_a_pause_is_noted_by_the_worker_of_the_attempt_alone(ward: Ward) -> None:
    """A run that is over, or at another attempt, stays as it is."""
    assert not ward.notes()
    ward.wins(1)
    assert not ward.notes(nonce="another")
    assert ward.notes()
    ward.records(FIRST)
    assert not ward.notes()
    ward.wins(2)
    assert not ward.notes()
    assert ward.notes(2)
    ward.wins(3)
    ward.change(status=RunStatus.SUCCESS, attempt=3)
    assert not ward.notes(3)


def test_a_wish_for_a_pause_goes_when_none_is_left(ward: Ward) -> None:
    """Otherwise it is its owner's."""
    ward.wins(1)
    ward.change(pause_requested=True)
    ward.notes()
    assert ward.work.pause_wanted(ward.slot.run_id)
    ward.notes(spent=True)
    assert not ward.work.pause_wanted(ward.slot.run_id)
