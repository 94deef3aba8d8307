"""Which Nightshift a command talks to, and as whom."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import click

from nightshift_toolkit.cli.api_failures import api_failures
from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.limits import limits_named
from nightshift_toolkit.cli.local_state import DEFAULT_USER, LocalCloud, find_local_cloud
from nightshift_toolkit.client import Client

_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True)
class Session:
    """The options that every command that talks to the API has."""

    url: str | None
    token: str | None
    user: str | None
    as_json: bool

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of the chosen API; what it raises becomes a failure of the command line."""
        url, token = self.target()
        with (
            api_failures(as_json=self.as_json, url=url),
            Client(url, token) as client,
            limits_named(client, as_json=self.as_json),
        ):
            yield client

    def target(self) -> tuple[str, str]:
        """The API's address and a token for it: as said, else by the environment, else local."""
        cloud = find_local_cloud()
        url = self._address(cloud)
        local = cloud if cloud and cloud.api_url.rstrip("/") == url.rstrip("/") else None
        return url, self._bearer(local)

    def address(self) -> str:
        """The API's address, for whoever brings a token of their own."""
        return self._address(find_local_cloud())

    def _address(self, cloud: LocalCloud | None) -> str:
        url = self.url or os.environ.get("NIGHTSHIFT_URL") or (cloud.api_url if cloud else None)
        if url is None:
            raise Failure(
                "No local cloud runs in this folder or above it, and no other address is given.",
                ExitCode.UNREACHABLE,
                hint="make run, or --url and NIGHTSHIFT_URL for a deployed one",
            )
        _require_safe(url)
        return url

    def _bearer(self, local: LocalCloud | None) -> str:
        if self.token and self.user:
            raise click.UsageError("A --token says who you are; leave out --user.")
        if self.user and not local:
            raise click.UsageError("Only the local cloud lets you be anybody; leave out --user.")
        token = self.token or (None if self.user else os.environ.get("NIGHTSHIFT_TOKEN"))
        if token:
            return _sendable(token)
        if local:
            return local.token(self.user or DEFAULT_USER)
        raise Failure(
            "You are not signed in.",
            ExitCode.NOT_SIGNED_IN,
            hint="NIGHTSHIFT_TOKEN with an access token of your user pool",
        )


def _sendable(token: str) -> str:
    if not all(" " < character <= "~" for character in token):
        raise click.UsageError(
            "That is not an access token: one has no spaces and no letters beyond ASCII."
        )
    return token


def _require_safe(url: str) -> None:
    parts = _parts(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise click.UsageError("The address of the API must begin with https:// or http://.")
    local = parts.hostname in _THIS_MACHINE or parts.hostname.endswith(".localhost")
    if parts.scheme == "http" and not local:
        raise click.UsageError("A token is only sent over https:// to another machine.")


def _parts(url: str) -> SplitResult:
    """The parts of an address; its port is looked at, since that is when a wrong one shows."""
    try:
        parts = urlsplit(url)
        if url.isprintable() and parts.port != 0:
            return parts
    except ValueError:
        pass
    raise click.UsageError("That is not the address of an API; one looks like https://HOST.")


def with_session(command: Decorated) -> Decorated:
    """Give a command the options `--url --token --user --json` and a `session` made of them."""

    @click.option("--url", help="Address of a deployed API; else NIGHTSHIFT_URL, else local.")
    @click.option("--token", help="Access token; NIGHTSHIFT_TOKEN keeps it from view.")
    @click.option("--user", help=f"Whom to be on the local cloud ({DEFAULT_USER} if not given).")
    @click.option("--json", "as_json", is_flag=True, help="Print the API's JSON as it is.")
    @wraps(command)
    def wrapped(
        *args: Any, url: str | None, token: str | None, user: str | None, as_json: bool, **kw: Any
    ) -> Any:
        return command(*args, session=Session(url, token, user, as_json), **kw)

    return wrapped  # type: ignore[return-value]
