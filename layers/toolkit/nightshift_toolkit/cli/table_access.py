"""The table itself, for operators: the running local cloud's, or a deployed one by name."""

from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from nightshift.adapters.dynamodb.table import Table
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.local_state import find_local_cloud

_MADE_UP_CREDENTIAL: Final = "local"
_CONFIG: Final = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard"})


def open_table(name: str | None, region: str | None, profile: str | None) -> Table:
    """The table of this name with the usual AWS credentials; without a name the local cloud's.

    Raises:
        Failure: no local cloud runs, or AWS cannot be used.
    """
    if name is None:
        return _local()
    try:
        session = boto3.Session(region_name=region, profile_name=profile)
        return Table(session.client("dynamodb", config=_CONFIG), name)
    except BotoCoreError as error:
        raise Failure(f"AWS cannot be used: {error}", ExitCode.NOT_SIGNED_IN) from error


def _local() -> Table:
    cloud = find_local_cloud()
    if cloud is None:
        raise Failure(
            "No local cloud runs in this folder or above it.",
            ExitCode.UNREACHABLE,
            hint="make run, or --table for a deployed one",
        )
    client: Any = boto3.client(
        "dynamodb",
        aws_access_key_id=_MADE_UP_CREDENTIAL,
        aws_secret_access_key=_MADE_UP_CREDENTIAL,
        region_name=cloud.facts["region"],
        endpoint_url=cloud.facts["endpoint_url"],
        config=_CONFIG,
    )
    return Table(client, cloud.facts["table_name"])
