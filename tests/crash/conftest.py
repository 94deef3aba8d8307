"""The stage that all crash tests play on; says at the end how many crash points were tried."""

import pytest

from crash.harness import Stage
from nightshift_toolkit.local_cloud.engine import Engine
from proof import say_what_was_covered


@pytest.fixture(scope="session")
def one_stage(engine: Engine) -> Stage:
    """The stage, set up once."""
    return Stage(engine, "crash")


@pytest.fixture
def stage(one_stage: Stage) -> Stage:
    """The stage, empty."""
    one_stage.reset()
    return one_stage


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was covered."""
    say_what_was_covered(terminalreporter, "crash", ("crash points", "double crashes", "paths"))
