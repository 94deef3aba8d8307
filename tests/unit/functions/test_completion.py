"""The ends of runs: which signals tell one, what becomes of it, and what is left alone."""

import json
from datetime import timedelta
from typing import Any

import pytest

from completion.handler import PRUNE_ONE_IN
from completion.signals import outcome_of
from nightshift.domain.errors import LaunchImpossible, StorageUnavailable
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.run import Run
from unit.functions.desk import SUNDAY, Desk

REPORT = {
    "outcome": "success",
    "reason": None,
    "error": None,
    "result": {"exit_code": 0, "output": "done\n", "truncated": False},
    "started_at": "2026-03-01T12:00:01.000Z",
    "finished_at": "2026-03-01T12:00:02.000Z",
}
SOME_RUN = "tsk_0000-20260301T120000000Z"


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def begun(desk: Desk) -> Run:
    """A run that is running."""
    return desk.begin(desk.create()["id"])


def step(run_id: str, report: Any, caught: Any = None, **parts: Any) -> dict[str, Any]:
    """What the record step sends."""
    return {
        "source": "nightshift.workflow",
        "run_id": run_id,
        "task_id": run_id.partition("-")[0],
        "attempt": 1,
        "report": report,
        "caught": caught,
        **parts,
    }


def change(run_id: str, status: Any, **detail: Any) -> dict[str, Any]:
    """What EventBridge sends when an execution's status changes."""
    return {
        "source": "aws.states",
        "detail-type": "Step Functions Execution Status Change",
        "detail": {
            "name": run_id,
            "status": status,
            "stopDate": 1772366405000,
            "output": None,
            "error": None,
            "cause": None,
            **detail,
        },
    }


def test_a_success_is_recorded_with_its_result_and_the_keys_are_free(desk: Desk) -> None:
    """K6."""
    run = begun(desk)
    desk.now += timedelta(seconds=30)
    assert desk.tell(step(run.id, REPORT)) is True
    ended = desk.run(run.task_id, run.id)
    assert (ended.status.value, ended.result) == ("success", REPORT["result"])
    assert ended.finished_at == desk.now
    assert desk.store.held_keys() == {}
    assert desk.task(run.task_id)["last_status"] == "success"


def test_a_command_that_fails_shows_its_exit_code(desk: Desk) -> None:
    """SPEC 2."""
    run = begun(desk)
    result = {"exit_code": 3, "output": "no such queue\n", "truncated": False}
    desk.tell(
        step(run.id, REPORT | {"outcome": "failed", "reason": "nonzero_exit"} | {"result": result})
    )
    ended = desk.run(run.task_id, run.id)
    assert (ended.status.value, ended.reason, ended.result) == ("failed", "nonzero_exit", result)


@pytest.mark.parametrize("picked_up", [True, False])
def test_silence_is_told_apart_by_whether_a_worker_had_the_run(desk: Desk, picked_up: bool) -> None:
    """SPEC 8: `not_picked_up` if none had it, `worker_lost` otherwise."""
    run = begun(desk)
    if picked_up:
        desk.store.pick_up(run.id)
    desk.tell(step(run.id, None, {"Error": "States.HeartbeatTimeout", "Cause": ""}))
    expected = "worker_lost" if picked_up else "not_picked_up"
    assert desk.run(run.task_id, run.id).reason == expected


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        [],
        "success",
        {"outcome": None},
        {"outcome": "SUCCESS"},
        {"outcome": True},
        {"outcome": ["success"]},
        {"result": {"exit_code": 0}},
    ],
)
def test_an_outcome_without_an_explicit_success_is_a_failure(desk: Desk, report: Any) -> None:
    """SPEC 8, B88."""
    run = begun(desk)
    desk.tell(step(run.id, report))
    ended = desk.run(run.task_id, run.id)
    assert (ended.status.value, ended.reason) == ("failed", "malformed_report")


@pytest.mark.parametrize(
    ("signal", "outcome", "reason"),
    [
        (change(SOME_RUN, "TIMED_OUT"), Outcome.FAILED, "timeout"),
        (change(SOME_RUN, "ABORTED"), Outcome.INTERRUPTED, "cancelled"),
        (change(SOME_RUN, "FAILED", error="Fenced", cause="x"), Outcome.INTERRUPTED, "fenced"),
        (change(SOME_RUN, "FAILED", error="States.Timeout"), Outcome.FAILED, "timeout"),
        (change(SOME_RUN, "FAILED", error="States.Runtime"), Outcome.FAILED, "workflow_error"),
        (
            change(
                SOME_RUN,
                "SUCCEEDED",
                output=json.dumps({"run_id": SOME_RUN, "report": REPORT}),
            ),
            Outcome.SUCCESS,
            None,
        ),
        (
            change(
                SOME_RUN, "SUCCEEDED", output=json.dumps({"run_id": "tsk_1-x", "report": REPORT})
            ),
            Outcome.FAILED,
            "malformed_report",
        ),
        (step(SOME_RUN, None, {"Error": "States.Timeout"}), Outcome.FAILED, "timeout"),
        (step(SOME_RUN, None, {}), Outcome.FAILED, "workflow_error"),
        (step(SOME_RUN, None, {"Error": "Broken", "Cause": "why"}), Outcome.FAILED, "error"),
    ],
)
def test_each_end_is_read_as_what_it_is(
    signal: dict[str, Any], outcome: Outcome, reason: str | None
) -> None:
    """B83: every status is mapped."""
    read = outcome_of(signal, SUNDAY)
    assert read is not None
    assert (read.run_id, read.outcome, read.reason) == (SOME_RUN, outcome, reason)


