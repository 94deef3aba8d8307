"""A table for the terminal, or for a pipe."""

import sys
from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nightshift_toolkit.cli.text import one_line

_NO_LIMIT = 10_000
_STYLES = {
    "success": "green",
    "failed": "red",
    "blocked": "red",
    "running": "cyan",
    "queued": "cyan",
    "paused": "yellow",
    "skipped": "yellow",
    "interrupted": "yellow",
}


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """Print rows under their headings, cut to a terminal's width; in a pipe nothing is cut."""
    lines = [[one_line(cell) for cell in row] for row in rows]
    if not lines:
        click.echo(empty, err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for line in lines:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in line))
    console = Console(width=None if sys.stdout.isatty() else _NO_LIMIT, highlight=False)
    with console.capture() as capture:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))
