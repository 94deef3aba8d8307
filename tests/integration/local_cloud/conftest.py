"""One bare engine for the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from integration.local_cloud.probes import Machines, Queue
from nightshift_toolkit.local_cloud.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running


@pytest.fixture
def machines(engine: Engine) -> Machines:
    return Machines(engine)


@pytest.fixture
def queue(engine: Engine) -> Queue:
    return Queue(engine)
