"""Fixtures that several suites share: the real engine, and a fresh table on it."""

from collections.abc import Iterator
from itertools import count

import pytest

import planted
from nightshift_toolkit.local_cloud.engine import Engine
from real import RealWorld

_numbers = count(1)


@pytest.fixture(autouse=True)
def no_secret_in_any_line_of_a_log() -> Iterator[planted.Watch]:
    """SPEC 10: whatever a test does, no line of the functions or of the worker has a prompt."""
    with planted.watching() as watch:
        yield watch
    assert watch.leaks == []


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """DynamoDB and Step Functions for this whole run of the tests, on loopback."""
    with Engine() as running:
        yield running


@pytest.fixture
def real(engine: Engine) -> Iterator[RealWorld]:
    """Every service on real DynamoDB and Step Functions, with an empty table of its own."""
    with RealWorld(engine, f"table-{next(_numbers)}") as world:
        yield world
