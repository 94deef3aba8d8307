"""`nightshift replan` as operators call it, on the local cloud and on a deployed table."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import builders
from builders import DAY, HOUR, at
from nightshift.domain.model.task import Task
from nightshift.domain.model.zones import tzdata_version
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.local_cloud.engine import REGION, Engine
from real import RealWorld

RIGHT = at("2026-03-02T14:00")
"""Nine o'clock in New York, on the day of NOW."""


@pytest.fixture
def local(
    real: RealWorld, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RealWorld:
    """A folder in which the local cloud runs."""
    facts = dict.fromkeys(("api_url", "issuer", "queue_url"), "unused") | {
        "endpoint_url": engine.endpoint_url,
        "table_name": real.table.name,
        "region": REGION,
    }
    state = tmp_path / ".nightshift"
    state.mkdir()
    (state / "local.json").write_text(json.dumps(facts))
    monkeypatch.chdir(tmp_path)
    return real


def stored(world: RealWorld, number: int, next_run_at: datetime, due_shard: int = 0) -> Task:
    """A task for nine o'clock in New York that older rules have put at an instant."""
    schedule = builders.cron("0 9 * * *", zone="America/New_York")
    task = replace(builders.task(schedule, number=number), due_shard=due_shard)
    task = builders.with_state(
        task, next_run_at=next_run_at, due_at=next_run_at, tzdata_version="2000a"
    )
    world.tasks.create(task, builders.payload(task), max_tasks=100)
    return task


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(nightshift, ["replan", *arguments])
    assert result.exit_code == 0, result.output
    return result


def test_a_dry_run_says_what_would_move_and_by_how_much(local: RealWorld) -> None:
    """Issue: lists what moves and by how much; writes nothing."""
    early, late = stored(local, 1, RIGHT - HOUR), stored(local, 2, RIGHT + DAY)
    stored(local, 3, RIGHT)
    lines = call("--dry-run").output.splitlines()
    right = "Mon 2026-03-02 09:00 America/New_York"
    assert [line.split("  ")[0] for line in lines[1:3]] == [early.id, late.id]
    assert lines[1].endswith(f"Mon 2026-03-02 08:00 America/New_York  {right}  1 h later")
    assert lines[2].endswith(f"{right}  1 d earlier")
    assert lines[3] == f"Zone rules {tzdata_version()}: 3 older plans, 2 move."
    assert lines[4] == "Nothing was written."
    assert local.read(early).state == early.state


def test_it_moves_every_task_at_once_and_then_finds_none(local: RealWorld) -> None:
    """Issue: at once; also the tasks of shards that this machine does not know of."""
    tasks = [stored(local, 1, RIGHT - HOUR), stored(local, 2, RIGHT + DAY, due_shard=63)]
    told = json.loads(call("--json").output)
    assert told["tzdata_version"] == tzdata_version()
    assert [(move["task_id"], move["seconds"], move["written"]) for move in told["moves"]] == [
        (tasks[0].id, 3600.0, True),
        (tasks[1].id, -86400.0, True),
    ]
    assert [local.read(task).state.next_run_at for task in tasks] == [RIGHT, RIGHT]
    assert json.loads(call("--json").output)["older_plans"] == 0


def test_a_deployed_table_is_reached_with_the_usual_credentials(
    real: RealWorld, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No local cloud is looked for when a table is named."""
    for name, value in engine.environment().items():
        monkeypatch.setenv(name, value)
    lines = call("--table", real.table.name).output.splitlines()
    assert lines[-1] == f"Zone rules {tzdata_version()}: 0 older plans, 0 move."


def test_without_any_cloud_it_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every other command does."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(nightshift, ["replan"])
    assert result.exit_code == 7
    assert "make run" in result.output
