"""Which API a command talks to, and as whom."""

import json
from pathlib import Path
from typing import Any

import jwt
import pytest

from integration.cli.desk import TASK_PATH, Run, ok
from integration.cli.recorded_api import (
    TASK,
    TASK_ID,
    RecordedApi,
    recorded_api,
)
from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.local_cloud.issuer import mint_token


def test_without_any_address_the_way_to_one_is_shown(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL=None)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "make run" in result.stderr


def test_without_a_token_a_deployed_api_is_not_asked(api: RecordedApi, run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_TOKEN=None)
    assert result.exit_code == ExitCode.NOT_SIGNED_IN
    assert api.asked == []


def test_a_token_never_crosses_the_network_in_the_clear(run: Run) -> None:
    result = run("tasks", "list", NIGHTSHIFT_URL="http://example.com")
    assert result.exit_code == ExitCode.USAGE
    assert "https" in result.stderr
    assert "secret" not in result.output


def test_an_option_goes_before_the_environment(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASK_PATH, 200, TASK)
    ok(
        run(
            *("tasks", "show", TASK_ID, "--url", api.url, "--token", "mine"),
            NIGHTSHIFT_URL="http://127.0.0.1:9",
        )
    )
    assert api.asked[0].headers["authorization"] == "Bearer mine"


@pytest.fixture
def local(api: RecordedApi, tmp_path: Path) -> dict[str, Any]:
    """A local cloud that says it runs at the recorded API."""
    state = tmp_path / ".nightshift"
    state.mkdir()
    unused = dict.fromkeys(("endpoint_url", "region", "table_name", "queue_url"), "unused")
    facts = {"api_url": api.url, "issuer": "http://127.0.0.1:1", **unused}
    (state / "local.json").write_text(json.dumps(facts))
    mint_token("nobody", state_dir=state, issuer="http://127.0.0.1:1")
    return facts


_SIGNED_OUT: dict[str, str | None] = {"NIGHTSHIFT_URL": None, "NIGHTSHIFT_TOKEN": None}


def _subject(authorization: str) -> str:
    token = authorization.removeprefix("Bearer ")
    return str(jwt.decode(token, options={"verify_signature": False})["sub"])


def test_the_local_cloud_is_found_from_a_folder_below_it(
    api: RecordedApi, run: Run, local: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    api.answer("GET", TASK_PATH, 200, TASK)
    ok(run("tasks", "show", TASK_ID, **_SIGNED_OUT))
    ok(run("tasks", "show", TASK_ID, "--user", "ada", **_SIGNED_OUT))
    assert [_subject(asked.headers["authorization"]) for asked in api.asked] == ["me", "ada"]


def test_only_the_local_cloud_lets_one_be_anybody(
    api: RecordedApi, run: Run, local: object
) -> None:
    with recorded_api() as other:
        result = run("tasks", "list", "--user", "ada", NIGHTSHIFT_URL=other.url)
        assert result.exit_code == ExitCode.USAGE
        assert other.asked == []


def test_a_local_token_goes_to_the_local_cloud_alone(run: Run, local: object) -> None:
    with recorded_api() as other:
        result = run("tasks", "list", NIGHTSHIFT_URL=other.url, NIGHTSHIFT_TOKEN=None)
        assert result.exit_code == ExitCode.NOT_SIGNED_IN
        assert other.asked == []


def test_a_token_is_printed_alone(run: Run, local: object) -> None:
    (line,) = ok(run("token", "--user", "ada")).splitlines()
    assert _subject(line) == "ada"


def test_a_token_without_a_local_cloud_is_one_sentence(run: Run) -> None:
    result = run("token")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "make run" in result.stderr


def test_a_copied_folder_does_not_lead_to_the_cloud_of_the_original(
    run: Run, local: dict[str, str], tmp_path: Path
) -> None:
    ok(run("token"))
    card = {**local, "state_dir": str(tmp_path.parent / "original" / ".nightshift")}
    (tmp_path / ".nightshift" / "local.json").write_text(json.dumps(card))
    assert run("token").exit_code == ExitCode.UNREACHABLE
