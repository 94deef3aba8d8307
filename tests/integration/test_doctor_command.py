"""`nightshift doctor` as people call it, on the local cloud and on a deployed table."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import builders
from nightshift.adapters.dynamodb import keys
from nightshift_toolkit.audit import command
from nightshift_toolkit.local_cloud.engine import REGION, Engine
from real import RealWorld


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else uses the table, so the second look may follow at once."""
    monkeypatch.setattr(command, "SECONDS_BETWEEN_LOOKS", 0.0)


@pytest.fixture
def local(
    real: RealWorld, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RealWorld:
    """A folder in which the local cloud runs."""
    facts = dict.fromkeys(("api_url", "issuer", "queue_url"), "unused") | {
        "endpoint_url": engine.endpoint_url,
        "table_name": real.table.name,
        "state_machine_arn": real.machine,
        "region": REGION,
    }
    state = tmp_path / ".nightshift"
    state.mkdir()
    (state / "local.json").write_text(json.dumps(facts))
    monkeypatch.chdir(tmp_path)
    return real


def broken(world: RealWorld) -> str:
    """Let a user's tasks be counted wrongly; the user."""
    task = world.created(builders.create())
    quota = keys.quota(task.user_id)
    world.dynamodb.put_item(
        TableName=world.table.name,
        Item={"pk": {"S": quota.pk}, "sk": {"S": quota.sk}, "tasks": {"N": "7"}},
    )
    return task.user_id


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command.doctor, arguments)


def test_a_healthy_local_cloud_gives_exit_code_0(local: RealWorld) -> None:
    """Runs at work, however old, are healthy."""
    task = local.created(builders.create())
    local.pass_time(timedelta(hours=1))
    local.look()
    (run,) = local.history(task)
    local.pass_fence(run)
    result = call()
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "Examined: 1 tasks, 1 runs, 1 active, 0 unreadable.",
        "Nothing is broken.",
    ]


def test_a_broken_one_gives_exit_code_1_and_says_what_is_broken(local: RealWorld) -> None:
    """The subject, what was seen, and the sentence that does not hold."""
    user_id = broken(local)
    result = call()
    assert result.exit_code == 1
    assert f"BROKEN    {user_id}: 7 tasks are counted, 1 are there" in result.output
    assert "The count of each user's tasks is the number of them." in result.output


def test_json_tells_the_same_to_programs(local: RealWorld) -> None:
    """Each finding with its invariant, its promise, its subject and what was seen."""
    user_id = broken(local)
    result = call("--json")
    assert result.exit_code == 1
    told = json.loads(result.output)
    (finding,) = told["found"]
    assert finding["invariant"] == "quotas_count_the_tasks"
    assert finding["subject"] == user_id
    assert finding["promise"].startswith("The count of each user's tasks")
    assert told["left"] == told["found"]
    assert told["repaired"] == []


def test_repair_says_what_it_did_and_the_next_call_finds_nothing(local: RealWorld) -> None:
    """Finding something gives exit code 1, also when it was repaired."""
    user_id = broken(local)
    result = call("--repair")
    assert result.exit_code == 1
    assert f"REPAIRED  {user_id}: counted 1 tasks" in result.output
    assert "0 left." in result.output
    assert call().exit_code == 0


def test_a_deployed_table_is_reached_with_the_usual_credentials(
    real: RealWorld, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No local cloud is looked for when a table is named."""
    for name, value in engine.environment().items():
        monkeypatch.setenv(name, value)
    result = call("--table", real.table.name, "--state-machine-arn", real.machine)
    assert result.exit_code == 0, result.output


def test_a_table_alone_is_not_enough() -> None:
    """Nothing is concluded about executions that were not asked for."""
    result = call("--table", "nightshift")
    assert result.exit_code == 2
    assert "--state-machine-arn" in result.output


def test_without_any_cloud_it_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every other command does."""
    monkeypatch.chdir(tmp_path)
    result = call()
    assert result.exit_code == 7
    assert "make run" in result.output