@pytest.mark.parametrize(
    "signal",
    [
        {},
        {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}},
        {"source": "aws.states", "detail-type": "Something Else", "detail": {"name": SOME_RUN}},
        {"source": "aws.states", "detail-type": "Step Functions Execution Status Change"},
        change(SOME_RUN, "RUNNING"),
        change(SOME_RUN, "PENDING_REDRIVE"),
        change(SOME_RUN, "A_STATUS_OF_TOMORROW"),
        change(SOME_RUN, None),
        change(SOME_RUN, ["FAILED"]),
        change(SOME_RUN, "FAILED"),
        change(SOME_RUN, "SUCCEEDED"),
        change("an execution by hand", "ABORTED"),
        change("0f4b6a4e-6a0e-4b5c-9e0c-7d1a2b3c4d5e" * 3, "ABORTED"),
        change("nodash", "ABORTED"),
        step(SOME_RUN, REPORT, task_id="tsk_0001"),
        step("", REPORT),
        step(SOME_RUN, REPORT) | {"run_id": 5},
        step(SOME_RUN, REPORT, source="somebody"),
    ],
)
def test_a_signal_that_tells_no_end_changes_nothing(desk: Desk, signal: dict[str, Any]) -> None:
    """SPEC 6: foreign executions produce none; what an event leaves out is asked for later."""
    run = begun(desk)
    before = desk.store.held_keys()
    assert desk.tell(signal) is False
    assert desk.store.held_keys() == before
    assert desk.run(run.task_id, run.id) == run
    assert desk.actions()[-1] == "signal_ignored"


def test_the_end_of_a_run_that_does_not_exist_changes_nothing(desk: Desk) -> None:
    """SPEC 6: an execution that somebody started by hand is none of ours."""
    begun(desk)
    before = desk.store.held_keys()
    assert desk.tell(change(SOME_RUN, "ABORTED")) is False
    assert desk.store.held_keys() == before


def test_a_late_end_never_touches_the_next_run(desk: Desk) -> None:
    """B90: another run's keys are never released."""
    first = begun(desk)
    desk.tell(step(first.id, REPORT))
    desk.now += timedelta(seconds=1)
    second = desk.begin(first.task_id)
    before = desk.store.held_keys()
    for signal in (step(first.id, REPORT), change(first.id, "ABORTED")):
        assert desk.tell(signal) is False
    assert desk.store.held_keys() == before
    assert desk.run(second.task_id, second.id) == second


def test_a_terminal_state_never_changes(desk: Desk) -> None:
    """B89: the first word stands."""
    run = begun(desk)
    desk.tell(step(run.id, REPORT))
    ended = desk.run(run.task_id, run.id)
    assert desk.tell(change(run.id, "TIMED_OUT")) is False
    assert desk.run(run.task_id, run.id) == ended


def test_an_end_that_comes_before_the_start_was_seen_is_recorded(desk: Desk) -> None:
    """B91: signals may overtake each other."""
    run_id = desk.do("trigger", desk.create()["id"]).json["run_id"]
    assert desk.tell(change(run_id, "ABORTED")) is True
    assert desk.store.held_keys() == {}


def test_the_result_of_a_deleted_task_is_dropped_and_its_keys_are_free(desk: Desk) -> None:
    """P5."""
    run = begun(desk)
    desk.call("DELETE", f"/api/scheduled-tasks/{run.task_id}")
    desk.tell(step(run.id, REPORT))
    assert desk.store.held_keys() == {}
    assert desk.store.runs.get(run.task_id, run.id) is None


def test_a_record_that_cannot_be_written_is_asked_for_again(desk: Desk) -> None:
    """P18: it raises, so that the workflow and EventBridge repeat it."""
    run = begun(desk)
    desk.store.before("runs.complete", _unplugged)
    with pytest.raises(StorageUnavailable):
        desk.tell(step(run.id, REPORT))
    assert desk.tell(step(run.id, REPORT)) is True


def test_history_is_pruned_now_and_then_and_never_an_active_run(desk: Desk) -> None:
    """K10: the newest stay; amortised, off the path of every dispatch."""
    desk.limit(max_history_entries_per_task=3)
    task_id = desk.create()["id"]
    for _ in range(PRUNE_ONE_IN * 6):
        desk.now += timedelta(seconds=1)
        desk.tell(step(desk.begin(task_id).id, REPORT))
    active = desk.begin(task_id)
    kept = desk.store.runs.list(task_id, limit=1000, keep=1000).items
    assert 3 < len(kept) < PRUNE_ONE_IN * 6
    assert kept[0].id == active.id
    assert 0 < desk.store.calls("runs.prune") < PRUNE_ONE_IN * 3


def test_the_completion_function_cannot_touch_executions(desk: Desk) -> None:
    """Least privilege: it has no rights on them, and its services say so."""
    lifecycle = desk.completion.lifecycle
    for attempt in (
        lambda: lifecycle.launcher.stop(SOME_RUN),
        lambda: lifecycle.launcher.execution_arn(SOME_RUN),
        lifecycle.inspector.running,
        lambda: lifecycle.inspector.describe(SOME_RUN, SUNDAY),
    ):
        with pytest.raises(LaunchImpossible):
            attempt()


def _unplugged() -> None:
    raise StorageUnavailable
