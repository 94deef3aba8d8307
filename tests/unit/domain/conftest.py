"""The world that service tests act in."""

import pytest

from worlds import World


@pytest.fixture
def world() -> World:
    """All services on an empty in-memory store, at a fixed now."""
    return World()
