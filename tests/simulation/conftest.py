"""Says at the end how long was lived and what happened."""

import pytest

from proof import say_what_was_covered


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was covered."""
    say_what_was_covered(terminalreporter, "simulation", ("simulated days", "ticks", "runs"))
