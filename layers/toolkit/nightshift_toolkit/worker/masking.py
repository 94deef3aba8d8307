"""Keeps secrets that a command writes from leaving the worker: known shapes, and the operator's."""

import codecs
import re
from collections.abc import Iterable
from typing import Any, Final

MASK: Final = "[masked]"
LONGEST_LINE: Final = 64 * 1024
"""Characters of a line that are looked at together; a longer one is looked at in parts."""
OVERLAP: Final = 4096
"""Characters of a part that are looked at again with the next one."""
LONGEST_BLOCK: Final = 16 * 1024
"""Characters that a private key may have; what goes on for longer is no key."""
# Every repetition has an end: a long line costs its length, whatever is in it.
_SURELY: Final = r"(?:passw(?:or)?d|passphrase|pwd|secret|credential)[\w.-]{0,40}"
_MAYBE: Final = r"(?:token|(?:api|access|private)[_-]?key)[\w.-]{0,40}"
_IS: Final = r"[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
_QUOTE: Final = r"(?P<quote>[\"'])"
_QUOTED: Final = r"(?:\\.|(?!(?P=quote))[^\\\n]){1,400}"
"""A value in quotes goes as a whole, whatever is in it; an open quote goes to the line's end."""
_VALUE: Final = r"[^\s\"'&<>\[\]{}]"
_A_NUMBER: Final = r"[\d.]{1,40}(?![\w.-])"
_SHAPES: Final = tuple(
    (hints.split(), re.compile(shape))
    for hints, shape in (
        ("akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("gho_ ghp_ ghr_ ghs_ ghu_", r"\bgh[oprsu]_[A-Za-z0-9]{20,}"),
        ("github_pat_ glpat-", r"\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"),
        ("xox xapp-", r"\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{10,}"),
        ("sk- sk_ rk- rk_ pk- pk_", r"\b(?:sk|rk|pk)[-_][\w-]{16,}"),
        ("aiza ya29. whsec_", r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bwhsec_\w{16,}"),
        ("npm_ hf_", r"\bnpm_[A-Za-z0-9]{20,}|\bhf_[A-Za-z0-9]{20,}"),
        ("pypi- dckr_pat_", r"\bpypi-[\w-]{20,}|\bdckr_pat_[\w-]{16,}"),
        ("sg.", r"\bSG\.[\w-]{16,64}\.[\w-]{16,64}"),
        ("eyj", r"\beyJ[\w-]{8,300}+\.[\w-]{8,4000}+\.[\w-]{0,2000}"),
        ("bearer", r"(?i)(?P<keep>\bbearer\s{1,8})[\w.~+/=-]{12,}"),
        (
            "authorization",
            (
                rf"(?i)(?P<keep>\bauthorization{_IS}[\"']?(?:(?:basic|bearer|token)[ \t]{{1,8}})?)"
                r"[^\s\"']+"
            ),
        ),
        ("://", r"(?P<keep>\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^/\s@]{1,300}(?=@)"),
        (
            "passw passphrase pwd secret credential",
            rf"(?i)(?P<keep>{_SURELY}{_IS}{_QUOTE}){_QUOTED}",
        ),
        ("passw passphrase pwd secret credential", rf"(?i)(?P<keep>{_SURELY}{_IS}){_VALUE}{{3,}}"),
        (
            "token key",
            rf"(?i)(?P<keep>{_MAYBE}{_IS}{_QUOTE})(?!{_A_NUMBER}){_QUOTED}",
        ),
        ("token key", rf"(?i)(?P<keep>{_MAYBE}{_IS})(?!{_A_NUMBER}){_VALUE}{{6,}}"),
        ("-u --user", r"(?P<keep>(?:^|\s)(?:-u|--user)[ =]?[^\s:]{1,200}:)[^\s]{1,300}"),
    )
)
"""Each with what a text holds, in small letters, that it can be found in: a quick look first."""
_SECRET_NAME: Final = re.compile(rf"(?i)[\w.-]{{0,40}}(?:{_SURELY}|{_MAYBE})")
_BLOCK: Final = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END: Final = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


class Masker:
    """Replaces what looks like a secret, by known shapes and by `also`.

    Of a pair such as `password=...` the name is kept. Private key blocks go as a whole.
    """

    def __init__(self, also: Iterable[re.Pattern[str]] = ()) -> None:
        self._shapes = (*((("",), shape) for shape in also), *_SHAPES)

    def masked(self, text: str) -> str:
        """The text without its secrets."""
        stream = MaskedStream(self)
        return stream.add(text) + stream.rest()

    def masked_data(self, value: Any) -> Any:
        """JSON data without the secrets in its texts; what is under a secret's name goes whole."""
        match value:
            case str():
                return self.masked(value)
            case list():
                return [self.masked_data(entry) for entry in value]
            case dict():
                return {self.masked(key): self._entry(key, entry) for key, entry in value.items()}
            case _:
                return value

    def _entry(self, name: str, value: Any) -> Any:
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        if plain and value != "" and _SECRET_NAME.fullmatch(name):
            return MASK
        return self.masked_data(value)

    def line(self, text: str) -> str:
        """The text without secrets that lie within it as a whole."""
        for shape in self._possible(text):
            text = shape.sub(_replaced, text)
        return text

    def safe_cut(self, text: str, wanted: int) -> int:
        """Where to cut near `wanted` so that no secret is cut, as far as the text shows them."""
        for shape in self._possible(text):
            for found in shape.finditer(text):
                if found.start() < wanted < found.end():
                    wanted = found.start()
        return wanted or len(text)

    def _possible(self, text: str) -> list[re.Pattern[str]]:
        small = text.lower()
        return [shape for hints, shape in self._shapes if any(hint in small for hint in hints)]


class MaskedStream:
    """Masks a text that comes in pieces, wherever they are cut; gives on what is settled."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._pending = ""
        self._hidden: int | None = None
        """Characters of an open private key that were dropped; None outside of one."""

    def add(self, text: str) -> str:
        """Take the next piece; returns the text that no later piece can change."""
        self._pending += text
        settled = self._pending.rfind("\n") + 1
        if not settled and len(self._pending) > LONGEST_LINE:
            settled = self._masker.safe_cut(self._pending, len(self._pending) - OVERLAP)
        ready, self._pending = self._pending[:settled], self._pending[settled:]
        return self._without_blocks(ready)

    def rest(self) -> str:
        """The end of the text."""
        ready, self._pending = self._pending, ""
        return self._without_blocks(ready)

    def _without_blocks(self, text: str) -> str:
        kept: list[str] = []
        while text:
            if self._hidden is None:
                begin = _BLOCK.search(text)
                kept.append(self._masker.line(text[: begin.start()] if begin else text))
                if begin is None:
                    break
                kept.append(MASK)
                self._hidden, text = 0, text[begin.end() :]
                continue
            end = _BLOCK_END.search(text)
            room = LONGEST_BLOCK - self._hidden
            if end is not None and end.end() <= room:
                self._hidden, text = None, text[end.end() :]
            elif len(text) > room:
                self._hidden, text = None, text[room:]
            else:
                self._hidden += len(text)
                break
        return "".join(kept)


class MaskedBytes:
    """A stream of bytes, masked; what is no UTF-8 becomes U+FFFD."""

    def __init__(self, masker: Masker) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stream = MaskedStream(masker)

    def add(self, chunk: bytes) -> bytes:
        """Take the next piece; returns what is settled."""
        return self._stream.add(self._decoder.decode(chunk)).encode()

    def rest(self) -> bytes:
        """The end of the stream."""
        ending = self._stream.add(self._decoder.decode(b"", final=True))
        return (ending + self._stream.rest()).encode()


def _replaced(found: re.Match[str]) -> str:
    return (found.groupdict().get("keep") or "") + MASK
