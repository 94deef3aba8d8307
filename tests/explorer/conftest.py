"""Says at the end how many interleavings were played."""

import pytest

from proof import say_what_was_covered


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was covered."""
    say_what_was_covered(terminalreporter, "explorer", ("interleavings", "steps", "scenes"))
