"""From what the API says, or does not say, to a failure of the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.client import ApiError, NotTheApiError, UnreachableError

_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: ExitCode.NOT_SIGNED_IN,
    HTTPStatus.FORBIDDEN: ExitCode.NOT_SIGNED_IN,
    HTTPStatus.NOT_FOUND: ExitCode.NOT_FOUND,
    HTTPStatus.CONFLICT: ExitCode.CONFLICT,
    HTTPStatus.PRECONDITION_FAILED: ExitCode.CONFLICT,
}
_HINTS = {
    "task_not_found": "nightshift tasks list",
    "run_not_found": "nightshift runs list TASK",
    "thread_not_found": "nightshift threads register THREAD",
    "active_run": "nightshift runs list TASK",
    "thread_busy": "nightshift tasks list",
    "budget_full": "nightshift tasks trigger TASK, when a run has ended",
    "task_not_mutable": "nightshift runs list TASK",
    "time_passed": "nightshift tasks edit TASK --once TIME",
    "concurrent_update": "nightshift tasks show TASK",
    "quota_exceeded": "nightshift tasks delete TASK",
    "persistence_uncertain": "nightshift tasks list",
    "launch_failed": "nightshift runs list TASK",
    "corrupt_task": "nightshift tasks edit TASK, or nightshift tasks delete TASK",
    "not_in_future": "--in 2m, or a --once TIME further ahead",
    "invalid_time_zone": "--zone Europe/Berlin, or another name of the IANA database",
    "invalid_schedule": "nightshift next '0 9 * * MON-FRI' --zone America/New_York",
    "never_fires": "nightshift next '0 9 * * MON-FRI' --zone America/New_York",
}


@contextmanager
def api_failures(*, as_json: bool, url: str) -> Iterator[None]:
    """Turn what the client raises into failures of the command line."""
    try:
        yield
    except ApiError as error:
        raise _refused(error, as_json=as_json) from error
    except UnreachableError as error:
        raise Failure(
            f"The API at {url} cannot be reached.",
            ExitCode.UNREACHABLE,
            hint="make run, or --url and NIGHTSHIFT_URL for a deployed one",
        ) from error
    except NotTheApiError as error:
        raise Failure(
            f"What answers at {url} is not the Nightshift API.", ExitCode.UNREACHABLE
        ) from error


def _refused(error: ApiError, *, as_json: bool) -> Failure:
    return Failure(
        _sentence(error),
        _exit_code(error.status),
        hint=_hint(error),
        problem=error.problem if as_json else None,
    )


def _exit_code(status: int) -> ExitCode:
    if status in _BY_STATUS:
        return _BY_STATUS[HTTPStatus(status)]
    server_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return ExitCode.FAULT if server_fault else ExitCode.REFUSED


def _sentence(error: ApiError) -> str:
    if error.status == HTTPStatus.UNAUTHORIZED:
        return "You are not signed in, or the token is no longer valid."
    if error.status == HTTPStatus.FORBIDDEN:
        return "This token does not allow that."
    sentence = str(error)
    fields = [
        f"{each['field']}: {each['message']}"
        for each in error.problem.get("errors", [])
        if each["message"].strip(".").casefold() not in sentence.casefold()
    ]
    return "\n       ".join([sentence, *fields])


def _hint(error: ApiError) -> str | None:
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "nightshift token --user me (local cloud), or NIGHTSHIFT_TOKEN with a new token"
    hint = _HINTS.get(error.code or "")
    context = click.get_current_context(silent=True)
    task_id = context.params.get("task_id") if context else None
    return hint.replace("TASK", str(task_id)) if hint and task_id else hint
