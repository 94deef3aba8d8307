"""`nightshift worker` refuses what cannot work before it starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift


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
