"""`nightshift simulate`: what would run in the days ahead, by the rules of production."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nightshift.domain.errors import InvalidRequest, NightshiftError
from nightshift.domain.model.instants import parse_rfc3339
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_fields, show_json
from nightshift_toolkit.cli.tables import show_table
from nightshift_toolkit.cli.text import local_time, span
from nightshift_toolkit.cli.values import FiniteRange
from nightshift_toolkit.schedules import sentence_of
from nightshift_toolkit.simulation import Outage, Report, Scenario, read_tasks, simulate, wishes_of

_STEPS = 100
_EARLIEST_START = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_START = datetime(9000, 1, 1, tzinfo=UTC)
"""Far enough from the end of the calendar for everything that is reckoned from a start."""
_REASONS_SAID = 5


class OutageSpan(click.ParamType[Outage]):
    """An outage as `START/END`, both RFC 3339."""

    name = "start/end"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Outage:
        """The span; its end lies after its start."""
        start, slash, end = str(value).partition("/")
        try:
            outage = Outage(parse_rfc3339(start), parse_rfc3339(end))
        except NightshiftError:
            outage = None
        if not slash or outage is None or outage.end <= outage.start:
            self.fail("write it like 2026-03-08T01:00:00Z/2026-03-08T05:00:00Z", param, ctx)
        return outage


@click.command()
@click.argument("file", required=False)
@click.option("--from", "start", help="RFC 3339 time of the first tick; else now.")
@click.option("--days", type=FiniteRange(0.01, 366), default=7, show_default=True)
@click.option("--outage", "outages", type=OutageSpan(), multiple=True, help="No tick in it.")
@click.option("--max-concurrent-runs", type=click.IntRange(0, 5000), default=10, show_default=True)
@click.option(
    "--run-seconds",
    type=FiniteRange(0, 604_800),
    default=60,
    show_default=True,
    help="How long each run takes.",
)
@click.option("--tick-seconds", type=click.IntRange(1, 3600), default=60, show_default=True)
@click.option("--runs", "list_runs", is_flag=True, help="List single runs and skips as well.")
@with_session
def command(
    *,
    session: Session,
    file: str | None,
    start: str | None,
    days: float,
    outages: tuple[Outage, ...],
    max_concurrent_runs: int,
    run_seconds: float,
    tick_seconds: int,
    list_runs: bool,
) -> None:
    """Let days pass on a virtual clock: what runs, what is skipped and why, how long it waits.

    FILE holds tasks as JSON or YAML, as they are created or as `tasks list --json` shows them; - is
    standard input. Without a FILE my tasks are taken from the API.

    \b
    nightshift simulate --days 30
    nightshift simulate tasks.yaml --outage 2026-03-08T01:00:00Z/2026-03-08T05:00:00Z
    """
    try:
        scenario = Scenario(
            start=_start(start),
            days=days,
            outages=outages,
            max_concurrent_runs=max_concurrent_runs,
            run_seconds=run_seconds,
            tick_seconds=tick_seconds,
        )
        wishes = wishes_of(_tasks(session, file))
    except NightshiftError as error:
        raise Failure(sentence_of(error), ExitCode.REFUSED) from error
    with click.progressbar(length=_STEPS, label="Simulating", file=sys.stderr) as bar:
        report = simulate(
            wishes,
            scenario,
            progress=lambda part: bar.update(int(part * _STEPS) - bar.pos),
            list_runs=list_runs,
        )
    if session.as_json:
        listed = {"list": report.runs, "list_cut": report.runs_cut} if list_runs else {}
        show_json(report.to_dict() | listed)
    else:
        _show(report, list_runs=list_runs)
    if report.not_simulated and not report.tasks:
        raise Failure(_why_none(report), ExitCode.REFUSED)


def _why_none(report: Report) -> str:
    reasons = (f"{title}: {reason}" for title, reason in report.not_simulated[:_REASONS_SAID])
    return "\n       ".join(["None of the tasks could be simulated.", *reasons])


def _start(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC).replace(second=0, microsecond=0)
    start = parse_rfc3339(text, field="--from")
    if not _EARLIEST_START <= start <= _LATEST_START:
        raise InvalidRequest("--from must lie between the years 1970 and 9000")
    return start


def _tasks(session: Session, file: str | None) -> Sequence[Mapping[str, Any]]:
    if file is None:
        with session.client() as client:
            return list(client.tasks())
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return read_tasks(raw.decode("utf-8"))
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.", ExitCode.USAGE) from error
    except UnicodeDecodeError as error:
        raise Failure(f"{file} is not UTF-8 text.", ExitCode.USAGE) from error


def _show(report: Report, *, list_runs: bool) -> None:
    told = report.to_dict()
    if list_runs:
        _show_runs(report)
    show_table(
        ("TASK", "TITLE", "RUNS", "FAILED", "SKIPPED", "FOLDED", "WAITED", "AT MOST"),
        (
            (
                task_id,
                tally.title,
                str(tally.runs),
                str(tally.failed),
                _reasons(tally.skipped),
                str(tally.folded),
                span(tally.waits.to_dict()["mean_seconds"]),
                span(tally.waits.longest),
            )
            for task_id, tally in report.tasks.items()
        ),
        flexible="TITLE",
        empty="No task was simulated.",
    )
    click.echo()
    show_fields(
        (
            ("From", told["from"]),
            ("To", told["to"]),
            ("Runs", f"{told['runs']}, {told['failed']} failed"),
            ("Skipped", _reasons(told["skipped"])),
            ("Folded", f"{told['folded']} occurrences passed while their task waited"),
            ("Busiest minute", _moment(told["busiest_minute"], "runs started")),
            ("Longest line", _moment(told["longest_line"], "tasks due at once")),
            ("Most active", _moment(told["most_active"], "runs at once")),
            ("Still waiting", f"{told['waiting_at_the_end']} tasks"),
        )
    )
    for tally in report.tasks.values():
        if tally.blocked:
            click.echo(f"Blocked: {tally.title}: {tally.blocked}")
    for title, reason in report.not_simulated:
        click.echo(f"Not simulated: {title}: {reason}")


def _show_runs(report: Report) -> None:
    show_table(
        ("AT", "TASK", "SCHEDULED FOR", "WHAT"),
        (
            (
                local_time(run["at"], UTC),
                report.tasks[run["task_id"]].title,
                local_time(run["scheduled_for"], UTC),
                f"{run['what']}: {run['reason']}" if run["reason"] else run["what"],
            )
            for run in report.runs
        ),
        flexible="TASK",
        empty="Nothing would run.",
    )
    if report.runs_cut:
        click.echo("More would run than are listed.")
    click.echo()


def _reasons(skipped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in skipped.items()) or "0"


def _moment(moment: Mapping[str, Any], what: str) -> str:
    if moment["at"] is None:
        return f"0 {what}"
    return f"{moment['count']} {what}, {local_time(moment['at'], UTC)} UTC"
