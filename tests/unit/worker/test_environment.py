"""What a command sees in its environment (SPEC section 8, and no credentials in runs)."""

import json

from nightshift_toolkit.worker.environment import command_environment
from nightshift_toolkit.worker.message import RunMessage
from unit.worker.desk import Desk

_OWN = {
    "PATH": "/bin",
    "HOME": "/somewhere",
    "LC_TIME": "de_DE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_SESSION_TOKEN": "secret",
    "NIGHTSHIFT_TOKEN": "secret",
    "NIGHTSHIFT_RUN_ID": "somebody else's",
    "MODEL_KEY": "for the agent",
}


def _message(**fields: object) -> RunMessage:
    return RunMessage.parse(json.dumps(Desk().message(**fields)))


def test_no_credential_of_the_worker_reaches_a_command() -> None:
    assert "secret" not in command_environment(_message(), _OWN).values()


def test_only_what_is_allowed_is_passed_on() -> None:
    passed = command_environment(_message(), _OWN)
    assert {name for name in passed if not name.startswith("NIGHTSHIFT_")} == {
        "PATH",
        "HOME",
        "LC_TIME",
    }


def test_the_operator_names_further_variables() -> None:
    environment = command_environment(_message(), _OWN, ("MODEL_KEY", "NOT_SET"))
    assert environment["MODEL_KEY"] == "for the agent"
    assert "NOT_SET" not in environment


def test_given_variables_are_set_and_no_fact_of_the_run_can_be() -> None:
    given = {"MODEL_KEY": "given", "NIGHTSHIFT_RUN_ID": "another's"}
    environment = command_environment(_message(), _OWN, ("MODEL_KEY",), given)
    assert environment["MODEL_KEY"] == "given"
    assert environment["NIGHTSHIFT_RUN_ID"] == "tsk_1-20260101T090000000Z"


def test_the_facts_of_the_run_stand_beside_the_prompt() -> None:
    """P11: the worker is told that nobody will answer."""
    environment = command_environment(_message(), _OWN)
    assert {
        name: value for name, value in environment.items() if name.startswith("NIGHTSHIFT_")
    } == {
        "NIGHTSHIFT_RUN_ID": "tsk_1-20260101T090000000Z",
        "NIGHTSHIFT_TASK_ID": "tsk_1",
        "NIGHTSHIFT_USER_ID": "ada",
        "NIGHTSHIFT_THREAD_ID": "thr_1",
        "NIGHTSHIFT_ASSISTANT_ID": "",
        "NIGHTSHIFT_SCHEDULED_FOR": "2026-01-01T09:00:00.000Z",
        "NIGHTSHIFT_TRIGGER": "schedule",
        "NIGHTSHIFT_ATTEMPT": "1",
        "NIGHTSHIFT_TITLE": "Tickets",
        "NIGHTSHIFT_NON_INTERACTIVE": "1",
    }


def test_a_fact_that_a_run_does_not_have_is_an_empty_text() -> None:
    environment = command_environment(_message(trigger="manual", scheduled_for=None), _OWN)
    assert environment["NIGHTSHIFT_SCHEDULED_FOR"] == ""
