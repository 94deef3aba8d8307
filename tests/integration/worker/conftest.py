"""A place for a worker on the engine that the whole run of the tests shares."""

import pytest

from integration.worker.place import Place
from nightshift_toolkit.local_cloud.engine import Engine


@pytest.fixture
def place(engine: Engine) -> Place:
    return Place(engine)
