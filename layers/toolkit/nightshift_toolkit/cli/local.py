"""`nightshift local`: the local cloud in the foreground."""

import click

from nightshift_toolkit.local_cloud.run import DEFAULT_PORT, run_local


@click.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port of the HTTP API; the two after it are used too.",
)
def command(*, port: int) -> None:
    """Start the local cloud and stay until Ctrl-C; make run does the same."""
    raise SystemExit(run_local(port=port))
