"""Jitter: a stable place between an occurrence and the next (SPEC section 5)."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.domain.model.spec import jitter_offset
from unit.schedule.expressions import STEADY
from unit.schedule.making import NOW


@settings(STEADY)
@given(
    task=st.text(max_size=40),
    jitter=st.integers(0, 10**6),
    gap=st.integers(1, 10**8),
)
def test_the_effective_time_never_reaches_the_next_occurrence(
    task: str, jitter: int, gap: int
) -> None:
    """Section 5: spread within the jitter, never past the next occurrence."""
    following = NOW + timedelta(milliseconds=gap)
    offset = jitter_offset(task, jitter, NOW, following)
    assert 0 <= offset <= jitter
    assert NOW + timedelta(seconds=offset) < following
    assert offset == jitter_offset(task, jitter, NOW, following)
    assert 0 <= jitter_offset(task, jitter, NOW, None) <= jitter


def test_the_place_is_the_tasks_and_stays() -> None:
    """Section 5: a stable hash; the same on every machine and in every version."""
    assert jitter_offset("task-1", 600, NOW, None) == 288
    assert jitter_offset("task-1", 600, NOW + timedelta(days=1), None) == 288


def test_tasks_are_spread_over_the_whole_width() -> None:
    """Section 5: jitter spreads starts, the last second included."""
    offsets = [jitter_offset(f"task-{n}", 9, NOW, None) for n in range(2000)]
    assert set(offsets) == set(range(10))
    assert max(offsets.count(second) for second in range(10)) < 300
