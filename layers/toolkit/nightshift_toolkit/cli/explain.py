"""`nightshift tasks explain`: which rule decides about a task, now or at a time."""

from typing import Final

import click

from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.tables import show_table
from nightshift_toolkit.cli.text import local_time, one_line

_SAID: Final = {
    "starts": "The next look of the clock starts it",
    "skips": "The next look of the clock records it as skipped",
    "waits": "It is due and waits",
    "blocks": "The next look of the clock blocks the task",
    "moves_on": "It has its record; the next look of the clock goes on to the next time",
    "wakes": "The next look of the clock ends its pause",
    "rests": "The clock does not start it now",
    "comes": "That time is still to come",
    "recorded": "That time is in the history",
    "no_occurrence": "The task has no such time",
    "no_record": "That time has passed and left no record",
}
_RESTS_THEN: Final = "The clock will not start it then, as things stand"


@click.command()
@click.argument("task_id", metavar="TASK")
@click.option(
    "--at",
    metavar="TIME",
    help="A time, past or to come: RFC 3339, or local in the task's zone as 2026-01-05T09:00:00.",
)
@with_session
def explain(*, session: Session, task_id: str, at: str | None) -> None:
    """Say why a task runs or does not: every rule in its order, and which one decides."""
    with session.client() as client:
        explanation = client.explain_task(task_id, at)
    if session.as_json:
        show_json(explanation)
        return
    decision, reason = explanation["decision"], explanation["reason"]
    said = _SAID.get(decision, decision)
    if decision == "rests" and at is not None:
        said = _RESTS_THEN
    code = f" ({one_line(reason)})" if reason and decision != "blocks" else ""
    click.echo(f"{local_time(explanation['at'])} here: {said}{code}.")
    told = [word for word in explanation["rules"] if word["detail"]]
    show_table(
        ("RULE", "VERDICT", "WHY"),
        ((word["rule"], word["verdict"].replace("_", " "), word["detail"] or "-") for word in told),
        flexible="WHY",
        empty="No rules.",
    )
    untold = [word["rule"] for word in explanation["rules"] if not word["detail"]]
    if untold:
        click.echo(f"Not reached: {', '.join(untold)}")
