"""Numbers that people type are numbers."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift


def _options(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every option of every command that takes a number with a fraction, as it is typed."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _options(command, (*path, name))
        elif command is not None:
            for parameter in command.params:
                if isinstance(parameter.type, click.types.FloatParamType):
                    yield (*path, name, parameter.opts[0])


_TAKE_NUMBERS = list(_options(nightshift))


def test_the_options_that_take_numbers_are_found() -> None:
    assert ("simulate", "--days") in _TAKE_NUMBERS
    assert ("doctor", "--patience-seconds") in _TAKE_NUMBERS


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-inf", "1e300"])
@pytest.mark.parametrize("option", _TAKE_NUMBERS, ids=" ".join)
def test_what_is_no_number_or_has_no_end_is_a_usage_error(
    option: tuple[str, ...], value: str
) -> None:
    result = CliRunner().invoke(nightshift, [*option, value])
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for '{option[-1]}'" in result.stderr
