"""The functions on an empty in-memory store; a module that needs more makes its own."""

import pytest

from unit.functions.desk import Desk


@pytest.fixture
def desk() -> Desk:
    """The functions, and nothing stored."""
    return Desk()
