"""`nightshift threads`: the conversations that runs may reuse."""

import click

from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.cli.values import ThreadId


@click.group()
def command() -> None:
    """Register the threads that runs may reuse."""


@command.command()
@click.argument("thread_id", metavar="THREAD", type=ThreadId())
@with_session
def register(*, session: Session, thread_id: str) -> None:
    """Register a thread as mine; once is enough."""
    with session.client() as client:
        thread = client.register_thread(thread_id)
    if session.as_json:
        show_json(thread)
    else:
        click.echo(f"Registered {thread['id']}")


@command.command()
@click.argument("thread_id", metavar="THREAD", type=ThreadId())
@with_session
def show(*, session: Session, thread_id: str) -> None:
    """Show a thread of mine and the tasks bound to it."""
    with session.client() as client:
        thread = client.thread(thread_id)
    if session.as_json:
        show_json(thread)
    else:
        click.echo(f"{thread['id']} is yours")
        click.echo(f"Its tasks:  nightshift tasks list --thread {thread['id']}")
