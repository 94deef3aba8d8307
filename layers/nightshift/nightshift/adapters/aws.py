"""AWS clients with time-outs that fit inside a function's own; made when first asked for.

Reads and conditional writes of DynamoDB may be repeated by botocore: a repeated transaction
carries its token, a repeated conditional write recognises its own row. Starting an execution is
repeated by nobody but recovery.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_stepfunctions import SFNClient

CONNECT_SECONDS = 1
READ_SECONDS = 3
CONNECTIONS = 64
USER_AGENT = "nightshift"
"""Fixed, since botocore would put one together anew for each call, a quarter of the call's time."""


def dynamodb_client() -> "DynamoDBClient":
    """A DynamoDB client that gives up within seconds."""
    client: DynamoDBClient = _session().create_client("dynamodb", config=_config(attempts=3))
    return client


def stepfunctions_client() -> "SFNClient":
    """A Step Functions client that asks once."""
    client: SFNClient = _session().create_client("stepfunctions", config=_config(attempts=1))
    return client


@cache
def _session() -> Any:
    """What `boto3.client` uses as well; boto3 itself would lengthen every cold start."""
    return botocore.session.get_session()


def events_client() -> Any:
    """An EventBridge client that gives up within seconds."""
    return _session().create_client("events", config=_config(attempts=2))


def sns_client() -> Any:
    """An SNS client that gives up within seconds."""
    return _session().create_client("sns", config=_config(attempts=2))


def secrets_client() -> Any:
    """A Secrets Manager client that gives up within seconds."""
    return _session().create_client("secretsmanager", config=_config(attempts=3))


def _config(*, attempts: int) -> Config:
    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        max_pool_connections=CONNECTIONS,
        parameter_validation=False,
        user_agent=USER_AGENT,
        retries={"mode": "standard", "total_max_attempts": attempts},
    )
