"""Notices through the real stack: endpoints that misbehave for an hour hold up no run.

No hour is waited: what was put off is put forward in the table by the hour that has passed.
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from e2e.place import Place, eventually
from nightshift.adapters.notices.webhook import SECONDS
from nightshift.domain.model.instants import format_instant, parse_instant
from nightshift_toolkit.cli.local_state import DEFAULT_USER
from webhooks import Behaviour, Endpoint, answering, dripping, hanging

EVERY_END = ["finished", "failed"]
PRIVATE = "https://169.254.169.254/latest/meta-data/"


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Lets endpoints go that hang."""
    event = threading.Event()
    yield event
    event.set()


def outbox(place: Place) -> list[dict[str, Any]]:
    """The rows of notices on their way."""
    return [row for row in place.rows() if row["pk"]["S"].startswith("OUTBOX#")]


def pass_an_hour(place: Place) -> None:
    """Put every notice forward by an hour, so that what was put off is due."""
    table, dynamodb = place.cloud.outputs["TableName"], place.cloud.client("dynamodb")
    for row in outbox(place):
        due_at, _, notice_id = row["sk"]["S"].partition("#")
        moved = format_instant(parse_instant(due_at) - timedelta(hours=1))
        dynamodb.put_item(TableName=table, Item=row | {"sk": {"S": f"{moved}#{notice_id}"}})
        key = {"pk": row["pk"], "sk": row["sk"]}
        dynamodb.delete_item(TableName=table, Key=key)


def told(place: Place, url: str, command: str = "true") -> tuple[dict[str, Any], float]:
    """A run whose task tells this webhook, and how long it took from the trigger to its record."""
    ada = place.caller()
    task = place.create(
        ada,
        action={"kind": "shell", "command": command},
        notify={"webhook": url, "on": EVERY_END},
    )
    began = datetime.now(UTC)
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    run = place.ended(ada, task)
    assert run["status"] == ("success" if command == "true" else "failed")
    return run, (datetime.now(UTC) - began).total_seconds()


@pytest.mark.parametrize("trouble", ["hangs", "drips", "leads to a private address", "says 500"])
def test_an_endpoint_in_trouble_for_an_hour_holds_up_no_run_and_is_told_once_afterwards(
    trouble: str, place: Place, over: threading.Event
) -> None:
    """The run is recorded and its keys are free before anybody is told."""
    behaviours: dict[str, Behaviour] = {
        "hangs": hanging(over),
        "drips": dripping(over),
        "leads to a private address": answering(307, f"Location: {PRIVATE}"),
        "says 500": answering(500),
    }
    place.worker("--allow-shell")
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint(behaviours[trouble], tls=False).open())
        stack.callback(over.set)
        run, seconds = told(place, endpoint.plain_url)
        assert seconds < SECONDS
        assert place.held_keys() == []
        assert len(outbox(place)) == 1
        assert place.cloud.deliver_now() == {"tried": 1}
        assert place.cloud.deliver_now() == {"tried": 0}
        pass_an_hour(place)
        assert place.cloud.deliver_now() == {"tried": 1}
        assert len(outbox(place)) == 1
        endpoint.behave = answering(200)
        pass_an_hour(place)
        assert place.cloud.deliver_now() == {"tried": 1}
        assert outbox(place) == []
        pass_an_hour(place)
        assert place.cloud.deliver_now() == {"tried": 0}
        ids = [request.notice_id for request in endpoint.requests]
        assert ids == [f"{run['id']}.finished"] * 3
        assert place.held_keys() == []


def test_a_notice_is_signed_with_the_key_that_its_user_can_see(place: Place) -> None:
    """What arrives is what the run's record says."""
    place.worker("--allow-shell")
    with Endpoint(answering(204), tls=False).open() as endpoint:
        run, _ = told(place, endpoint.plain_url, "echo no; exit 3")
        place.cloud.deliver_now()
        [request] = endpoint.requests
    body = json.loads(request.body)
    assert (body["id"], body["kind"]) == (f"{run['id']}.failed", "failed")
    assert (body["outcome"], body["reason"]) == (run["status"], run["reason"])
    assert body["occurred_at"] == run["finished_at"]
    key = place.caller().get("/api/webhook-key").json()["key"]
    seconds, _, given = request.headers["nightshift-signature"].partition(",v1=")
    signed = seconds.removeprefix("t=").encode() + b"." + request.body
    assert given == hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()
    mine = place.caller(DEFAULT_USER).get("/api/webhook-key").json()
    assert place.command_line("webhook-key") == mine
    assert mine["key"] != key


def test_the_local_cloud_delivers_by_itself_within_a_minute(place: Place) -> None:
    """As a deployment does; the rule of the template, not a call of the test's."""
    place.worker("--allow-shell")
    rule = place.cloud.deployment.resources["NoticesRule"]
    with Endpoint(answering(200), tls=False).open() as endpoint:
        run, _ = told(place, endpoint.plain_url)
        place.cloud.client("events").enable_rule(Name=rule)
        try:
            eventually(lambda: bool(endpoint.requests), within=90, what="the notice arrived")
        finally:
            place.cloud.client("events").disable_rule(Name=rule)
        assert endpoint.requests[0].notice_id == f"{run['id']}.finished"
