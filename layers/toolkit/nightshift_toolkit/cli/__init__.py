"""The `nightshift` command. Each subcommand's module is imported when it is called, not before."""

from nightshift_toolkit.cli.output import safe_output
from nightshift_toolkit.cli.root import nightshift


def main() -> None:
    """Run the command line; ends the process with one of the exit codes in `failures`."""
    with safe_output():
        nightshift(prog_name="nightshift")
