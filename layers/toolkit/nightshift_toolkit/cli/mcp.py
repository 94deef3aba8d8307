"""`nightshift mcp`: schedules as tools for agents."""

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.session import Session

_LAST_PORT = 65535
_DEFAULT_PORT = 4590
_LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of standard input.")
@click.option(
    "--port",
    type=click.IntRange(0, _LAST_PORT),
    default=_DEFAULT_PORT,
    show_default=True,
    help="Port of --http; 0 for one that is free.",
)
@click.option("--host", default=_LOOPBACK, show_default=True, help="Address of --http.")
@click.option("--zone", default="UTC", show_default=True, help="Zone of times that name none.")
@click.option("--url", help="Address of a deployed API; else NIGHTSHIFT_URL, else local.")
@click.option("--token", help="Access token over stdio; NIGHTSHIFT_TOKEN keeps it from view.")
@click.option("--user", help="Whom to be on the local cloud, over stdio.")
def command(
    *,
    http: bool,
    port: int,
    host: str,
    zone: str,
    url: str | None,
    token: str | None,
    user: str | None,
) -> None:
    """Let agents create, list, change, delete and preview schedules (Model Context Protocol).

    Over standard input and output it serves the program that started it, with the token of this
    environment. With --http every request brings its own token, as Authorization: Bearer TOKEN;
    nothing is stored.
    """
    # The protocol's packages take a second to load, which no other command shall pay.
    from nightshift_toolkit.mcp_server.transports import serve_http, serve_stdio  # noqa: PLC0415

    _require_zone(zone)
    session = Session(url, token, user, as_json=False)
    if not http:
        session.target()
        serve_stdio(session, zone=zone)
        return
    if token or user:
        raise click.UsageError("With --http each request says who asks; leave out --token, --user.")
    if host != _LOOPBACK:
        click.echo(
            "Tokens travel in clear text here: let only a proxy with TLS reach it.", err=True
        )
    try:
        serve_http(session.address(), zone=zone, host=host, port=port, ready=_tell)
    except KeyboardInterrupt:
        click.echo(err=True)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]
        raise Failure(
            f"{host} port {port} cannot be had: {reason}.",
            ExitCode.FAULT,
            hint="--port 0, for one that is free",
        ) from error


def _tell(address: str) -> None:
    click.echo(f"Agents find it at {address}; Ctrl-C ends it.", err=True)


def _require_zone(zone: str) -> None:
    from nightshift.domain.errors import InvalidTimeZone  # noqa: PLC0415
    from nightshift.domain.model.zones import load_zone  # noqa: PLC0415

    try:
        load_zone(zone)
    except InvalidTimeZone as error:
        raise click.UsageError(f"--zone {zone} is no zone that is known here.") from error
