"""A file of environment variables for runs: values to give them, names to let through."""

import re
from pathlib import Path

from nightshift_toolkit.cli.failures import ExitCode, Failure

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def read_variables(path: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """The names and the values in a file of `NAME` and `NAME=VALUE` lines, as containers take them.

    A name alone lets that variable of the worker's through; empty lines and those that begin with
    `#` say nothing. Raises `Failure` with the number of a line that is neither, never its content.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.", ExitCode.USAGE) from error
    except UnicodeDecodeError as error:
        raise Failure(f"{path} is not UTF-8 text.", ExitCode.USAGE) from error
    names: list[str] = []
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not _NAME.fullmatch(name) or "\0" in value:
            raise Failure(
                f"Line {number} of {path} is neither NAME nor NAME=VALUE.", ExitCode.USAGE
            )
        if equals:
            values[name] = value
        else:
            names.append(name)
    return tuple(names), values
