"""`nightshift local`: the local cloud in the foreground."""

import click

from nightshift_toolkit.cli.worker import program
from nightshift_toolkit.local_cloud.run import DEFAULT_PORT, DEMO_AGENT, run_local

_LAST_PORT = 65535 - 2


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("agent", metavar="[-- AGENT [ARG]...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--port",
    type=click.IntRange(1, _LAST_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port of the HTTP API; the two after it are used too.",
)
@click.option("--no-worker", is_flag=True, help="Start no worker; you start your own.")
def command(*, agent: tuple[str, ...], port: int, no_worker: bool) -> None:
    """Start the local cloud and a worker, and stay until Ctrl-C; make run does the same.

    AGENT is the program that gets each prompt on its standard input, as with nightshift worker; a
    small demonstration agent where none is named.
    """
    if agent and no_worker:
        raise click.UsageError("--no-worker starts nobody who could run an agent.")
    agent_command = program(agent) or DEMO_AGENT
    raise SystemExit(run_local(port=port, agent_command=None if no_worker else agent_command))
