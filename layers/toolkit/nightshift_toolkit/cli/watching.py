"""Looking again and again, with pauses that grow while nothing changes."""

import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click

from nightshift_toolkit.cli.session import Session

_GROWTH: Final = 1.5
_FIRST_SECONDS: Final = 2.0
_LONGEST_SECONDS: Final = 30.0

Seen = TypeVar("Seen")

watch_option = click.option(
    "--watch", is_flag=True, help="Look again and again, on a terminal, until Ctrl-C."
)


def looks(look: Callable[[], Seen], *, pause: Callable[[float], None]) -> Iterator[Seen]:
    """What each look sees; the pause between two is 2 s after a change and grows to 30 s.

    Args:
        look: asks once.
        pause: waits the given seconds.
    """
    seen, seconds = look(), _FIRST_SECONDS
    while True:
        yield seen
        pause(seconds)
        before, seen = seen, look()
        seconds = _FIRST_SECONDS if seen != before else min(seconds * _GROWTH, _LONGEST_SECONDS)


def ensure_watchable(session: Session, *, watch: bool) -> None:
    """Refuse to watch where nobody looks at a screen."""
    if watch and (session.as_json or not sys.stdout.isatty()):
        raise click.UsageError("--watch needs a terminal, and goes without --json.")


def watched(look: Callable[[], Seen], show: Callable[[Seen], Any]) -> None:
    """Show what is seen on a cleared screen, look after look, until Ctrl-C."""
    try:
        for seen in looks(look, pause=time.sleep):
            click.clear()
            show(seen)
            now = datetime.now(UTC).astimezone()
            click.echo(f"\n{now:%H:%M:%S}  Ctrl-C ends this.", err=True)
    except KeyboardInterrupt:
        click.echo(err=True)
