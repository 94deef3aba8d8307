"""What DynamoDB and botocore say went wrong, translated once into the domain's words."""

from http import HTTPStatus

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
)

from nightshift.domain.errors import NightshiftError, PersistenceUncertain, StorageUnavailable

_SERVER_FAULTS = frozenset(
    {"InternalServerError", "ServiceUnavailable", "TransactionInProgressException"}
)
_NEVER_SENT = (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
)


def code_of(error: Exception) -> str:
    """The service's code of an error, or its class name."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "Unknown"))
    return type(error).__name__


def translated(error: ClientError | BotoCoreError, *, write: bool) -> NightshiftError:
    """The domain's error for a call that gave no usable answer.

    A write whose request may have reached the table is uncertain; a refusal, a throttle or a
    connection that never stood is certain.

    Args:
        error: what botocore raised.
        write: whether the call would have changed something.
    """
    code = code_of(error)
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        reached = code in _SERVER_FAULTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    else:
        reached = not isinstance(error, _NEVER_SENT)
    if write and reached:
        return PersistenceUncertain()
    return StorageUnavailable(f"The table did not answer: {code}.")
