"""`nightshift webhook-key`: the key that notices to my webhooks are signed with."""

import click

from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json


@click.command()
@with_session
def command(*, session: Session) -> None:
    """Print the key that notices to my webhooks are signed with, and nothing else.

    A receiver makes the HMAC-SHA256 of "<t>.<body>" with it, as hexadecimal digits, and compares it
    with v1 of the header Nightshift-Signature: t=<seconds>,v1=<digits>.
    """
    with session.client() as client:
        key = client.webhook_key()
    if session.as_json:
        show_json({"key": key})
    else:
        click.echo(key)
