"""Run ids and thread ids: made of what they name, so that repeating a step repeats them (K2)."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import NOW, SECOND
from nightshift.domain.model.run_ids import (
    fresh_thread_id,
    manual_run_id,
    occurrence_run_id,
    task_id_of,
)
from nightshift.domain.ports import Ids
from nightshift_toolkit.memory import CountingIds

LEGAL_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
MILLISECOND = timedelta(milliseconds=1)
INSTANTS = st.datetimes(
    datetime(1970, 1, 1),  # noqa: DTZ001 - hypothesis wants bounds without a zone
    datetime(9999, 12, 31),  # noqa: DTZ001
    timezones=st.just(UTC),
).map(lambda instant: instant.replace(microsecond=instant.microsecond // 1000 * 1000))


@given(INSTANTS)
def test_a_run_id_is_a_legal_execution_name(instant: datetime) -> None:
    """K2, B94: legal characters, at most 80, no colon, no user text."""
    ids = CountingIds()
    task_id = ids.task_id(NOW)
    for run_id in (
        occurrence_run_id(task_id, instant),
        manual_run_id(task_id, instant, ids.suffix()),
    ):
        assert LEGAL_NAME.fullmatch(run_id)
        assert task_id_of(run_id) == task_id


@given(INSTANTS)
def test_an_occurrence_has_one_name_for_ever(instant: datetime) -> None:
    """K2: made of the task and its nominal instant alone."""
    again = datetime.fromisoformat(instant.isoformat())
    assert occurrence_run_id("tsk_a", instant) == occurrence_run_id("tsk_a", again)


@given(st.lists(INSTANTS, unique=True, min_size=2))
def test_two_occurrences_never_share_a_name_and_sort_by_time(instants: list[datetime]) -> None:
    """K2, B94: distinct to the millisecond; newest first by key."""
    in_time = sorted(instants)
    names = [occurrence_run_id("tsk_a", instant) for instant in in_time]
    assert len(set(names)) == len(names)
    assert names == sorted(names)


def test_names_differ_by_task_and_by_millisecond() -> None:
    """K2."""
    names = {
        occurrence_run_id(task_id, NOW + delay)
        for task_id in ("tsk_a", "tsk_b")
        for delay in (0 * SECOND, MILLISECOND, SECOND)
    }
    assert len(names) == 6


def test_manual_runs_sort_among_the_occurrences_by_time() -> None:
    """K2: a manual run at an occurrence's own instant is another run, and comes after it."""
    ids = CountingIds()
    in_time = [
        occurrence_run_id("tsk_a", NOW - MILLISECOND),
        occurrence_run_id("tsk_a", NOW),
        manual_run_id("tsk_a", NOW, ids.suffix()),
        manual_run_id("tsk_a", NOW + MILLISECOND, ids.suffix()),
        occurrence_run_id("tsk_a", NOW + SECOND),
    ]
    assert all(earlier < later for earlier, later in pairwise(in_time))


def test_two_manual_runs_of_one_instant_are_two_runs() -> None:
    """K2: the suffix makes them unique."""
    ids = CountingIds()
    names = {manual_run_id("tsk_a", NOW, ids.suffix()) for _ in range(100)}
    assert len(names) == 100


def test_a_fresh_thread_is_named_by_its_run() -> None:
    """K2: record and execution name the same thread, however often the step is repeated."""
    run_id = occurrence_run_id(builders.task_id(1), NOW)
    assert fresh_thread_id(run_id) == fresh_thread_id(run_id)
    assert fresh_thread_id(run_id) != fresh_thread_id(run_id + "x")
    assert re.fullmatch(r"thr_[a-z0-9]{1,60}", fresh_thread_id(run_id))


@pytest.mark.parametrize("ids", [CountingIds()])
def test_task_ids_are_unique_sortable_and_short(ids: Ids) -> None:
    """Ids.task_id."""
    names = [ids.task_id(NOW + number // 3 * MILLISECOND) for number in range(99)]
    assert len(set(names)) == 99
    assert all(re.fullmatch(r"tsk_[a-z0-9]{26}", name) for name in names)
    by_instant = [name[:14] for name in names]
    assert by_instant == sorted(by_instant)
