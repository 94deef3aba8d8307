"""`nightshift doctor`: examine a whole table, local or deployed, and repair it if asked to."""

import dataclasses
import json
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import boto3
import click
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from nightshift.adapters.dynamodb.runs import DynamoRuns
from nightshift.adapters.dynamodb.table import Table
from nightshift.adapters.dynamodb.tasks import DynamoTasks
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher
from nightshift.domain.errors import NightshiftError
from nightshift.domain.exchanged import Event
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift_toolkit.audit.doctor import PATIENCE, Patient, Report, run_doctor
from nightshift_toolkit.audit.invariants import INVARIANTS
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.local_state import find_local_cloud
from nightshift_toolkit.cli.text import printable
from nightshift_toolkit.cli.values import FiniteRange

SECONDS_BETWEEN_LOOKS = 3.0
_LONGEST_PATIENCE_SECONDS = 31_536_000
_MADE_UP_CREDENTIAL = "local"
_PROMISES = {invariant.name: invariant.promise for invariant in INVARIANTS}


@click.command()
@click.option("--table", envvar="NIGHTSHIFT_TABLE", help="Else the local cloud's.")
@click.option("--state-machine-arn", help="Of the table's runs; needed with --table.")
@click.option("--region", help="AWS region; else that of the AWS configuration.")
@click.option("--profile", help="AWS profile; else the usual credentials.")
@click.option("--limit", type=click.IntRange(0), help="Runs that may be active; else not checked.")
@click.option(
    "--patience-seconds",
    type=FiniteRange(0, _LONGEST_PATIENCE_SECONDS),
    default=PATIENCE.total_seconds(),
    show_default=True,
    help="How long an end may be unrecorded and a launch unsettled.",
)
@click.option("--repair", is_flag=True, help="Repair what has one right answer.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def doctor(
    *,
    table: str | None,
    state_machine_arn: str | None,
    region: str | None,
    profile: str | None,
    limit: int | None,
    patience_seconds: float,
    repair: bool,
    as_json: bool,
) -> None:
    """Examine a whole table and say what is broken; exit code 1 if anything is.

    Every row is read. Nothing is written without --repair. A table in use is looked at twice.
    """
    patient = _local() if table is None else _deployed(table, state_machine_arn, region, profile)
    try:
        report = run_doctor(
            patient,
            repair=repair,
            patience=timedelta(seconds=patience_seconds),
            limit=limit,
        )
    except (NightshiftError, ClientError, BotoCoreError) as error:
        raise Failure(f"The table cannot be examined: {error}", ExitCode.FAULT) from error
    click.echo(_as_json(report) if as_json else _as_text(report))
    if not report.healthy:
        raise click.exceptions.Exit(ExitCode.FAULT)


command = doctor


def _local() -> Patient:
    cloud = find_local_cloud()
    if cloud is None:
        raise Failure(
            "No local cloud runs in this folder or above it.",
            ExitCode.UNREACHABLE,
            hint="make run, or --table and --state-machine-arn for a deployed one",
        )
    facts = cloud.facts
    session = boto3.Session(
        aws_access_key_id=_MADE_UP_CREDENTIAL,
        aws_secret_access_key=_MADE_UP_CREDENTIAL,
        region_name=facts["region"],
    )
    return patient_of(
        session, facts["table_name"], facts["state_machine_arn"], facts["endpoint_url"]
    )


def _deployed(
    table: str, state_machine_arn: str | None, region: str | None, profile: str | None
) -> Patient:
    if state_machine_arn is None:
        raise click.UsageError("--table needs --state-machine-arn, to ask what became of runs.")
    try:
        session = boto3.Session(region_name=region, profile_name=profile)
        return patient_of(session, table, state_machine_arn)
    except BotoCoreError as error:
        raise Failure(f"AWS cannot be used: {error}", ExitCode.NOT_SIGNED_IN) from error


def patient_of(
    session: boto3.Session,
    table_name: str,
    state_machine_arn: str,
    endpoint_url: str | None = None,
) -> Patient:
    """The table and its state machine, with the hands that read and repair them.

    Args:
        session: with the credentials and the region to use.
        table_name: the table.
        state_machine_arn: the state machine of its runs.
        endpoint_url: the local cloud's; None for AWS itself.
    """
    config = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard"})
    connect: Any = partial(session.client, endpoint_url=endpoint_url, config=config)
    table = Table(connect("dynamodb"), table_name)
    step_functions = connect("stepfunctions")
    inspector = StepFunctionsInspector(step_functions, state_machine_arn)
    lifecycle = Lifecycle(
        tasks=DynamoTasks(table),
        runs=DynamoRuns(table, observe=_unobserved),
        launcher=StepFunctionsLauncher(step_functions, state_machine_arn, silence_seconds=0),
        inspector=inspector,
        observe=_unobserved,
    )
    return Patient(
        table=table,
        inspector=inspector,
        lifecycle=lifecycle,
        clock=lambda: datetime.now(UTC),
        wait=partial(time.sleep, SECONDS_BETWEEN_LOOKS),
    )


def _unobserved(_event: Event) -> None:
    """The report tells everything."""


def _as_json(report: Report) -> str:
    def told(finding: Any) -> dict[str, str | None]:
        return {"promise": _PROMISES.get(finding.invariant)} | dataclasses.asdict(finding)

    content = {
        "examined": dict(report.examined),
        "found": [told(finding) for finding in report.found],
        "repaired": [told(entry.finding) | {"did": entry.did} for entry in report.repaired],
        "left": [told(finding) for finding in report.left],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def _as_text(report: Report) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in report.examined.items())
    lines = [f"Examined: {counts}."]
    for finding in report.found:
        lines += [
            f"BROKEN    {printable(finding.subject)}: {printable(finding.detail)}",
            f"          {_PROMISES.get(finding.invariant, finding.invariant)}",
        ]
    lines += [
        f"REPAIRED  {printable(entry.finding.subject)}: {entry.did}" for entry in report.repaired
    ]
    if report.healthy:
        lines.append("Nothing is broken.")
    elif report.repaired:
        lines.append(f"{len(report.left)} left.")
    return "\n".join(lines)
