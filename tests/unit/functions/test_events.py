"""Every file in `events/` is what AWS really sends, and does through its handler what it says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import api.handler
import builders
import completion.handler
import notices.handler
import tick.handler
from api.routes import ROUTES
from completion.signals import outcome_of
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.instants import parse_instant
from tick.window import Clockwork
from unit.functions.desk import TASKS, Context, Desk

EVENTS = Path(__file__).parents[3] / "events"
MONDAY_NINE = parse_instant("2026-03-02T14:00:10.000Z")
TASK = "tsk_01kjmma2g00000000000000001"
RUN = f"{TASK}-20260302T140000000Z"

ANSWERS = {
    "api-create-task": 201,
    "api-delete-task": 204,
    "api-cancel-run": 202,
    "api-pause-run": 409,
    "api-resume-run": 409,
}
"""Where it is not 200; the run is launched, and no worker has it."""
AFTER_THE_RUN = {"api-trigger-task", "api-edit-task"}
"""What a run that is being dispatched would refuse."""
OUTCOMES = {
    "completion-record-success": (Outcome.SUCCESS, None),
    "completion-record-failure": (Outcome.FAILED, "nonzero_exit"),
    "completion-record-silence": (Outcome.FAILED, "not_picked_up"),
    "completion-status-failed": (Outcome.FAILED, "nonzero_exit"),
    "completion-status-fenced": (Outcome.INTERRUPTED, "fenced"),
    "completion-status-timed-out": (Outcome.FAILED, "timeout"),
    "completion-status-aborted": (Outcome.INTERRUPTED, "cancelled"),
}


def names(function: str) -> list[str]:
    """The events of one function."""
    return sorted(path.stem for path in EVENTS.glob(f"{function}*.json"))


def event(name: str) -> dict[str, Any]:
    """One event."""
    read: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return read


@pytest.fixture
def desk() -> Desk:
    """A house in which the things exist that the events name, before Monday nine o'clock."""
    made = Desk()
    user = event("api-get-task")["requestContext"]["authorizer"]["jwt"]["claims"]["sub"]
    created = made.call("POST", TASKS, event("api-create-task")["body"], user=user)
    assert created.json["id"] == TASK
    made.call("PUT", "/api/threads/tickets", user=user)
    return made


def test_there_is_one_event_for_every_route_and_none_besides() -> None:
    """HOUSE: events/ holds one file per way in."""
    found = [
        (sent["requestContext"]["http"]["method"], sent["rawPath"])
        for sent in map(event, names("api-"))
    ]
    for route in ROUTES:
        rule = re.compile(re.sub(r"<\w+>", "[^/]+", route.rule))
        assert sum(route.method == how and bool(rule.fullmatch(path)) for how, path in found) == 1
    assert len(found) == len(ROUTES)


def test_there_is_no_event_that_these_tests_do_not_replay() -> None:
    """HOUSE: every one is replayed by the tests."""
    replayed = {*names("api-"), *OUTCOMES, "tick", "notices"}
    assert {path.stem for path in EVENTS.iterdir()} == replayed


@pytest.mark.parametrize("name", names("api-"))
def test_each_route_answers_its_event(
    name: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HOUSE: replayed through the handler."""
    desk.look(MONDAY_NINE)
    if name in AFTER_THE_RUN:
        desk.tell(event("completion-record-success"))
    monkeypatch.setattr(api.handler, "deployed", lambda: desk.application)
    answer = api.handler.handler(event(name), Context())
    assert answer["statusCode"] == ANSWERS.get(name, 200), answer["body"]


def test_the_tick_event_launches_what_is_due(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOUSE: replayed through the handler."""
    desk.now = MONDAY_NINE
    monkeypatch.setattr(tick.handler, "deployed", lambda: (desk.tick, desk.tick_settings))
    monkeypatch.setattr(tick.handler, "CLOCKWORK", Clockwork(now=lambda: MONDAY_NINE))
    assert tick.handler.handler(event("tick"), Context()) == {"looks": 1}  # type: ignore[arg-type]
    assert desk.executions.launched == [RUN]


def test_the_notices_event_delivers_what_is_due(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HOUSE: replayed through the handler."""
    desk.store.announce(builders.outgoing(RUN))
    monkeypatch.setattr(notices.handler, "deployed", lambda: desk.notices)
    handler = notices.handler.handler
    assert handler(event("notices"), Context()) == {"tried": 1}  # type: ignore[arg-type]
    assert handler(event("notices"), Context()) == {"tried": 0}  # type: ignore[arg-type]
    assert desk.listener.took == {f"{RUN}.failed": 1}


@pytest.mark.parametrize("name", sorted(OUTCOMES))
def test_each_signal_records_the_end_it_tells_and_only_once(
    name: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K6; HOUSE: replayed through the handler."""
    desk.look(MONDAY_NINE)
    monkeypatch.setattr(completion.handler, "deployed", lambda: desk.completion)
    handler = completion.handler.handler
    assert handler(event(name), Context()) == {"recorded": True}  # type: ignore[arg-type]
    run = desk.run(TASK, RUN)
    assert (run.status.value, run.reason) == (OUTCOMES[name][0].value, OUTCOMES[name][1])
    assert desk.store.held_keys() == {}
    assert handler(event(name), Context()) == {"recorded": False}  # type: ignore[arg-type]


def test_a_status_event_carries_the_time_at_which_the_execution_ended() -> None:
    """The end is Step Functions' own, not that of the delivery."""
    outcome = outcome_of(event("completion-status-aborted"), MONDAY_NINE)
    assert outcome is not None
    assert outcome.finished_at == parse_instant("2026-03-02T14:01:03.900Z")
