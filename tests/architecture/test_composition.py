"""Production gets the limits of the specification, and nothing is made before it is asked for."""

import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from api.settings import ApiSettings
from completion.settings import CompletionSettings
from nightshift.adapters.dynamodb.policy import DynamoPolicy
from nightshift.composition.api import build_api
from nightshift.composition.completion import build_completion
from nightshift.composition.tick import build_tick
from tick.settings import TickSettings

ROOT = Path(__file__).parents[2]
VARIABLES = {
    "TABLE_NAME": "nightshift",
    "STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:nightshift",
    "WEBHOOK_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:webhooks",
}
RECEIVERS = {
    "NOTICE_BUS_NAME": "operations",
    "NOTICE_TOPIC_ARN": "arn:aws:sns:eu-central-1:111122223333:operations",
}
SPECIFIED = {
    "max_concurrent_runs": 10,
    "max_concurrent_runs_per_user": 5000,
    "launch_lease_seconds": 120,
    "launch_deadline_seconds": 900,
    "verify_after_seconds": 300,
    "worker_silence_seconds": 300,
    "min_once_delay_seconds": 60,
    "min_every_seconds": 300,
    "min_interval_seconds": 60,
    "default_timeout_seconds": 900,
    "max_timeout_seconds": 3600,
    "max_pause_seconds": 3600,
    "workflow_timeout_seconds": 86_400,
    "max_tasks_per_user": 1000,
    "max_history_entries_per_task": 50,
    "allow_shell_actions": False,
}
"""SPEC section 9."""

NO_CLIENT = """
import gc
import api.handler, completion.handler, notices.handler, tick.handler
from botocore.client import BaseClient
from botocore.session import Session
made = [thing for thing in gc.get_objects() if isinstance(thing, (BaseClient, Session))]
assert not made, made
"""
CLIENTS = """
import gc
from botocore.client import BaseClient
import api.handler, completion.handler, notices.handler, tick.handler
for function in (api.handler, completion.handler, notices.handler, tick.handler):
    function.deployed()
clients = [thing for thing in gc.get_objects() if isinstance(thing, BaseClient)]
assert clients
for client in clients:
    config = client.meta.config
    assert config.connect_timeout <= 2, client
    assert config.read_timeout <= 5, client
    assert config.retries["total_max_attempts"] <= 3, client
"""


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in which clients can be made, and reach nobody."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")


@pytest.mark.usefixtures("aws")
def test_production_gets_the_limits_of_the_specification() -> None:
    """SPEC 9: the domain's own defaults are loose; the composition root brings these in."""
    api = build_api(ApiSettings.read(VARIABLES))
    tick = build_tick(TickSettings.read(VARIABLES))
    completion = build_completion(CompletionSettings.read(VARIABLES))
    sources = [api.policies, api.management.policies, api.pausing.policies, api.dispatch.policies]
    for source in [*sources, tick.clock.policies, completion.policies]:
        assert isinstance(source, DynamoPolicy)
        assert asdict(source.defaults) == SPECIFIED


@pytest.mark.usefixtures("aws")
def test_all_services_of_a_function_share_their_stores() -> None:
    """One table, one client, one observer."""
    api = build_api(ApiSettings.read(VARIABLES))
    assert api.management.owned.runs is api.dispatch.runs is api.lifecycle.runs
    assert api.management.owned.tasks is api.dispatch.tasks is api.lifecycle.tasks
    assert api.dispatch.lifecycle is api.management.owned.lifecycle is api.lifecycle
    assert api.pausing.owned is api.management.owned
    tick = build_tick(TickSettings.read(VARIABLES))
    assert tick.clock.runs is tick.clock.lifecycle.runs
    assert tick.clock.inspector is tick.clock.lifecycle.inspector


def test_no_client_exists_when_the_handlers_are_imported() -> None:
    """B135: imported before the region is known, and before a test could stand in the way."""
    assert _python(NO_CLIENT, {}) == ""


def test_every_client_gives_up_within_seconds() -> None:
    """B114: a call that hangs must not outlast the function."""
    region = {"AWS_DEFAULT_REGION": "eu-central-1", **VARIABLES, **RECEIVERS}
    assert _python(CLIENTS, region) == ""


def test_a_function_without_its_settings_says_so_in_one_sentence() -> None:
    """HOUSE: checked at cold start."""
    told = _python("import tick.handler; tick.handler.deployed()", {})
    assert told.strip().splitlines()[-1].endswith("UnusableSettings: TABLE_NAME is not set.")


def test_parts_are_put_together_in_the_only_place_that_knows_both_sides() -> None:
    """HOUSE."""
    knows = re.compile(r"nightshift\.adapters")
    sources = [*(ROOT / "functions").rglob("*.py"), *(ROOT / "layers/nightshift").rglob("*.py")]
    found = {
        path.parent.name
        for path in sources
        if "adapters" not in path.parts and knows.search(path.read_text())
    }
    assert found == {"composition"}


def _python(program: str, variables: dict[str, str]) -> str:
    """What a fresh Python says on its error stream."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stderr
