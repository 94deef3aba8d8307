"""What operators see: which word moves which metric, and lines without prompts."""

import ast
import importlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightshift import observability
from nightshift.domain.exchanged import Event
from nightshift.domain.model.enums import DispatchExit
from nightshift.observability import (
    TRACE_VARIABLE,
    Action,
    Metric,
    invocation,
    logger,
    measurements,
    observe,
    trace_header,
)
from unit.functions.desk import Context

SOURCES = [Path(__file__).parents[3] / part for part in ("functions", "layers/nightshift")]


class Lines(logging.Handler):
    """Keeps what is logged as the JSON it is written in."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        formatter = logger.registered_handler.formatter
        assert formatter is not None
        self.texts.append(formatter.format(record))


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What is logged during a test."""
    kept = Lines()
    logger.addHandler(kept)
    yield kept
    logging.getLogger(logger.name).removeHandler(kept)


def emitted(text: str) -> list[dict[str, object]]:
    """The metrics that were written."""
    return [json.loads(line) for line in text.splitlines() if '"_aws"' in line]


def words_in_use() -> set[str]:
    """Every literal word that the code tells."""
    found: set[str] = set()
    for path in (path for source in SOURCES for path in source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in ("Event", "_tell") and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    return found


def test_every_word_that_is_told_is_in_the_list_and_none_is_idle() -> None:
    """SPEC 10: one list of words."""
    computed = {f"dispatch_{way.value}" for way in DispatchExit}
    chosen = {"run_completed", "completion_repeated", "request_answered", "request_failed"}
    assert words_in_use() | computed | chosen == set(Action)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            Event("dispatch_launched", {"lag_seconds": 2.5}),
            {"RunsLaunched": 1, "DispatchLagSeconds": 2.5},
        ),
        (Event("run_triggered"), {"RunsLaunched": 1}),
        (Event("dispatch_skipped", {"reason": "overlap"}), {"RunsSkipped": 1}),
        (Event("dispatch_conflict"), {}),
        (Event("dispatch_failed", {"reason": "refused"}), {}),
        (Event("dispatch_failed", error=ValueError()), {"DispatchErrors": 1}),
        (Event("settling_failed", error=ValueError()), {"DispatchErrors": 1}),
        (Event("run_completed", {"outcome": "success"}), {"RunsCompleted": 1}),
        (Event("run_completed", {"outcome": "failed"}), {"RunsCompleted": 1, "RunsFailed": 1}),
        (
            Event("run_completed", {"outcome": "interrupted"}),
            {"RunsCompleted": 1, "RunsInterrupted": 1},
        ),
        (Event("completion_repeated", {"outcome": "failed"}), {}),
        (
            Event("looked", {"oldest_due_seconds": 61.0, "seats_in_use": 3, "waiting": 9}),
            {"OldestDueAgeSeconds": 61.0, "SeatsInUse": 3},
        ),
        (
            Event("looked", {"oldest_run_seconds": 90.0, "seats": 3, "budget_full": 1}),
            {"OldestRunAgeSeconds": 90.0, "Seats": 3, "BudgetFull": 1},
        ),
        (Event("launch_recovered"), {"RecoveredLaunches": 1}),
        (Event("run_verified"), {"VerifiedRuns": 1}),
        (Event("corrupt_slot"), {"CorruptRows": 1}),
        (Event("corrupt_rows", {"rows": 4}), {"CorruptRows": 4}),
        (Event("task_blocked"), {"BlockedTasks": 1}),
        (Event("task_blocked", {"corrupt_rows": 1}), {"BlockedTasks": 1, "CorruptRows": 1}),
        (Event("notice_delivered"), {"NoticesDelivered": 1}),
        (Event("notice_put_off"), {"NoticesPutOff": 1}),
        (Event("notice_refused"), {}),
        (Event("notice_failed", error=ValueError()), {"NoticeErrors": 1}),
        (Event("notice_given_up"), {"NoticesGivenUp": 1}),
        (Event("tick_finished", {"looks": 3}), {"Ticks": 1}),
        (Event("request_failed", {"status": 500}), {"ApiFaults": 1}),
        (Event("request_answered", {"status": 404}), {}),
        (Event("a_word_of_tomorrow"), {}),
    ],
    ids=lambda value: value.action if isinstance(value, Event) else "",
)
def test_each_event_moves_its_metrics(event: Event, expected: dict[str, float]) -> None:
    """SPEC 10: launched, skipped, failed, completed, lag, seats, oldest due, corrupt, recovered."""
    assert {metric.value: value for metric, value in measurements(event)} == expected


