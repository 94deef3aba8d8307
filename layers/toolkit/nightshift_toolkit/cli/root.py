"""The top of the command line: which commands there are, and where each one is."""

import importlib

import click
from click.shell_completion import CompletionItem

from nightshift_toolkit.cli.failures import EXIT_CODES

_COMMANDS: dict[str, tuple[str, ...]] = {
    "tasks": ("tasks", "Create, see and change tasks."),
    "runs": ("runs", "See what ran, what did not, and why."),
    "logs": ("logs", "Print the output of a run, and wait for it."),
    "apply": ("files", "Make the tasks of a label those of a file.", "apply"),
    "export": ("files", "Print my tasks as such a file.", "export"),
    "import": ("files", "Turn a crontab or EventBridge schedules into such a file.", "import_"),
    "threads": ("threads", "Register the threads that runs may reuse."),
    "webhook-key": ("webhook_key", "Print the key that my webhooks' notices are signed with."),
    "mcp": ("mcp", "Let agents schedule, over the Model Context Protocol."),
    "policy": ("policy", "See the limits in force, and change them without a deploy."),
    "next": ("next_times", "Show the next times of a schedule, without a cloud."),
    "replan": ("replan", "Work out next times anew after a release of zone rules."),
    "simulate": ("simulate", "Let days pass on a virtual clock, and see what would run."),
    "cost": ("cost", "Say what runs and idle months cost on AWS."),
    "smoke": ("smoke", "Create, run and delete one task, to see that a stack works."),
    "doctor": ("doctor", "Examine a whole table for broken promises, and repair it."),
    "worker": ("worker", "Take runs from the queue and do their work."),
    "local": ("local", "Start the local cloud; make run does the same."),
    "token": ("token", "Print a token for the local cloud."),
    "completion": ("completion", "Print what makes a shell complete all this."),
    "version": ("version", "Print the version."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which people need them."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name: what its module calls `command`, or as the table says."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, _, *named = _COMMANDS[cmd_name]
        found = importlib.import_module(f"nightshift_toolkit.cli.{module}")
        command = getattr(found, named[0] if named else "command")
        return command if isinstance(command, click.Command) else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing any of them, and the options."""
        commands = [
            CompletionItem(name, help=text)
            for name, (_, text, *_) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text, *_) in _COMMANDS.items()])


@click.group(
    cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]}
)
def nightshift() -> None:
    """Run agent prompts and commands on a schedule, exactly once.

    Without further options a command talks to the local cloud that `make run` started in this
    folder or one above it; NIGHTSHIFT_URL and NIGHTSHIFT_TOKEN name a deployed one.
    """
