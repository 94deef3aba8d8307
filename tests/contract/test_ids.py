"""`Ids`: fresh names."""

import re
from datetime import timedelta

import pytest

from builders import NOW
from nightshift.adapters.ids import RandomIds
from nightshift.domain.model.run_ids import manual_run_id
from nightshift.domain.ports import Ids
from nightshift_toolkit.memory import CountingIds


@pytest.fixture(params=[CountingIds, RandomIds])
def ids(request: pytest.FixtureRequest) -> Ids:
    """One implementation."""
    made: Ids = request.param()
    return made


def test_task_ids_are_unique_legal_and_short(ids: Ids) -> None:
    """Ids.task_id: `[a-z0-9_]` only, at most 40 characters."""
    names = [ids.task_id(NOW) for _ in range(500)]
    assert len(set(names)) == 500
    assert all(re.fullmatch(r"tsk_[a-z0-9]{26}", name, re.ASCII) for name in names)


def test_task_ids_sort_by_time(ids: Ids) -> None:
    """Ids.task_id: to the millisecond, over centuries."""
    instants = [
        NOW - timedelta(days=20_000),
        NOW,
        NOW + timedelta(milliseconds=1),
        NOW + timedelta(seconds=1),
        NOW + timedelta(days=36_500),
    ]
    names = [ids.task_id(instant) for instant in instants]
    assert names == sorted(names)


def test_nonces_are_unique(ids: Ids) -> None:
    """Ids.nonce."""
    assert len({ids.nonce() for _ in range(500)}) == 500


def test_suffixes_are_unique_and_fit_a_manual_run_id(ids: Ids) -> None:
    """Ids.suffix, K2: a legal execution name of at most 80 characters."""
    names = {manual_run_id(ids.task_id(NOW), NOW, ids.suffix()) for _ in range(500)}
    assert len({name.rpartition("-m")[2] for name in names}) == 500
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name, re.ASCII) for name in names)


def test_a_real_nonce_cannot_be_guessed() -> None:
    """Ids.nonce: at least 128 random bits, none of them from a counter."""
    nonces = [RandomIds().nonce() for _ in range(200)]
    assert min(len(nonce) for nonce in nonces) >= 26
    assert all(len({nonce[place] for nonce in nonces}) > 1 for place in range(26))
