"""Where a webhook may lead: which addresses it may name, and which it may turn out to be.

The text is checked when a task is written, every address when something is sent: names may lead
elsewhere by then.
"""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from nightshift.domain.errors import InvalidRequest

MAX_WEBHOOK_LENGTH = 2048
_LONGEST_HOST: Final = 253
_LAST_PORT: Final = 65_535
_PORTS: Final = {"https": 443, "http": 80}


class WebhookTargets(StrEnum):
    """Where webhooks of a deployment may lead."""

    PUBLIC = "public"  # to the public internet, by https only
    LOOPBACK = "loopback"  # also to this very machine, also by http: for a cloud at the desk


_NOT_PUBLIC: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers
        "127.0.0.0/8",  # this machine
        "169.254.0.0/16",  # link-local, where clouds keep their metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # name service sinks
        "192.52.193.0/24",  # multicast relays
        "192.88.99.0/24",  # relays to 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # name service sinks
        "198.18.0.0/15",  # measurements
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_PUBLIC: Final = IPv6Network("2000::/3")
"""All of IPv6 that is public: neither local nor mapped, translated (NAT64) or multicast."""
_NOT_PUBLIC_EITHER: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which hides an address of IPv4
        "2620:4f:8000::/48",  # name service sinks
        "3fff::/20",  # documentation
    )
)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A checked address: where to connect to, and what to ask there."""

    host: str
    port: int
    path: str
    tls: bool

    @property
    def authority(self) -> str:
        """Host and port as a request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = _PORTS["https" if self.tls else "http"]
        return host if self.port == usual else f"{host}:{self.port}"


def parse_webhook(text: str, targets: WebhookTargets) -> Webhook:
    """The parts of a webhook's address, if it may be one.

    Raises:
        InvalidRequest: it is no absolute https address of printable ASCII, is too long, carries
            credentials or a fragment, or names an address that is not public.
    """
    if len(text) > MAX_WEBHOOK_LENGTH or not all("!" <= letter <= "~" for letter in text):
        raise _refusal("must be printable ASCII of at most 2,048 characters")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refusal("is not a web address") from error
    local = targets is WebhookTargets.LOOPBACK and is_loopback(host)
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise _refusal("must begin with https://")
    if "@" in parts.netloc or "#" in text or "\\" in text:
        raise _refusal("may have neither credentials nor a fragment")
    if not host or len(host) > _LONGEST_HOST or "%" in host or port == 0:
        raise _refusal("names no host")
    if _is_address(host) and not may_connect(host, targets):
        raise _refusal("must be a public address")
    tls = parts.scheme == "https"
    return Webhook(host, port or _PORTS[parts.scheme], _path(parts), tls)


def may_connect(address: str, targets: WebhookTargets) -> bool:
    """Whether a connection to this very address may be made; a name is none."""
    return is_public(address) or (targets is WebhookTargets.LOOPBACK and is_loopback(address))


def is_loopback(address: str) -> bool:
    """Whether an address is 127.0.0.1 or ::1, as written."""
    return address in ("127.0.0.1", "::1")


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet; one that hides another does not."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _NOT_PUBLIC)
    unscoped = parsed.scope_id is None and parsed in _PUBLIC
    return unscoped and not any(parsed in network for network in _NOT_PUBLIC_EITHER)


def _is_address(host: str) -> bool:
    """Whether a host is written as an address, also in the old ways (0x7f.1, 2130706433)."""
    last = host.rstrip(".").rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")


def _path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _refusal(what: str) -> InvalidRequest:
    return InvalidRequest(f"The webhook {what}.", field="notify.webhook")
