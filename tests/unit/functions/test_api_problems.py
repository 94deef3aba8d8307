"""Problem documents: one table from class to status, and nothing of our own inside (RFC 9457)."""

import inspect

import pytest

from api import errors as api_errors
from api.errors import STATUSES, code_of, problem, status_of
from nightshift.domain import errors
from nightshift.domain.errors import NightshiftError
from unit.functions.desk import TASKS, Desk

SPECIFIED = {
    401: ["unauthenticated"],
    404: ["task_not_found", "run_not_found", "thread_not_found"],
    422: [
        "invalid_request",
        "invalid_schedule",
        "invalid_time_zone",
        "not_in_future",
        "too_frequent",
        "never_fires",
        "payload_too_large",
    ],
    400: ["invalid_cursor"],
    409: [
        "task_not_mutable",
        "active_run",
        "thread_busy",
        "budget_full",
        "time_passed",
        "concurrent_update",
        "idempotency_mismatch",
        "quota_exceeded",
    ],
    412: ["precondition_failed"],
    502: ["launch_failed"],
    503: ["persistence_uncertain"],
    500: ["corrupt_task"],
}
"""SPEC section 7."""


def family() -> list[type[NightshiftError]]:
    """Every class of the error family."""
    found = [
        kind
        for module in (errors, api_errors)
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, NightshiftError)
    ]
    return sorted(set(found), key=lambda kind: kind.__name__)


@pytest.mark.parametrize(
    ("status", "code"), [(status, code) for status, codes in SPECIFIED.items() for code in codes]
)
def test_every_code_of_the_specification_has_its_status(status: int, code: str) -> None:
    """SPEC 7: the table."""
    kinds = [kind for kind in family() if kind.code == code]
    assert kinds
    for kind in kinds:
        answers = {STATUSES[above] for above in kind.__mro__ if above in STATUSES}
        nearest = next(STATUSES[above] for above in kind.__mro__ if above in STATUSES)
        assert nearest == status, (kind, answers)


def test_no_class_is_left_without_a_sentence_or_a_code() -> None:
    """HOUSE: the class's docstring is the message."""
    for kind in family():
        assert kind.__doc__
        assert kind.__doc__.strip().endswith("."), kind
        assert kind.code.replace("_", "").isalpha()


def test_a_document_is_that_of_rfc_9457() -> None:
    """Every member has its meaning there."""
    document = problem(errors.BudgetFull(), "request-1")
    assert document == {
        "type": "urn:problem-type:nightshift:budget_full",
        "title": "As many runs as allowed are active.",
        "status": 409,
        "code": "budget_full",
        "detail": "As many runs as allowed are active; try again when one has ended.",
        "request_id": "request-1",
    }


def test_a_field_is_named_with_what_is_wrong_with_it() -> None:
    """Whether the message names it or not, the detail does."""
    said = problem(errors.InvalidRequest("must be one of a, b.", field="status"), "request-1")
    assert said["detail"] == "status must be one of a, b."
    assert said["errors"] == [{"field": "status", "message": "must be one of a, b."}]


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("secret"),
        KeyError("secret"),
        errors.StorageUnavailable("secret"),
        errors.LaunchImpossible("secret"),
        errors.CorruptRecord("secret"),
        errors.PersistenceUncertain("secret"),
        errors.LaunchFailed("secret"),
    ],
)
def test_of_our_own_faults_nothing_is_told_but_that_there_was_one(fault: Exception) -> None:
    """SPEC 7: no internals."""
    document = problem(fault, "request-1")
    assert "secret" not in str(document)
    assert document["status"] >= 500
    assert document["request_id"] == "request-1"


def test_an_unforeseen_error_is_500_and_is_told_with_its_traceback() -> None:
    """SPEC 7, B121: answered, logged and counted."""
    desk = Desk()
    task_id = desk.create()["id"]
    fault = RuntimeError("secret")

    def raise_fault() -> None:
        raise fault

    desk.store.before("tasks.get", raise_fault)
    reply = desk.call("GET", f"{TASKS}/{task_id}")
    assert (reply.status, reply.code) == (500, "internal_error")
    assert "secret" not in reply.text
    told = desk.events[-1]
    assert (told.action, told.error) == ("request_failed", fault)


def test_a_response_of_the_wrong_shape_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """B143: never blamed on the caller."""
    desk = Desk()
    monkeypatch.setattr("api.responses.format_instant", lambda _instant: 5)
    reply = desk.call("PUT", "/api/threads/tickets")
    assert (reply.status, reply.code) == (500, "internal_error")
    assert desk.actions()[-1] == "request_failed"


def test_a_store_that_does_not_answer_is_500_and_one_that_may_have_is_503() -> None:
    """SPEC 7: `persistence_uncertain` says that the write may have happened."""
    desk = Desk()
    desk.store.lose_answers()
    lost = desk.call("PUT", "/api/threads/tickets")
    assert (lost.status, lost.code) == (503, "persistence_uncertain")
    assert lost.headers["Retry-After"] == "1"
    desk.store.unplug()
    assert desk.call("GET", TASKS).code == "internal_error"


def test_every_request_is_told_in_one_line_with_ids_and_no_body() -> None:
    """SPEC 10: structured logs with one action word and ids, never prompts."""
    desk = Desk()
    task_id = desk.create(prompt="secret prompt", title="secret title")["id"]
    told = [event for event in desk.events if event.action == "request_answered"]
    assert len(told) == 1
    assert told[0].facts["status"] == 201
    assert told[0].facts["route"] == TASKS
    assert told[0].facts["task_id"] == task_id
    desk.call("GET", f"{TASKS}/{task_id}/runs/{'r' * 500}")
    assert desk.events[-1].facts["task_id"] == task_id
    assert desk.events[-1].facts["run_id"] == "r" * 128
    assert "secret" not in repr(desk.events)


def test_the_code_and_status_of_an_error_that_is_none_of_ours() -> None:
    """SPEC 7: anything unclassified is 500."""
    assert (status_of(ZeroDivisionError()), code_of(ZeroDivisionError())) == (500, "internal_error")
