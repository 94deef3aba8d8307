"""`nightshift token`: be somebody on the local cloud."""

import click

from nightshift_toolkit.cli.local_state import DEFAULT_USER, require_local_cloud


@click.command()
@click.option("--user", default=DEFAULT_USER, show_default=True, help="Whom the token names.")
def command(*, user: str) -> None:
    """Print a token for the local cloud, valid for a day, and nothing else."""
    click.echo(require_local_cloud().token(user))
