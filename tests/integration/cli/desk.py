"""What the tests of the command line share."""

from collections.abc import Callable

from click.testing import Result

from integration.cli.recorded_api import TASK_ID
from nightshift_toolkit.cli.failures import ExitCode

TASKS = "/api/scheduled-tasks"
TASK_PATH = f"{TASKS}/{TASK_ID}"

Run = Callable[..., Result]


def ok(result: Result) -> str:
    """The standard output of a command that worked."""
    assert result.exit_code == ExitCode.OK, result.output
    return result.stdout
