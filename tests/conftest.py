"""Fixtures that several suites share: the real engine, and a fresh table on it."""

from collections.abc import Iterator
from itertools import count

import pytest

from nightshift_toolkit.local_cloud.engine import Engine
from real import RealWorld

_numbers = count(1)


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
