"""`nightshift completion`: what makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, *, shell: str) -> None:
    """Print the script that makes SHELL complete the commands and options of nightshift.

    \b
    bash:  eval "$(nightshift completion bash)"           in ~/.bashrc
    zsh:   eval "$(nightshift completion zsh)"            in ~/.zshrc, after compinit
    fish:  nightshift completion fish | source            in ~/.config/fish/config.fish
    """
    root = context.find_root()
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"{shell} is not known here.")
    click.echo(script(root.command, {}, "nightshift", "_NIGHTSHIFT_COMPLETE").source())
