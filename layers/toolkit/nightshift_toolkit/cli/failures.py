"""How the command line says no: one sentence, the next command to try, and an exit code."""

import json
from enum import IntEnum
from typing import IO, Any

import click

from nightshift_toolkit.cli.text import printable


class ExitCode(IntEnum):
    """What the exit codes mean; `nightshift --help` shows them."""

    OK = 0
    FAULT = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    REFUSED = 5
    NOT_SIGNED_IN = 6
    UNREACHABLE = 7


EXIT_CODES = """\b
Exit codes:
  0  it worked
  1  a fault, here or in the API
  2  the command line is wrong
  3  there is no such task, run or thread
  4  the state of things does not allow it now
  5  the API refused the input
  6  not signed in, or not allowed
  7  the API cannot be reached
"""


class Failure(click.ClickException):
    """An expected failure: a sentence, what to try next, and an exit code."""

    def __init__(
        self,
        message: str,
        exit_code: ExitCode,
        *,
        hint: str | None = None,
        problem: object = None,
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance
        self.hint = hint
        self.problem = problem
        """The API's own document, shown instead of the sentence where JSON was asked for."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the failure to standard error."""
        del file
        if self.problem is not None:
            click.echo(json.dumps(self.problem, ensure_ascii=False, indent=2), err=True)
            return
        click.echo(f"Error: {printable(self.message)}", err=True)
        if self.hint:
            click.echo(f"Try:   {self.hint}", err=True)
