"""`nightshift logs`: the output of one run, as far as its record has it."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import click

from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.text import one_line, printable
from nightshift_toolkit.cli.watching import looks

if TYPE_CHECKING:
    from nightshift_toolkit.resources import Run

_ACTIVE: Final = ("queued", "running")
_NOT_YET: Final = "What it writes is recorded when it ends; until then nothing of it can be shown."


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--follow", "-f", is_flag=True, help="Wait until the run has ended.")
@with_session
def command(*, session: Session, run_id: str, follow: bool) -> None:
    """Print the output of a run; what is said about it goes to standard error.

    While a run is active its output is with its worker alone: --follow tells how it goes, and
    prints the output when it has ended.
    """

    def look() -> "Run":
        # A run's id begins with its task's, which has no dash in it.
        with session.client() as client:
            return client.run(run_id.partition("-")[0], run_id)

    run = followed(look, pause=time.sleep) if follow else look()
    if session.as_json:
        show_json(run)
        return
    if run["status"] in _ACTIVE:
        _say(f"{_state(run)}. {_NOT_YET}")
        _say(f"Wait for it:  nightshift logs {run_id} --follow")
        return
    _print_output(run)
    for line in _end(run):
        _say(line)


def followed(look: "Callable[[], Run]", *, pause: Callable[[float], None]) -> "Run":
    """The run once it has ended; every change until then is said on standard error.

    Args:
        look: reads the run.
        pause: waits the given seconds.
    """
    said = None
    for run in looks(look, pause=pause):
        if run["status"] not in _ACTIVE:
            return run
        if said is None:
            _say(_NOT_YET)
        if said != (said := _state(run)):
            _say(f"{said}.")
    raise AssertionError("looks do not end by themselves")


def _state(run: "Run") -> str:
    """How it goes with a run that is active."""
    if run["status"] == "queued":
        return "The run is queued"
    if run["paused_at"] is not None:
        return "The run is paused"
    attempt = f" (attempt {run['attempt']})" if run["attempt"] > 1 else ""
    if not run["at_work"]:
        return f"The run waits for a worker{attempt}"
    return f"The run is at work{attempt}"


def _print_output(run: "Run") -> None:
    """The output as it was recorded; on a terminal without what could steer it."""
    output = run["result"]["output"] if run["result"] else ""
    if output:
        shown = printable(output) if sys.stdout.isatty() else output
        click.echo(shown, nl=not shown.endswith("\n"))


def _end(run: "Run") -> "Iterator[str]":
    """What there is to say about a run that has ended."""
    result = run["result"]
    code = result["exit_code"] if result else None
    told = [run["status"], run["reason"], None if code is None else f"exit code {code}"]
    yield f"The run has ended: {', '.join(word for word in told if word)}."
    for before in run["attempts"]:
        yield f"Attempt {before['attempt']} failed ({before['reason']}); its output is not kept."
    if run["error"]:
        yield one_line(run["error"])
    if result is None:
        yield "No output is recorded."
    elif result["truncated"]:
        url = result.get("output_url")
        yield f"All of it: {one_line(url)}" if url else "The middle of the output was left out."


def _say(line: str) -> None:
    click.echo(line, err=True)
