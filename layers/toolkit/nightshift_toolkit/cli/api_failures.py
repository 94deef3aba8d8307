"""From what the API says, or does not say, to a failure of the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import click
import httpx

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.client import ApiError, NotTheApiError, UnreachableError
from nightshift_toolkit.resources import Problem

_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: ExitCode.NOT_SIGNED_IN,
    HTTPStatus.FORBIDDEN: ExitCode.NOT_SIGNED_IN,
    HTTPStatus.NOT_FOUND: ExitCode.NOT_FOUND,
    HTTPStatus.CONFLICT: ExitCode.CONFLICT,
    HTTPStatus.PRECONDITION_FAILED: ExitCode.CONFLICT,
}
_CRON_HINT = "nightshift next '0 9 * * MON-FRI' --zone America/New_York"
_BY_FIELD = {
    "cron": _CRON_HINT,
    "every_seconds": "--every 10m",
    "once": "--once 2099-12-24T18:00:00, or a time with an offset",
    "after_seconds": "--in 2m",
    "exclude": "--exclude 2099-12-25, 2099-12-24/2100-01-02 or 22:00-06:00",
    "starts_at": "--starts-at 2099-12-24T18:00:00Z, or with another offset",
    "until": "--until 2099-12-24T18:00:00Z, or with another offset",
    "ends_at": "--ends-at 2099-12-24T18:00:00Z, or with another offset",
}
"""For a wrong schedule: by the field that is wrong, else by the one that was sent."""
_OPTIONS = {"cron": "cron", "every": "every_seconds", "once": "once", "after": "after_seconds"}
_HINTS = {
    "task_not_found": "nightshift tasks list",
    "run_not_found": "nightshift runs list TASK",
    "thread_not_found": "nightshift threads register THREAD",
    "active_run": "nightshift runs list TASK",
    "thread_busy": "nightshift tasks list",
    "budget_full": "nightshift tasks trigger TASK, a while later",
    "task_not_mutable": "nightshift runs list TASK",
    "time_passed": "nightshift tasks edit TASK --once TIME",
    "concurrent_update": "nightshift tasks show TASK",
    "quota_exceeded": "nightshift tasks delete TASK",
    "persistence_uncertain": "nightshift tasks list",
    "launch_failed": "nightshift runs list TASK",
    "corrupt_task": "nightshift tasks edit TASK, or nightshift tasks delete TASK",
    "not_in_future": "a time further ahead",
    "too_frequent": "--every 10m, or a --cron with fewer times",
    "invalid_time_zone": "--zone Europe/Berlin, or another name of the IANA database",
    "invalid_schedule": _CRON_HINT,
    "never_fires": _CRON_HINT,
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
    except httpx.InvalidURL as error:
        raise click.UsageError(f"{url} is not the address of an API.") from error
    except UnicodeEncodeError as error:
        raise click.UsageError("What was typed holds bytes that are not UTF-8 text.") from error
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
    sentence = _as_named(str(error), error.problem)
    fields = [
        f"{each['field']}: {each['message']}"
        for each in error.problem.get("errors", [])
        if each["message"].strip(".").casefold() not in sentence.casefold()
    ]
    return "\n       ".join([sentence, *fields])


def _hint(error: ApiError) -> str | None:
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "nightshift token --user me (local cloud), or NIGHTSHIFT_TOKEN with a new token"
    context = click.get_current_context(silent=True)
    options = context.params if context else {}
    hint = _HINTS.get(error.code or "")
    if hint == _CRON_HINT:
        sent = [name for option, name in _OPTIONS.items() if options.get(option) not in (None, ())]
        wrong = [part for name in _fields(error.problem) for part in name.split(".")]
        fitting = wrong + sent if wrong or "cron" in sent else []
        hint = next((_BY_FIELD[name] for name in fitting if name in _BY_FIELD), None)
    task_id = options.get("task_id")
    return hint.replace("TASK", str(task_id)) if hint and task_id else hint


def _fields(problem: Problem) -> list[str]:
    return [each["field"] for each in problem.get("errors", []) if each["field"]]


def _as_named(sentence: str, problem: Problem) -> str:
    """The sentence with a field's name at its beginning as the field is written."""
    written = sentence[:1].lower() + sentence[1:]
    name = written.split(" ", 1)[0].rstrip(":")
    known = any(name in field.split(".") for field in _fields(problem))
    return written if known else sentence