def test_every_metric_is_moved_by_something() -> None:
    """A metric that nothing moves is an alarm that never rings."""
    moved = {
        *observability._COUNTED.values(),
        *observability._MEASURED.values(),
        *observability._ENDED.values(),
    }
    assert moved == set(Metric)


def test_an_invocation_sends_its_metrics_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """EMF: in the log, with the service as its only dimension."""
    monkeypatch.setattr(observability.metrics, "service", "nightshift-dev-tick")
    with invocation("request-1"):
        observe(Event("looked", {"oldest_due_seconds": 1.5, "seats_in_use": 2}))
        observe(Event("looked", {"oldest_due_seconds": 0.0, "seats_in_use": 3}))
    [sent] = emitted(capsys.readouterr().out)
    assert sent["OldestDueAgeSeconds"] == [1.5, 0.0]
    assert sent["SeatsInUse"] == [2.0, 3.0]
    assert sent["service"] == "nightshift-dev-tick"
    directive = sent["_aws"]["CloudWatchMetrics"][0]  # type: ignore[index]
    assert directive["Namespace"] == "Nightshift"
    assert directive["Dimensions"] == [["service"]]
    units = {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}
    assert units == {"OldestDueAgeSeconds": "Seconds", "SeatsInUse": "Count"}
    with invocation("request-2"):
        pass
    assert emitted(capsys.readouterr().out) == []


def test_metrics_are_sent_when_the_invocation_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """B121: what was counted before a failure counts."""

    def fail_halfway() -> None:
        with invocation("request-1"):
            observe(Event("launch_recovered"))
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail_halfway()
    assert emitted(capsys.readouterr().out)[0]["RecoveredLaunches"] == [1.0]


def test_a_line_has_its_word_its_ids_and_the_request(lines: Lines) -> None:
    """SPEC 10: structured, one `action` word."""
    with invocation("request-1"):
        observe(Event("dispatch_skipped", {"task_id": "tsk_1", "run_id": None}))
    line = json.loads(lines.texts[0])
    assert (line["action"], line["task_id"], line["request_id"]) == (
        "dispatch_skipped",
        "tsk_1",
        "request-1",
    )
    assert "run_id" not in line
    assert line["level"] == "INFO"


def test_an_error_is_logged_with_its_traceback(lines: Lines) -> None:
    """B121: nothing is caught to be forgotten."""
    try:
        int("broken")
    except ValueError as error:
        observe(Event("dispatch_failed", {"task_id": "tsk_1"}, error))
    line = json.loads(lines.texts[0])
    assert (line["level"], line["exception_name"]) == ("ERROR", "ValueError")
    assert "test_observability" in line["exception"]


def test_a_look_is_not_worth_a_line(lines: Lines) -> None:
    """A tick that polls would fill the log with them; its metrics say it all."""
    observe(Event("looked", {"oldest_due_seconds": 0.0}))
    assert lines.texts == []


HEADER = "Root=1-65e2f3a4-0123456789abcdef01234567;Sampled=1"


@pytest.mark.parametrize(
    ("told", "header"),
    [(HEADER, HEADER), (None, None), ("", None), ("Root=\u00fc", None), ("R" * 257, None)],
)
def test_what_an_invocation_starts_joins_its_trace_and_no_later_one(
    told: str | None, header: str | None
) -> None:
    """SPEC 10, P18: one that no service would accept is none, so that no launch is refused."""
    with invocation("request-1", told):
        assert trace_header() == header
    assert trace_header() is None


@pytest.mark.parametrize("name", ["api", "tick", "completion"])
def test_every_function_takes_the_trace_that_lambda_tells_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC 10: traces from API call to run."""
    module = importlib.import_module(f"{name}.handler")
    seen: list[str | None] = []

    def begin() -> None:
        seen.append(trace_header())
        raise InterruptedError

    monkeypatch.setenv(TRACE_VARIABLE, HEADER)
    monkeypatch.setattr(module, "deployed", begin)
    event = {"requestContext": {"requestId": "request-1"}}
    with pytest.raises(InterruptedError):
        module.handler(event, Context())
    assert seen == [HEADER]
