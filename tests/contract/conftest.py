"""Each contract test runs on every implementation of the ports."""

from collections.abc import Iterator

import pytest

from contract.backends import Dynamo, Memory, Stores
from nightshift_toolkit.local_cloud.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """One engine for all tests."""
    with Engine() as running:
        yield running


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """The ports of one implementation, on empty storage."""
    if request.param == "memory":
        return Memory()
    return Dynamo(request.getfixturevalue("engine"))
