"""`nightshift worker`: take runs from the queue and do their work."""

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import click
from botocore.exceptions import BotoCoreError

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.local_state import find_local_cloud
from nightshift_toolkit.cli.values import (
    ExitCodeReason,
    Expression,
    FiniteRange,
    OutputReason,
    VariableName,
)
from nightshift_toolkit.worker.aws import connect, connect_outputs
from nightshift_toolkit.worker.log import log_to_stderr
from nightshift_toolkit.worker.ports import Unavailable
from nightshift_toolkit.worker.service import WorkerService
from nightshift_toolkit.worker.settings import MAX_CONCURRENCY, WorkerSettings
from nightshift_toolkit.worker.signals import serve_until_signalled
from nightshift_toolkit.worker.work import Workbench

_LONGEST_POLL_SECONDS = 20
_LONGEST_SECONDS = 604_800
_USUAL_HEARTBEAT_SECONDS = 10.0
_HEARTBEATS_PER_SILENCE = 4
_MADE_UP_CREDENTIAL = "local"


@dataclass(frozen=True)
class Place:
    """Where the work comes from."""

    queue_url: str
    table_name: str
    endpoint_url: str | None
    session: boto3.Session
    output_bucket: str | None = None


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("agent", metavar="[-- AGENT [ARG]...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--concurrency",
    type=click.IntRange(1, MAX_CONCURRENCY),
    default=1,
    show_default=True,
    help="How many runs at once.",
)
@click.option("--allow-shell", is_flag=True, help="Also run the shell commands that users write.")
@click.option("--queue-url", envvar="NIGHTSHIFT_QUEUE_URL", help="Else the local cloud's.")
@click.option("--table", envvar="NIGHTSHIFT_TABLE", help="Else the local cloud's.")
@click.option("--region", help="AWS region; else that of the AWS configuration.")
@click.option("--profile", help="AWS profile; else the usual credentials.")
@click.option(
    "--env",
    "passed_variables",
    metavar="NAME",
    type=VariableName(),
    multiple=True,
    help="A variable of this environment that commands may see too; repeatable.",
)
@click.option(
    "--workdir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where commands run; else an empty folder for each run.",
)
@click.option(
    "--silence-seconds",
    type=FiniteRange(1, _LONGEST_SECONDS),
    default=300.0,
    show_default=True,
    envvar="NIGHTSHIFT_WORKER_SILENCE_SECONDS",
    help="WorkerSilenceSeconds of the deployed workflow.",
)
@click.option(
    "--heartbeat-seconds",
    type=FiniteRange(0.1, _LONGEST_SECONDS),
    help="Between two heartbeats.",
)
@click.option(
    "--grace-seconds",
    type=FiniteRange(0, _LONGEST_SECONDS),
    default=10.0,
    show_default=True,
    help="From asking a command to stop until it is killed.",
)
@click.option(
    "--drain-seconds",
    type=FiniteRange(0, _LONGEST_SECONDS),
    default=30.0,
    show_default=True,
    help="How long runs may go on after SIGTERM or Ctrl-C; a second one ends them.",
)
@click.option(
    "--retry-exit-code",
    "exit_codes",
    type=ExitCodeReason(),
    multiple=True,
    help="What an exit code means to a task's retry, like 75=rate_limited; repeatable.",
)
@click.option(
    "--retry-output",
    "outputs",
    type=OutputReason(),
    multiple=True,
    help="The same by the output of a failed command: REGEX=rate_limited; repeatable.",
)
@click.option(
    "--output-bucket",
    envvar="NIGHTSHIFT_OUTPUT_BUCKET",
    help="Where output goes that a record cannot hold; else it is cut.",
)
@click.option(
    "--mask",
    "masks",
    type=Expression(),
    multiple=True,
    help="A regular expression of what is secret in output and results too; repeatable.",
)
@click.option(
    "--poll-seconds",
    type=FiniteRange(0, _LONGEST_POLL_SECONDS),
    default=5.0,
    show_default=True,
    help="How long one look at the queue waits.",
)
def command(
    *,
    agent: tuple[str, ...],
    queue_url: str | None,
    table: str | None,
    region: str | None,
    profile: str | None,
    output_bucket: str | None,
    workdir: Path | None,
    heartbeat_seconds: float | None,
    silence_seconds: float,
    exit_codes: tuple[tuple[int, str], ...],
    outputs: tuple[tuple[re.Pattern[str], str], ...],
    **options: Any,
) -> None:
    """Take runs from the queue, do their work, report how they ended.

    AGENT is the program that gets each prompt on its standard input, and the run's facts as
    NIGHTSHIFT_* in its environment. It is run as it stands, without a shell.

    \b
    nightshift worker -- my-agent --flag
    nightshift worker --concurrency 4 --allow-shell
    """
    if not agent and not options["allow_shell"]:
        raise click.UsageError("Say what does the work: -- AGENT [ARG]..., or --allow-shell.")
    usual_heartbeat = min(_USUAL_HEARTBEAT_SECONDS, silence_seconds / _HEARTBEATS_PER_SILENCE)
    if heartbeat_seconds and heartbeat_seconds > silence_seconds / 2:
        raise click.UsageError("--heartbeat-seconds must be at most half of --silence-seconds.")
    settings = WorkerSettings(
        agent_command=program(agent),
        folder=workdir.absolute() if workdir else None,
        silence_seconds=silence_seconds,
        reasons_of_exit_codes=dict(exit_codes),
        reasons_of_output=outputs,
        heartbeat_seconds=heartbeat_seconds or usual_heartbeat,
        **options,
    )
    place = _place(queue_url, table, region, profile)
    raise SystemExit(
        _serve(settings, replace(place, output_bucket=output_bucket or place.output_bucket))
    )


def program(agent: tuple[str, ...]) -> tuple[str, ...]:
    """The command with its program's whole path: runs have other folders than this process."""
    if not agent:
        return ()
    program = shutil.which(agent[0])
    if program is None:
        raise Failure(
            f"{agent[0]} is not a program that can be run here.",
            ExitCode.USAGE,
            hint=f"which {agent[0]}, or its whole path",
        )
    return (str(Path(program).absolute()), *agent[1:])


def _place(
    queue_url: str | None, table: str | None, region: str | None, profile: str | None
) -> Place:
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


def _serve(settings: WorkerSettings, place: Place) -> int:
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
