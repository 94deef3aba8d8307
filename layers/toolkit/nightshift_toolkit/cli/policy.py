"""`nightshift policy`: the limits in force, and the operator's kill switch."""

from itertools import islice
from typing import Any, Final

import click

from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_fields, show_json
from nightshift_toolkit.cli.tables import show_table
from nightshift_toolkit.cli.text import local_time

DEPLOYED: Final = "deployed"


class Limit(click.ParamType[int | str]):
    """A whole number, or the word that goes back to the deployed value."""

    name = "limit"

    def __init__(self, least: int) -> None:
        self.least = least

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """How the help names the value."""
        del param, ctx
        return f"N|{DEPLOYED}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """The number, or the word as it is."""
        if value == DEPLOYED:
            return DEPLOYED
        return click.IntRange(self.least, 5000).convert(value, param, ctx)


@click.group()
def command() -> None:
    """See the limits in force, and change them without a deploy."""


@command.command()
@with_session
def show(*, session: Session) -> None:
    """Show the limits in force, and who changed which of them and why."""
    with session.client() as client:
        _show(session, client.policy())


@command.command("set")
@click.option(
    "--max-concurrent-runs", type=Limit(0), help="Runs active at once; 0 stops all starts."
)
@click.option("--max-concurrent-runs-per-user", type=Limit(1), help="Of those, one user's.")
@click.option("--reason", metavar="TEXT", help="Why, for those who find it so.")
@with_session
def change(
    *,
    session: Session,
    max_concurrent_runs: int | str | None,
    max_concurrent_runs_per_user: int | str | None,
    reason: str | None,
) -> None:
    """Change limits for everybody at once; a lower one ends no run.

    Needs a token with the scope nightshift/admin.
    """
    sent = {
        "max_concurrent_runs": max_concurrent_runs,
        "max_concurrent_runs_per_user": max_concurrent_runs_per_user,
    }
    changes: dict[str, Any] = {
        name: None if value == DEPLOYED else value
        for name, value in sent.items()
        if value is not None
    }
    if not changes:
        raise click.UsageError("Name at least one limit to change.")
    if reason is not None:
        changes["reason"] = reason
    with session.client() as client:
        _show(session, client.change_policy(changes))


@command.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Most.")
@with_session
def changes(*, session: Session, limit: int) -> None:
    """Show who changed the limits, newest first. Times are this machine's."""
    with session.client() as client:
        entries = list(islice(client.policy_changes(), limit))
    if session.as_json:
        show_json({"items": entries, "next_cursor": None})
        return
    show_table(
        ("AT", "BY", "LIMITS SET", "REASON"),
        (
            (
                local_time(entry["changed_at"]),
                entry["changed_by"],
                ", ".join(f"{name} {value}" for name, value in entry["settings"].items()) or "-",
                entry["reason"] or "-",
            )
            for entry in entries
        ),
        flexible="REASON",
        empty="Nobody changed them.",
    )


def _show(session: Session, policy: dict[str, Any]) -> None:
    if session.as_json:
        show_json(policy)
        return
    override = policy.pop("override") or {}
    settings = override.get("settings", {})
    shown = {
        name: f"{value} (set by the operator)" if name in settings else str(value)
        for name, value in policy.items()
        if value is not None
    }
    by, at = override.get("changed_by"), override.get("changed_at")
    show_fields(
        [*shown.items(), ("changed", by and f"{at} by {by}"), ("reason", override.get("reason"))]
    )
