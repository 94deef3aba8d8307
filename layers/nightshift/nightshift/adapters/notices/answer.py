"""The head of an HTTP answer, read byte by byte against one deadline; its body is never read."""

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LONGEST_HEAD: Final = 16 * 1024
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
_END: Final = b"\r\n\r\n"
_INTERIM: Final = range(100, 200)
_SWITCHING: Final = 101


@dataclass(frozen=True, slots=True)
class Answer:
    """The status, and where a redirect leads."""

    status: int
    location: str | None = None


def read_answer(connection: socket.socket, seconds_left: Callable[[], float]) -> Answer:
    """The final answer on a connection; interim ones are passed over.

    Args:
        connection: to which a request was sent.
        seconds_left: how long may still be waited; asked before every read.

    Raises:
        OSError: it ended, took too long, or broke off.
        ValueError: it is no HTTP, or its head is too long.
    """
    read = b""
    for _ in range(LONGEST_HEAD):
        head, end, rest = read.partition(_END)
        if end:
            answer = _answer_from(head)
            if answer.status not in _INTERIM or answer.status == _SWITCHING:
                return answer
            read = rest
            continue
        if len(read) >= LONGEST_HEAD:
            break
        connection.settimeout(seconds_left())
        more = connection.recv(1024)
        if not more:
            raise ConnectionError("the answer ended early")
        read += more
    raise ValueError("the head of the answer is too long")


def _answer_from(head: bytes) -> Answer:
    status, *lines = head.split(b"\r\n")
    matched = _STATUS_LINE.fullmatch(status)
    if matched is None:
        raise ValueError("the answer is no HTTP")
    fields = [line.partition(b":") for line in lines]
    found = [value.strip() for name, _, value in fields if name.strip().lower() == b"location"]
    location = found[0].decode("latin-1") if len(found) == 1 else None
    return Answer(int(matched[1]), location)
