"""A recorded API, and somebody signed in to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from integration.cli.desk import Run
from integration.cli.recorded_api import RecordedApi, recorded_api
from nightshift_toolkit.cli.root import nightshift


@pytest.fixture
def api() -> Iterator[RecordedApi]:
    with recorded_api() as api:
        yield api


@pytest.fixture
def run(api: RecordedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line of somebody signed in to the recorded API."""
    monkeypatch.chdir(tmp_path)
    environment = {"NIGHTSHIFT_URL": api.url, "NIGHTSHIFT_TOKEN": "secret", "NO_COLOR": "1"}

    def run(*arguments: str, **environment_changes: str | None) -> Result:
        return CliRunner().invoke(
            nightshift, arguments, env=environment | environment_changes, input=""
        )

    return run
