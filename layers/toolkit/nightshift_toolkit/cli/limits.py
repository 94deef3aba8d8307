"""Refusals that depend on the operator's limits, told with the limit that is in force."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.client import (
    ApiError,
    Client,
    NotTheApiError,
    UnreachableError,
)

_TIMEOUT: Final = "timeout_seconds"


@contextmanager
def limits_named(client: Client, *, as_json: bool) -> Iterator[None]:
    """Tell a stopped clock from a busy one, and one longest timeout instead of two.

    JSON stays the API's own document, so nothing is asked for it.
    """
    try:
        yield
    except ApiError as error:
        explain = None if as_json else _explanation_of(error)
        failure = explain and explain(_limits(client))
        if failure is None:
            raise
        raise failure from error


Explanation = Callable[[Mapping[str, Any]], Failure | None]


def _explanation_of(error: ApiError) -> Explanation | None:
    if error.code == "budget_full":
        return _stopped
    wrong = [each["field"] for each in error.problem.get("errors", [])]
    return _timeout if wrong == [_TIMEOUT] and "at most" in str(error) else None


def _limits(client: Client) -> Mapping[str, Any]:
    """The limits in force; empty where they cannot be read, since the refusal is what counts."""
    try:
        return client.policy()
    except (ApiError, UnreachableError, NotTheApiError):
        return {}


def _stopped(limits: Mapping[str, Any]) -> Failure | None:
    if limits.get("max_concurrent_runs") != 0:
        return None
    return Failure(
        "The operator has stopped all starts; nothing runs until they are allowed again.",
        ExitCode.CONFLICT,
    )


def _timeout(limits: Mapping[str, Any]) -> Failure | None:
    longest = limits.get(f"max_{_TIMEOUT}")
    if longest is None:
        return None
    return Failure(f"{_TIMEOUT} must be at most {longest}.", ExitCode.REFUSED)
