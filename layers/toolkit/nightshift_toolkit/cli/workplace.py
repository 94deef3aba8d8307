"""Where a worker's work comes from, and a worker that takes it from there."""

from dataclasses import dataclass

import boto3
import click
from botocore.exceptions import BotoCoreError

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.local_state import find_local_cloud
from nightshift_toolkit.worker.aws import connect, connect_outputs
from nightshift_toolkit.worker.log import log_to_stderr
from nightshift_toolkit.worker.ports import Unavailable
from nightshift_toolkit.worker.service import WorkerService
from nightshift_toolkit.worker.settings import WorkerSettings
from nightshift_toolkit.worker.signals import serve_until_signalled
from nightshift_toolkit.worker.work import Workbench

_MADE_UP_CREDENTIAL = "local"


@dataclass(frozen=True)
class Place:
    """Where the work comes from."""

    queue_url: str
    table_name: str
    endpoint_url: str | None
    session: boto3.Session
    output_bucket: str | None = None


def find_place(
    queue_url: str | None, table: str | None, region: str | None, profile: str | None
) -> Place:
    """The queue and table that were named, or else those of the local cloud.

    Raises `Failure` or `UsageError` when it is not said where the work comes from.
    """
    if queue_url and table:
        try:
            session = boto3.Session(profile_name=profile, region_name=region)
        except BotoCoreError as error:
            raise Failure(f"{error}.", ExitCode.NOT_SIGNED_IN) from error
        return Place(queue_url, table, None, session)
    if queue_url or table:
        given, missing = ("--queue-url", "--table") if queue_url else ("--table", "--queue-url")
        raise click.UsageError(
            f"{given} needs {missing} beside it: both are outputs of the deployed stack."
        )
    cloud = find_local_cloud()
    if profile or cloud is None:
        raise Failure(
            "It is not said where the work comes from.",
            ExitCode.USAGE,
            hint="--queue-url and --table with the outputs of the deployed stack, or make run",
        )
    facts = cloud.facts
    session = boto3.Session(
        aws_access_key_id=_MADE_UP_CREDENTIAL,
        aws_secret_access_key=_MADE_UP_CREDENTIAL,
        region_name=facts["region"],
    )
    return Place(
        facts["queue_url"],
        facts["table_name"],
        facts["endpoint_url"],
        session,
        facts.get("output_bucket"),
    )


def serve(settings: WorkerSettings, place: Place) -> int:
    """Work there until told to stop; return the exit code. Raises `Failure` if it cannot start."""
    try:
        queue, pickups, callbacks = connect(
            queue_url=place.queue_url,
            table_name=place.table_name,
            endpoint_url=place.endpoint_url,
            session=place.session,
            concurrency=settings.concurrency,
        )
        outputs = place.output_bucket and connect_outputs(
            place.output_bucket, endpoint_url=place.endpoint_url, session=place.session
        )
    except BotoCoreError as error:
        raise Failure(
            f"AWS cannot be used: {str(error).rstrip('.')}.",
            ExitCode.UNREACHABLE,
            hint="--region and --profile, or the AWS configuration of this machine",
        ) from error
    try:
        queue.check()
    except Unavailable as error:
        raise _unusable("The queue cannot be read", error) from error
    try:
        pickups.check()
    except Unavailable as error:
        raise _unusable(f"The table {place.table_name} cannot be written", error) from error
    log_to_stderr()
    bench = Workbench(queue, pickups, callbacks, settings, outputs or None)
    return serve_until_signalled(WorkerService(bench))


def _unusable(sentence: str, error: Exception) -> Failure:
    return Failure(
        f"{sentence}: {str(error).rstrip('.')}.",
        ExitCode.UNREACHABLE,
        hint="the outputs of the deployed stack, and the credentials of this machine",
    )
