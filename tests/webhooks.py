"""An endpoint for webhooks on loopback, with a certificate made for it, that behaves as told."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "hooks.example"


@dataclass(frozen=True)
class Request:
    """What an endpoint was sent."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def notice_id(self) -> str:
        """By which doubles are dropped."""
        return self.headers["nightshift-notice-id"]


Behaviour = Callable[[socket.socket, Request], None]


def answering(status: int, *headers: str) -> Behaviour:
    """An endpoint that takes the request and answers so."""

    def behave(connection: socket.socket, _: Request) -> None:
        lines = [f"HTTP/1.1 {status} Said", *headers, "Content-Length: 0", "", ""]
        connection.sendall("\r\n".join(lines).encode())

    return behave


def saying(text: bytes) -> Behaviour:
    """An endpoint that says these bytes, whatever they are."""
    return lambda connection, _: connection.sendall(text)


def hanging(until: threading.Event) -> Behaviour:
    """An endpoint that takes the request and says nothing."""
    return lambda _, __: (until.wait(30), None)[1]


def dripping(until: threading.Event) -> Behaviour:
    """An endpoint that never ends its answer, and never is silent for long."""

    def behave(connection: socket.socket, _: Request) -> None:
        connection.sendall(b"HTTP/1.1 200 Said\r\n")
        while not until.wait(0.02):
            connection.sendall(b"A: b\r\n")

    return behave


@dataclass
class Endpoint:
    """Listens on a loopback address; `requests` is what came, oldest first."""

    behave: Behaviour
    tls: bool = True
    address: str = "127.0.0.1"
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        """Where it is, by its name."""
        return f"https://{HOST}:{self.port}/hook?of=mine"

    @property
    def plain_url(self) -> str:
        """Where it is, by its address and without TLS."""
        return f"http://{self.address}:{self.port}/hook"

    @contextmanager
    def open(self) -> "Iterator[Endpoint]":
        """Listen until the end of the block."""
        with closing(socket.create_server((self.address, self.port))) as listener:
            self.port = listener.getsockname()[1]
            thread = threading.Thread(target=self._serve, args=[listener])
            thread.start()
            try:
                yield self
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _serve(self, listener: socket.socket) -> None:
        served = []
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.connections += 1
                served.append(threading.Thread(target=self._meet, args=[connection]))
                served[-1].start()
        for thread in served:
            thread.join()

    def _meet(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with closing(connection), suppress(OSError):
            if not self.tls:
                self._answer(connection)
                return
            with server_context().wrap_socket(connection, server_side=True) as wrapped:
                self._answer(wrapped)

    def _answer(self, connection: socket.socket) -> None:
        request = _read(connection)
        self.requests.append(request)
        self.behave(connection, request)


def _read(connection: socket.socket) -> Request:
    read = b""
    while b"\r\n\r\n" not in read:
        read += _more(connection)
    head, _, body = read.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
    while len(body) < int(headers["content-length"]):
        body += _more(connection)
    return Request(line, headers, body)


def _more(connection: socket.socket) -> bytes:
    more = connection.recv(65536)
    if not more:
        raise ConnectionError("the sender went away")
    return more


def eventually(condition: Callable[[], bool], *, seconds: float = 5.0) -> bool:
    """Whether a condition comes to hold within a bound."""
    for _ in range(int(seconds / 0.01)):
        if condition():
            return True
        sleep(0.01)
    return condition()


@cache
def _key_and_certificate() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    authority = x509.BasicConstraints(ca=True, path_length=0)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(authority, critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)


@cache
def server_context() -> ssl.SSLContext:
    """What an endpoint shows: a certificate for `hooks.example` and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        path = Path(folder, "both.pem")
        path.write_bytes(b"".join(_key_and_certificate()))
        context.load_cert_chain(path)
    return context


@cache
def client_context() -> ssl.SSLContext:
    """What trusts that certificate and no other."""
    return ssl.create_default_context(cadata=_key_and_certificate()[1].decode())
