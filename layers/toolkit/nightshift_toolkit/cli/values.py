"""What people type for a value: lengths of time, labels, texts from files."""

import re
import sys
from pathlib import Path
from typing import Any

import click

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LENGTH = re.compile(r"(?:[0-9]{1,9}[smhd])+", re.ASCII)
_PART = re.compile(r"([0-9]+)([smhd])", re.ASCII)


class Length(click.ParamType[int]):
    """A length of time as `70s`, `10m`, `1h30m`, `2d`, or a plain number of seconds."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Whole seconds."""
        text = str(value)
        if text.isascii() and text.isdigit():
            return int(text)
        if not _LENGTH.fullmatch(text):
            self.fail("write it like 70s, 10m, 1h30m or 2d", param, ctx)
        return sum(int(count) * _SECONDS[unit] for count, unit in _PART.findall(text))


class Label(click.ParamType[tuple[str, str]]):
    """A label as `key=value`."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The key and the value."""
        key, equals, content = str(value).partition("=")
        if not equals or not key:
            self.fail("write it like team=search", param, ctx)
        return key, content


class TextOrFile(click.ParamType[str]):
    """A text as it is, `@FILE` for what a file holds, or `-` for standard input.

    A text that begins with `@` is written with `@@`.
    """

    name = "text|@file|-"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text."""
        text = str(value)
        if text.startswith("@@") or text[:1] not in ("@", "-") or (text[0] == "-" and text != "-"):
            return text.removeprefix("@") if text.startswith("@@") else text
        try:
            raw = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).read_bytes()
            return raw.decode("utf-8")
        except OSError as error:
            self.fail(f"{text[1:]} cannot be read: {error.strerror}", param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{text.removeprefix('@')} is not UTF-8 text", param, ctx)
