"""Hypothesis strategies for cron expressions that fire, and settings for a busy machine."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from nightshift.domain.errors import NeverFires
from nightshift.domain.model.cron import parse_cron

STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A slow machine is no failure of a property."""


def _item(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    step = st.integers(1, high - low + 1)
    span = st.tuples(number, number).map(sorted)
    return st.one_of(
        number.map(str),
        span.map(lambda ends: f"{ends[0]}-{ends[1]}"),
        st.tuples(span, step).map(lambda parts: f"{parts[0][0]}-{parts[0][1]}/{parts[1]}"),
        st.tuples(number, step).map(lambda parts: f"{parts[0]}/{parts[1]}"),
    )


def _field(low: int, high: int, *more: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    star = st.one_of(
        st.just("*"), st.integers(1, high - low + 1).map(lambda step: f"*/{step}"), st.just("*")
    )
    items = st.lists(st.one_of(_item(low, high), *more), min_size=1, max_size=3).map(",".join)
    return st.one_of(star, items)


def _fires(text: str) -> bool:
    try:
        parse_cron(text)
    except NeverFires:
        return False
    return True


NTH = st.tuples(st.integers(0, 7), st.integers(1, 5)).map(lambda pair: f"{pair[0]}#{pair[1]}")

EXPRESSIONS = (
    st.tuples(
        _field(0, 59),
        _field(0, 23),
        st.one_of(st.just("*"), _field(1, 31, st.just("L"))),
        st.one_of(st.just("*"), st.just("*"), _field(1, 12)),
        st.one_of(st.just("*"), _field(0, 6, NTH, st.just("5-7"), st.just("7"))),
    )
    .map(" ".join)
    .filter(_fires)
)
"""Any expression of the grammar, in numbers."""

DAILY = st.tuples(_field(0, 59), _field(0, 23)).map(lambda times: f"{times[0]} {times[1]} * * *")
"""Expressions that fire on every day."""
