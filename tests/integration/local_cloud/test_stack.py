"""The whole local cloud in a test's hands: this project's template, and no clock but the test's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from nightshift_toolkit.local_cloud.stack import LocalCloud

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def cloud() -> Iterator[LocalCloud]:
    with LocalCloud() as running:
        yield running


def test_health_needs_no_token_and_tasks_do(cloud: LocalCloud) -> None:
    assert httpx.get(f"{cloud.api_url}/api/health").status_code == 200
    tasks = f"{cloud.api_url}/api/scheduled-tasks"
    assert httpx.get(tasks).status_code == 401
    headers = {"authorization": f"Bearer {cloud.mint_token('ada')}"}
    assert httpx.get(tasks, headers=headers).json()["items"] == []


def test_the_clock_ticks_when_it_is_told_to_and_not_by_itself(cloud: LocalCloud) -> None:
    assert cloud.tick_now() == {"looks": 1}
    assert cloud.deliver_now() == {"tried": 0}
    for name in ("TickRule", "NoticesRule"):
        rule = cloud.deployment.resources[name]
        assert cloud.client("events").describe_rule(Name=rule)["State"] == "DISABLED"


def test_the_card_says_what_a_client_has_to_know(cloud: LocalCloud) -> None:
    card = json.loads((cloud.state_dir / "local.json").read_text())
    assert card == cloud.card()
    assert {"api_url", "issuer", "endpoint_url", "region", "table_name", "queue_url"} <= set(card)


def test_every_parameter_that_differs_locally_is_one_of_the_template(cloud: LocalCloud) -> None:
    stack = cloud.client("cloudformation").describe_stacks(StackName="nightshift")["Stacks"][0]
    given = {item["ParameterKey"]: item["ParameterValue"] for item in stack["Parameters"]}
    assert given["JwtIssuer"] == cloud.issuer_url
    assert given["AllowShellActions"] == "true"
