"""A table for the terminal, or for a pipe."""

import sys
from collections.abc import Iterable, Sequence

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nightshift_toolkit.cli.text import one_line

MAX_LISTED = 1_000_000
"""Most rows that may be asked for."""
_NO_LIMIT = 10_000
_GAP = 2
_LEAST_WIDTH = 16
_STYLES = {
    "success": "green",
    "failed": "red",
    "blocked": "red",
    "running": "cyan",
    "queued": "cyan",
    "paused": "yellow",
    "skipped": "yellow",
    "interrupted": "yellow",
    "decides": "yellow",
}


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: str, empty: str
) -> None:
    """Print rows under their headings.

    On a terminal the column `flexible` is cut to what the others leave of the line; an id or a time
    never is, since half of one is of no use. In a pipe nothing is cut. `empty` is said, on standard
    error, when there are no rows.
    """
    lines = [[one_line(cell) for cell in row] for row in rows]
    if not lines:
        click.echo(empty, err=True)
        return
    on_terminal = sys.stdout.isatty()
    console = Console(highlight=False)
    room = _room(columns, lines, flexible, console.width) if on_terminal else _NO_LIMIT
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for name in columns:
        limit = room if name == flexible else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=limit)
    for line in lines:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in line))
    console.width = _NO_LIMIT
    with console.capture() as capture:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def _room(columns: Sequence[str], lines: Sequence[Sequence[str]], flexible: str, width: int) -> int:
    """How wide the flexible column may be."""
    widths = {
        name: max(cell_len(line[index]) for line in [list(columns), *lines])
        for index, name in enumerate(columns)
    }
    others = sum(widths[name] + _GAP for name in columns if name != flexible)
    return max(_LEAST_WIDTH, width - others)
