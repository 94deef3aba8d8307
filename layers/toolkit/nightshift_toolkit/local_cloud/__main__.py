"""`python -m nightshift_toolkit.local_cloud`: what `make run` does."""

import sys

import click

from nightshift_toolkit.local_cloud.run import DEFAULT_PORT, run_local


@click.command()
@click.option("--port", default=DEFAULT_PORT, show_default=True, help="Port of the HTTP API.")
def main(port: int) -> None:
    """Start the local cloud and a worker; Ctrl-C stops them."""
    sys.exit(run_local(port=port))


if __name__ == "__main__":
    main()
