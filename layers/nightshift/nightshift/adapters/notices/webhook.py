"""Notices to webhooks that users name: nowhere but to the public internet, and never for long.

A name is resolved once, every address it has is checked, and the connection goes to one of those
very addresses; the certificate must be the name's.
"""

import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Final
from urllib.parse import urljoin

from nightshift.adapters.notices.answer import Answer, read_answer
from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.webhook import Webhook, WebhookTargets, may_connect, parse_webhook
from nightshift.domain.outbox import NotDelivered, WebhookKeys

SECONDS: Final = 9.0
"""For a whole delivery: name, connections, every redirect and answer."""
MAX_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({307, 308})
"""Those that repeat the request as it is."""
_TAKEN: Final = range(200, 300)
_GONE: Final = 410

Resolve = Callable[[str, int], Sequence[str]]
"""From a host and port to its addresses; raises OSError."""


def addresses_of(host: str, port: int) -> Sequence[str]:
    """The addresses of a host by the machine's name service."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


@dataclass(frozen=True, slots=True)
class Deadline:
    """One point in time that everything of a delivery is done by."""

    at: float

    def left(self) -> float:
        """Seconds that are left; raises TimeoutError when none are."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceiver:
    """See `Receiver` for what it promises; 2xx takes a notice, 410 wants no more of them."""

    keys: WebhookKeys
    targets: WebhookTargets = WebhookTargets.PUBLIC
    resolve: Resolve = addresses_of
    context: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    seconds: float = SECONDS
    name: str = "webhook"

    def gets(self, outgoing: Outgoing) -> bool:
        """What a task asked for."""
        return outgoing.webhook is not None

    def send(self, outgoing: Outgoing, at: datetime) -> None:
        """Post the notice, following what repeats the request elsewhere, each place checked."""
        deadline = Deadline(time.monotonic() + self.seconds)
        address = outgoing.webhook or ""
        body = json.dumps(outgoing.notice.facts(), ensure_ascii=False, separators=(",", ":"))
        headers = self._headers(outgoing, body.encode(), at)
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = self._post(parse_webhook(address, self.targets), headers, body, deadline)
                if answer.status not in _REDIRECTS or answer.location is None:
                    return _judge(answer)
                address = urljoin(address, answer.location)
        except InvalidRequest as refusal:
            raise NotDelivered(refusal.message) from refusal
        except (OSError, ValueError) as error:
            raise NotDelivered(f"no answer: {type(error).__name__}") from error
        raise NotDelivered("too many redirects")

    def _headers(self, outgoing: Outgoing, body: bytes, at: datetime) -> dict[str, str]:
        key = self.keys.key_of(outgoing.notice.user_id)
        return {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "User-Agent": "Nightshift",
            "Connection": "close",
            "Nightshift-Notice-Id": outgoing.notice.id,
            "Nightshift-Signature": signature(key, int(at.timestamp()), body),
        }

    def _post(
        self, webhook: Webhook, headers: dict[str, str], body: str, deadline: Deadline
    ) -> Answer:
        lines = [f"POST {webhook.path} HTTP/1.1", f"Host: {webhook.authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        request = "\r\n".join([*lines, "", body]).encode()
        with self._connect(webhook, deadline) as connection:
            connection.settimeout(deadline.left())
            connection.sendall(request)
            return read_answer(connection, deadline.left)

    def _connect(self, webhook: Webhook, deadline: Deadline) -> socket.socket:
        """A connection to one of the addresses that were checked, and no other."""
        found = self._resolved(webhook, deadline)
        if not found or not all(may_connect(address, self.targets) for address in found):
            raise NotDelivered("the host has an address that is not public")
        connection = self._first_that_answers(found, webhook.port, deadline)
        if not webhook.tls:
            return connection
        try:
            connection.settimeout(deadline.left())
            return self.context.wrap_socket(connection, server_hostname=webhook.host)
        except BaseException:
            connection.close()
            raise

    def _first_that_answers(
        self, addresses: Sequence[str], port: int, deadline: Deadline
    ) -> socket.socket:
        trouble: OSError = OSError("no address")
        for tried, address in enumerate(addresses):
            share = deadline.left() / (len(addresses) - tried)
            try:
                return socket.create_connection((address, port), timeout=share)
            except OSError as error:
                trouble = error
        raise trouble

    def _resolved(self, webhook: Webhook, deadline: Deadline) -> Sequence[str]:
        """The host's addresses; a name service that hangs is left to hang by itself."""
        answers: SimpleQueue[Sequence[str] | Exception] = SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self.resolve(webhook.host, webhook.port))
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                answers.put(error)

        threading.Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=deadline.left())
        except Empty:
            raise TimeoutError("the name service took too long") from None
        if isinstance(answer, Exception):
            raise OSError("the name has no address") from answer
        return answer


def signature(key: str, seconds: int, body: bytes) -> str:
    """What proves to the receiver who sent a body and when.

    Args:
        key: the user's key, as text.
        seconds: when it is sent, in seconds since 1970.
        body: as it goes over the wire.
    """
    signed = f"{seconds}.".encode() + body
    return f"t={seconds},v1={hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()}"


def _judge(answer: Answer) -> None:
    if answer.status not in _TAKEN:
        raise NotDelivered(f"answered {answer.status}", permanent=answer.status == _GONE)
