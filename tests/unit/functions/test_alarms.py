"""Every alarm of the template rings when what it is for happens, and is silent otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import api.handler
import builders
import completion.handler
import notices.handler
import stack
import tick.handler
from alarms import CloudWatch, resolved, service_of, watched
from listeners import refusing
from nightshift import observability
from nightshift.domain.errors import StorageUnavailable
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.run_ids import task_id_of
from tick.window import Clockwork
from unit.functions.desk import ALICE, BOTH, TASKS, Context, Desk, request

ALARMS = stack.resources("AWS::CloudWatch::Alarm")
OURS = sorted(name for name, alarm in ALARMS.items() if alarm["Namespace"] == "Nightshift")
PUBLISHED = {
    ("AWS/ApiGateway", "5xx"): {"ApiId"},
    ("AWS/DynamoDB", "ReadThrottleEvents"): {"TableName"},
    ("AWS/DynamoDB", "WriteThrottleEvents"): {"TableName"},
    ("AWS/Lambda", "Errors"): {"FunctionName"},
    ("AWS/Lambda", "Throttles"): {"FunctionName"},
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): {"QueueName"},
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): {"QueueName"},
    ("AWS/States", "ExecutionThrottled"): {"StateMachineArn"},
    ("AWS/States", "ThrottledEvents"): {"APIName"},
}
"""The metrics of AWS itself that we watch, and the dimensions under which it publishes them."""
HANDLERS: dict[str, Any] = {
    "api": api.handler,
    "completion": completion.handler,
    "notices": notices.handler,
    "tick": tick.handler,
}


@dataclass
class House:
    """The deployed functions, called once a minute, and what CloudWatch makes of their lines."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __post_init__(self) -> None:
        """Start empty, at Sunday noon."""
        self.desk = Desk(observe=observability.observe)
        self.cloudwatch = CloudWatch()
        desk = self.desk
        self.monkeypatch.setattr(api.handler, "deployed", lambda: desk.application)
        self.monkeypatch.setattr(completion.handler, "deployed", lambda: desk.completion)
        self.monkeypatch.setattr(notices.handler, "deployed", lambda: desk.notices)
        self.monkeypatch.setattr(notices.handler, "utc_now", lambda: desk.now)
        self.monkeypatch.setattr(tick.handler, "deployed", lambda: (desk.tick, desk.tick_settings))
        self.monkeypatch.setattr(tick.handler, "CLOCKWORK", Clockwork(now=lambda: desk.now))

    def invoke(self, folder: str, event: dict[str, Any]) -> Any:
        """Call a function as AWS does, and count as AWS does."""
        self.monkeypatch.setattr(observability.metrics, "service", service_of(folder))
        self.capsys.readouterr()
        answer, errors = None, 0
        try:
            answer = HANDLERS[folder].handler(event, Context())
        except Exception:  # noqa: BLE001 - what Lambda counts as an error
            errors = 1
        self.cloudwatch.read_log(self.capsys.readouterr().out)
        name = {"FunctionName": stack.logical_name(folder)}
        self.cloudwatch.put("AWS/Lambda", "Errors", name, errors)
        return answer

    def minute(self, *, later: float = 60) -> None:
        """One tick, `later` seconds after the last."""
        self.cloudwatch.next_minute()
        self.desk.now += timedelta(seconds=later)
        self.invoke("tick", {})

    def deliver(self, *, later: float = 60) -> None:
        """One delivery of notices, `later` seconds after the last."""
        self.cloudwatch.next_minute()
        self.desk.now += timedelta(seconds=later)
        self.invoke("notices", {})

    def ask(self, path: str) -> None:
        """A request of Alice's, as the gateway counts it."""
        event = request("GET", path, claims={"sub": ALICE, "scope": BOTH})
        fault = self.invoke("api", event)["statusCode"] >= 500
        self.cloudwatch.put("AWS/ApiGateway", "5xx", {"ApiId": "HttpApi"}, int(fault))

    def occupy(self, seats: int) -> None:
        """A budget of so many seats, all of them taken."""
        self.desk.limit(max_concurrent_runs=seats)
        for _ in range(seats):
            self.desk.begin(self.desk.create()["id"])


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> House:
    """Everything at rest."""
    return House(monkeypatch, capsys)


def failing() -> None:
    """Do not answer."""
    raise StorageUnavailable


def a_task_waits_for_a_seat(house: House) -> None:
    house.occupy(1)
    house.desk.create(schedule_spec={"after_seconds": 60})
    for _ in range(21):
        house.minute()


def no_seat_is_free_for_half_an_hour(house: House) -> None:
    house.occupy(1)
    for _ in range(30):
        house.minute()


def a_run_never_ends(house: House) -> None:
    house.occupy(1)
    house.minute(later=4 * 3600)
    for _ in range(4):
        house.minute()


def a_due_task_cannot_be_read(house: House) -> None:
    task_id = house.desk.create(schedule_spec={"after_seconds": 60})["id"]
    house.desk.store.corrupt_task(TaskRef(ALICE, task_id), "The zone is not known.")
    house.minute()


def a_listed_task_cannot_be_read(house: House) -> None:
    task_id = house.desk.create()["id"]
    house.desk.store.corrupt_task(TaskRef(ALICE, task_id), "The zone is not known.")
    house.cloudwatch.next_minute()
    house.ask(TASKS)


