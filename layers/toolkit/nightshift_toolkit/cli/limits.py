"""Refusals that depend on the operator's limits, told with the limit that is in force."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.client import ApiError, Client, NotTheApiError, UnreachableError

_TIMEOUT: Final = "timeout_seconds"


@contextmanager
def limits_named(client: Client, *, as_json: bool) -> Iterator[None]:
    """Name the operator's longest timeout also where the API first names that of any operator.

    JSON stays the API's own document, so nothing is asked for it.
    """
    try:
        yield
    except ApiError as error:
        longest = None if as_json or not _is_too_long(error) else _longest_timeout(client)
        if longest is None:
            raise
        sentence = f"{_TIMEOUT} must be at most {longest}."
        raise Failure(sentence, ExitCode.REFUSED) from error


def _is_too_long(error: ApiError) -> bool:
    wrong = [each["field"] for each in error.problem.get("errors", [])]
    return wrong == [_TIMEOUT] and "at most" in str(error)


def _longest_timeout(client: Client) -> int | None:
    """The limit in force; None where it cannot be read, since the refusal is what counts."""
    try:
        longest = client.policy().get(f"max_{_TIMEOUT}")
    except (ApiError, UnreachableError, NotTheApiError):
        return None
    return longest if isinstance(longest, int) else None
