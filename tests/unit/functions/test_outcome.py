"""What the workflow says becomes text and results that every store accepts, and no more of them."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.outcome import (
    bounded_result,
    outcome_of_error,
    outcome_of_execution,
    outcome_of_report,
)
from nightshift.domain.model.run import MAX_ERROR_BYTES, MAX_RESULT_BYTES
from unit.functions.desk import SUNDAY

RUN = "tsk_0000-20260301T120000000Z"
TEXT = st.text(st.characters(codec=None), max_size=200)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
REPORTS = st.dictionaries(
    st.sampled_from(["outcome", "reason", "error", "result", "other"]),
    JSON | st.sampled_from(["success", "failed", "interrupted", "nonzero_exit"]),
)


def size(result: Any) -> int:
    """The size of a result as it is stored."""
    return len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())


@given(REPORTS | JSON)
def test_only_an_explicit_success_is_one(report: Any) -> None:
    """SPEC 8."""
    read = outcome_of_report(RUN, report, finished_at=SUNDAY)
    explicit = isinstance(report, dict) and report.get("outcome") == "success"
    assert (read.outcome is Outcome.SUCCESS) == explicit
    assert (read.reason is None) == explicit


@given(REPORTS)
def test_whatever_a_worker_reports_can_be_stored(report: dict[str, Any]) -> None:
    """K8: bounded, and free of what no store accepts."""
    read = outcome_of_report(RUN, report, finished_at=SUNDAY)
    assert len((read.error or "").encode()) <= MAX_ERROR_BYTES
    assert len((read.reason or "").encode()) <= 64
    assert size(read.result) <= MAX_RESULT_BYTES


@given(st.text(max_size=50), st.none() | st.text(max_size=50) | JSON.map(json.dumps))
def test_a_failed_execution_is_never_a_success(error: str, cause: str | None) -> None:
    """B88: whatever its cause claims."""
    read = outcome_of_error(RUN, error, cause, finished_at=SUNDAY)
    assert read.outcome is not Outcome.SUCCESS
    claimed = json.dumps({"outcome": "success"})
    read = outcome_of_error(RUN, error, claimed, finished_at=SUNDAY)
    assert read.outcome is not Outcome.SUCCESS


@given(st.text(max_size=40_000), st.integers(0, 5))
def test_the_output_gives_way_and_the_exit_code_stays(output: str, code: int) -> None:
    """K8: cut in whole characters to 16 KiB, and marked as cut."""
    wide = output + "\x00夜🌙" * 3000
    cut = bounded_result({"exit_code": code, "output": wide, "truncated": False})
    assert cut is not None
    assert size(cut) <= MAX_RESULT_BYTES
    assert (cut["exit_code"], cut["truncated"]) == (code, True)
    assert wide.startswith(cut["output"])
    assert len(cut["output"]) > 1000


def test_a_result_that_fits_is_kept_to_the_letter() -> None:
    """What a worker reports is what its user sees."""
    result = {"exit_code": 0, "output": "夜勤\n\t", "truncated": False, "tokens": {"in": 3}}
    assert bounded_result(result) == result


def test_a_result_that_is_no_object_or_cannot_be_cut_leaves_a_mark_at_most() -> None:
    """K8."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert bounded_result("text") is None
    assert bounded_result({"deep": deep}) == {"truncated": True}
    assert bounded_result({"number": float("nan")}) == {"truncated": True}
    assert bounded_result({"other": "x" * 20_000}) == {"truncated": True}


def test_the_causes_of_the_workflows_own_errors_are_not_shown() -> None:
    """They quote input and addresses; the name says what to look for."""
    cause = "The input was {'prompt': 'secret'} at arn:aws:states:secret"
    read = outcome_of_error(RUN, "States.Runtime", cause, finished_at=SUNDAY)
    assert read.error == "The workflow ended with States.Runtime."


def test_what_may_still_end_otherwise_is_no_outcome() -> None:
    """B83: RUNNING, PENDING_REDRIVE and what is not known decide nothing."""
    for status in ("RUNNING", "PENDING_REDRIVE", "", "TOMORROW"):
        read = outcome_of_execution(
            RUN, status, output=None, error=None, cause=None, finished_at=SUNDAY
        )
        assert read is None
