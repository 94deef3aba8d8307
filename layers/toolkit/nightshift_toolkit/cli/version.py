"""`nightshift version`: which program and which time zones this is."""

from importlib.metadata import version

import click

from nightshift.domain.model.zones import tzdata_version


@click.command()
def command() -> None:
    """Print the version, and that of the time zones."""
    click.echo(f"nightshift {version('nightshift')} (time zones {tzdata_version()})")
