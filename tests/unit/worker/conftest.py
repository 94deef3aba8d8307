"""Commands under wardens, in a room that must be empty afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.worker.fakes import eventually
from unit.worker.room import Room


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path)
    yield room
    assert eventually(lambda: not room.marked()), "processes were left behind"