def one_task_fails_again_and_again(house: House) -> None:
    for _ in range(5):
        house.desk.create(schedule_spec={"after_seconds": 60})
        house.desk.store.before("runs.admit", failing)
        house.minute()


def nothing_ticks(house: House) -> None:
    for _ in range(5):
        house.cloudwatch.next_minute()


def the_table_does_not_answer_the_clock(house: House) -> None:
    for _ in range(5):
        house.desk.store.before("runs.slots", failing)
        house.minute()


def the_api_cannot_start(house: House) -> None:
    house.monkeypatch.setattr(api.handler, "deployed", failing)
    for _ in range(5):
        house.cloudwatch.next_minute()
        house.invoke("api", request("GET", TASKS))


def the_api_meets_faults(house: House) -> None:
    for _ in range(5):
        house.cloudwatch.next_minute()
        for _ in range(5):
            house.desk.store.before("tasks.list", failing)
            house.ask(TASKS)


def an_end_cannot_be_written_down(house: House) -> None:
    house.monkeypatch.setattr(completion.handler, "deployed", failing)
    house.cloudwatch.next_minute()
    house.invoke("completion", {})


def announced(house: House) -> None:
    """A run that ended, with a notice of it that no receiver will take."""
    house.desk.listener.behave = refusing()
    run = house.desk.begin(house.desk.create()["id"])
    notice = builders.outgoing(run.id, occurred_at=house.desk.now)
    house.desk.store.announce(notice)


def nobody_takes_a_notice_for_a_day(house: House) -> None:
    announced(house)
    house.deliver()
    house.deliver(later=24 * 3600)


def notices_meet_errors_of_ours(house: House) -> None:
    announced(house)
    for _ in range(5):
        house.desk.store.before("outbox.claim", failing)
        house.deliver(later=3600)


def the_outbox_does_not_answer(house: House) -> None:
    for _ in range(5):
        house.desk.store.before("outbox.due", failing)
        house.deliver()


DRIVEN: dict[str, Callable[[House], None]] = {
    "OldestDueAlarm": a_task_waits_for_a_seat,
    "BudgetFullAlarm": no_seat_is_free_for_half_an_hour,
    "OldestRunAlarm": a_run_never_ends,
    "CorruptRowsAlarm": a_due_task_cannot_be_read,
    "ListedCorruptRowsAlarm": a_listed_task_cannot_be_read,
    "DispatchErrorsAlarm": one_task_fails_again_and_again,
    "TicksMissingAlarm": nothing_ticks,
    "TickErrorsAlarm": the_table_does_not_answer_the_clock,
    "ApiErrorsAlarm": the_api_cannot_start,
    "ApiFaultsAlarm": the_api_meets_faults,
    "CompletionErrorsAlarm": an_end_cannot_be_written_down,
    "NoticesGivenUpAlarm": nobody_takes_a_notice_for_a_day,
    "NoticeErrorsAlarm": notices_meet_errors_of_ours,
    "NoticesErrorsAlarm": the_outbox_does_not_answer,
}
MEASURED_BY_AWS = sorted(set(ALARMS) - set(DRIVEN))


@pytest.mark.parametrize("name", DRIVEN)
def test_alarm_rings_when_that_happens_which_it_is_for(name: str, house: House) -> None:
    """SPEC 10: the real handler, its real lines, the alarm's own rule; and not a minute early."""
    house.minute()
    assert not house.cloudwatch.rings(ALARMS[name])
    DRIVEN[name](house)
    assert house.cloudwatch.rings(ALARMS[name])


@pytest.mark.parametrize("name", MEASURED_BY_AWS)
def test_alarm_on_what_aws_measures_rings_at_its_threshold_and_not_below(name: str) -> None:
    """B121: throttles, dead letters and work that waits, under the names that AWS gives them."""
    alarm = ALARMS[name]
    namespace, metric, dimensions = watched(alarm)
    assert {kind for kind, _ in dimensions} == PUBLISHED[namespace, metric]
    threshold = float(resolved(alarm["Threshold"]))
    for value, expected in ((threshold - 1, False), (threshold, True)):
        cloudwatch = CloudWatch()
        for _ in range(int(resolved(alarm["EvaluationPeriods"]))):
            cloudwatch.next_minute()
            cloudwatch.put(namespace, metric, dict(dimensions), value)
        assert cloudwatch.rings(alarm) is expected


def test_nothing_rings_in_a_quiet_hour(house: House) -> None:
    """Whoever is woken for nothing stops listening."""
    house.desk.create(schedule_spec={"cron": "*/5 * * * *"})
    for _ in range(60):
        house.minute()
        house.ask(TASKS)
        for slot in house.desk.store.active_slots():
            house.invoke("completion", ended(slot.run_id))
    assert [name for name, alarm in ALARMS.items() if house.cloudwatch.rings(alarm)] == []
    assert "run_completed" in house.desk.actions()


def test_a_ringing_alarm_falls_silent_when_the_budget_is_raised(house: House) -> None:
    """P14: what the alarm's sentence advises is what helps."""
    a_task_waits_for_a_seat(house)
    house.desk.limit(max_concurrent_runs=10)
    house.minute()
    house.minute()
    assert not house.cloudwatch.rings(ALARMS["OldestDueAlarm"])


def ended(run_id: str) -> dict[str, Any]:
    """The workflow's own word that a run succeeded."""
    path = stack.ROOT / "events" / "completion-record-success.json"
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told | {"run_id": run_id, "task_id": task_id_of(run_id)}
