"""Shells that complete the command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_for_nightshift(shell: str) -> None:
    result = CliRunner().invoke(nightshift, ["completion", shell])
    assert result.exit_code == ExitCode.OK
    assert f"_NIGHTSHIFT_COMPLETE={shell}_complete" in result.stdout


def test_another_shell_is_a_usage_error() -> None:
    assert CliRunner().invoke(nightshift, ["completion", "cmd"]).exit_code == ExitCode.USAGE


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [(["ta"], {"tasks"}), (["tasks", "tri"], {"trigger"}), (["runs", "list", "--wa"], {"--watch"})],
)
def test_bash_completes_commands_and_options(words: list[str], expected: set[str]) -> None:
    """The real shell asks the real command."""
    typed = " ".join(f"'{word}'" for word in ["nightshift", *words])
    script = f"""eval "$(nightshift completion bash)"
COMP_WORDS=({typed}); COMP_CWORD={len(words)}
_nightshift_completion nightshift; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    answer = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(answer.stdout.split()) == expected


def test_completing_a_command_imports_none_of_them() -> None:
    """What is typed in a shell must answer at once."""
    code = """import sys
from nightshift_toolkit.cli.root import nightshift
context = nightshift.make_context("nightshift", [], resilient_parsing=True)
names = [item.value for item in nightshift.shell_complete(context, "")]
assert "tasks" in names and "mcp" in names, names
assert not [name for name in sys.modules if name in ("httpx", "nightshift_toolkit.cli.tasks")]
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
