"""What a command prints: the API's JSON, or a few named values."""

import json
from collections.abc import Iterable

import click

from nightshift_toolkit.cli.text import printable


def show_json(content: object) -> None:
    """Print what the API answered."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


def show_fields(fields: Iterable[tuple[str, str | None]]) -> None:
    """Print names and values under each other; a value that is not there is left out."""
    known = [(name, value) for name, value in fields if value]
    width = max(len(name) for name, _ in known)
    for name, value in known:
        indented = printable(value).rstrip("\n").replace("\n", "\n" + " " * (width + 2))
        click.echo(f"{name:<{width}}  {indented}")
