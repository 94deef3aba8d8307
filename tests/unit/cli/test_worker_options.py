"""`nightshift worker` refuses what cannot work before it starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.cli.variables import read_variables


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--queue-url", "https://queue"), "--queue-url needs --table"),
        (("--table", "table"), "--table needs --queue-url"),
        (("--env", "A=B"), "the name alone"),
        (("--env", ""), "the name alone"),
        *(
            ((option, value), "range")
            for option in (
                "--silence-seconds",
                "--heartbeat-seconds",
                "--grace-seconds",
                "--drain-seconds",
                "--poll-seconds",
            )
            for value in ("nan", "inf", "1e300")
        ),
    ],
)
def test_a_wrong_option_is_a_usage_error_with_a_sentence(
    options: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(nightshift, ["worker", *options, "--", "cat"])
    assert result.exit_code == ExitCode.USAGE
    assert sentence in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--preset", "claude"), "claude is not a program that can be run here"),
        (("--preset", "codex"), "codex is not a program that can be run here"),
        (("--preset", "llm"), "llm is not a program that can be run here"),
        (("--preset", "shell", "--", "cat"), "--preset shell has no agent"),
        (("--workdir", ".", "--folder", "f", "--", "cat"), "--folder is for one each"),
        ((), "Say what does the work"),
        (("--env-file", "variables", "--", "cat"), "Line 2 of variables is neither"),
    ],
)
def test_what_cannot_do_the_work_is_said_before_anything_starts(
    options: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "variables").write_text("A=1\n=secret\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(nightshift, ["worker", *options])
    assert result.exit_code == ExitCode.USAGE
    assert sentence in result.stderr
    assert "secret" not in result.stderr


def test_a_file_of_variables_gives_values_and_lets_names_through(tmp_path: Path) -> None:
    file = tmp_path / "variables"
    file.write_text("# of the agent\n\nMODEL_KEY=a=b c\nEMPTY=\nPROXY\n")
    assert read_variables(file) == (("PROXY",), {"MODEL_KEY": "a=b c", "EMPTY": ""})
