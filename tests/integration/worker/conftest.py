"""A place for a worker on the engine that the whole run of the tests shares."""

from pathlib import Path

import pytest

from integration.worker.place import Place
from nightshift_toolkit.local_cloud.engine import Engine


@pytest.fixture
def place(engine: Engine) -> Place:
    return Place(engine)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"
