"""A command's output, kept as a bounded head and tail however much is written."""

import codecs
from dataclasses import dataclass
from typing import Protocol

from nightshift_toolkit.worker.masking import MaskedBytes, Masker

KEPT_BYTES = 16 * 1024
"""What is kept at each end: as much as a whole report may hold, so that nothing is missed."""


class Sink(Protocol):
    """Where a command's output goes, piece by piece."""

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        ...


class MaskedSink:
    """Hands a stream on to all of `sinks` without its secrets."""

    def __init__(self, masker: Masker, *sinks: Sink) -> None:
        self._stream = MaskedBytes(masker)
        self._sinks = sinks

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        self._hand_on(self._stream.add(chunk))

    def close(self) -> None:
        """Hand on the end of the stream."""
        self._hand_on(self._stream.rest())

    def _hand_on(self, settled: bytes) -> None:
        if settled:
            for sink in self._sinks:
                sink.add(settled)


class OutputCollector:
    """Keeps the first and the last `kept` bytes of a stream, however long the stream."""

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        room = self._kept - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._kept:
            self._trim()

    def collected(self) -> "Output":
        """The stream so far as text; bytes that are not UTF-8 become U+FFFD, and so does NUL."""
        if len(self._tail) > self._kept:
            self._trim()
        if not self._dropped:
            return Output(_decode(self._head + self._tail), "", 0)
        head = _without_broken_end(bytes(self._head))
        start = _continuation_bytes(self._tail)
        cut = len(self._head) - len(head) + start
        return Output(_decode(head), _decode(self._tail[start:]), self._dropped + cut)

    def _trim(self) -> None:
        excess = len(self._tail) - self._kept
        del self._tail[:excess]
        self._dropped += excess


@dataclass(frozen=True)
class Output:
    """Text of a stream: `head`, then `left_out` bytes that are not kept, then `tail`.

    With nothing left out the whole stream is in `head`.
    """

    head: str
    tail: str
    left_out: int

    def within(self, json_bytes: int) -> tuple[str, bool]:
        """The text, at most `json_bytes` long inside a JSON string, and whether some is missing.

        Half of the room goes to the beginning, half to the end; a line between them says how many
        bytes are left out.
        """
        if not self.left_out and _json_size(self.head) <= json_bytes:
            return self.head, False
        half = max(0, json_bytes - _GAP_BYTES) // 2
        beginning = _fitting(self.head, half)
        after = self.head[len(beginning) :]
        ending = _fitting((self.tail if self.left_out else after)[::-1], half)[::-1]
        missing = len(after.encode()) + len(self.tail.encode()) - len(ending.encode())
        gap = f"\n[... {self.left_out + missing} bytes left out ...]\n"
        return f"{beginning}{gap}{ending}", True


_GAP_BYTES = 64
_CONTINUATION = range(0x80, 0xC0)
_ESCAPED_SHORT = frozenset('"\\\b\f\n\r\t')


def _json_size(text: str) -> int:
    return sum(map(_json_bytes, text))


def _json_bytes(character: str) -> int:
    if character in _ESCAPED_SHORT:
        return 2
    if character < " ":
        return 6
    return len(character.encode())


def _fitting(text: str, room: int) -> str:
    for index, character in enumerate(text):
        room -= _json_bytes(character)
        if room < 0:
            return text[:index]
    return text


def _decode(raw: bytes | bytearray) -> str:
    return raw.decode("utf-8", "replace").replace("\x00", "\ufffd")


def _without_broken_end(raw: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(raw)
    pending, _ = decoder.getstate()
    return raw[: len(raw) - len(pending)]


def _continuation_bytes(raw: bytearray) -> int:
    count = 0
    while count < min(3, len(raw)) and raw[count] in _CONTINUATION:
        count += 1
    return count
