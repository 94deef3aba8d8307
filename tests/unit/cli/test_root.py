"""The command line as a whole: its help, and how fast it comes up."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift

_COMMANDS = ("tasks", "runs", "threads", "mcp", "next", "worker", "local", "token", "version")


def test_help_lists_every_command_and_every_exit_code() -> None:
    text = CliRunner().invoke(nightshift, ["--help"]).stdout
    for name in _COMMANDS:
        assert f"  {name} " in text
    for code in ExitCode:
        assert f"    {code.value}  " in text


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = CliRunner().invoke(nightshift, [name, "--help"])
    assert result.exit_code == ExitCode.OK
    assert result.stdout.startswith(f"Usage: nightshift {name}")


def test_an_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(nightshift, ["dance"]).exit_code == ExitCode.USAGE


def test_the_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(nightshift, ["version"])
    assert result.stdout.startswith(f"nightshift {version('nightshift')} (time zones 20")


def test_no_command_pays_for_what_it_does_not_use() -> None:
    heavy = "{'boto3', 'httpx', 'rich', 'jwt', 'ministack'} & set(sys.modules)"
    protocol = "{'mcp', 'mcp_types', 'starlette', 'uvicorn'} & set(sys.modules)"
    code = f"""import sys
from nightshift_toolkit.cli.root import nightshift
nightshift(["next", "@daily"], standalone_mode=False)
assert not {heavy}, {heavy}
nightshift(["--help"], standalone_mode=False)
assert not {heavy}, {heavy}
nightshift(["mcp", "--help"], standalone_mode=False)
assert not {protocol}, {protocol}
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
