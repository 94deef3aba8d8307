"""What people type for a value: numbers, lengths of time, labels, names, texts from files."""

import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from nightshift.domain.model.enums import FailureClass

FAILURE_CLASSES = tuple(named.value for named in FailureClass)
_LAST_EXIT_CODE = 255
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LENGTH = re.compile(r"(?:[0-9]{1,9}[smhd])+", re.ASCII)
_PART = re.compile(r"([0-9]+)([smhd])", re.ASCII)
_LONGEST_LENGTH = 100
_EXCLUSION = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:/[0-9]{4}-[0-9]{2}-[0-9]{2})?"
    r"|[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}",
    re.ASCII,
)
EXCLUDE_HELP = "No run on a date or dates (first/last), or in a time of day (22:00-06:00)."
_THREAD = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class FiniteRange(click.FloatRange):
    """A number in a range; what is no number or has no end is in none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number in any range", param, ctx)
        return number


class Length(click.ParamType[int]):
    """A length of time as `70s`, `10m`, `1h30m`, `2d`, or a plain number of seconds."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Whole seconds."""
        text = str(value)
        if len(text) > _LONGEST_LENGTH:
            self.fail("that is too long a text for a length of time", param, ctx)
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


class ThreadId(click.ParamType[str]):
    """The name of a thread, as the API takes it."""

    name = "thread"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        if not _THREAD.fullmatch(str(value)):
            self.fail("a thread has 1 to 64 letters, digits, underscores or hyphens", param, ctx)
        return str(value)


class Exclusion(click.ParamType[str]):
    """A date, a range of dates, or times of day at which a cron schedule is silent."""

    name = "dates|times"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The exclusion as it was written."""
        if not _EXCLUSION.fullmatch(str(value)):
            self.fail("write it like 2099-12-25, 2099-12-24/2100-01-02 or 22:00-06:00", param, ctx)
        return str(value)


def excluded(written: Iterable[str]) -> dict[str, list[str]]:
    """The `exclude` of a schedule: what holds a colon are times of day, the rest are dates."""
    parts: dict[str, list[str]] = {}
    for text in written:
        parts.setdefault("times" if ":" in text else "dates", []).append(text)
    return parts


class VariableName(click.ParamType[str]):
    """The name of an environment variable, without its value."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        if not value or "=" in str(value):
            self.fail("give the name alone; the value is that of this environment", param, ctx)
        return str(value)


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


class ExitCodeReason(click.ParamType[tuple[int, str]]):
    """What an exit code means, as `75=rate_limited`."""

    name = "code=class"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, str]:
        """The exit code and the class of failures."""
        code, _, named = str(value).partition("=")
        if not (code.isascii() and code.isdigit() and 1 <= int(code) <= _LAST_EXIT_CODE):
            self.fail("write it like 75=rate_limited, with a code from 1 to 255", param, ctx)
        if named not in FAILURE_CLASSES:
            self.fail(f"after = comes one of {', '.join(FAILURE_CLASSES)}", param, ctx)
        return int(code), named


class OutputReason(click.ParamType[tuple[re.Pattern[str], str]]):
    """What an output means that a regular expression is found in, as `REGEX=rate_limited`."""

    name = "regex=class"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[re.Pattern[str], str]:
        """The expression and the class of failures; the last equals sign is between them."""
        expression, _, named = str(value).rpartition("=")
        if not expression or named not in FAILURE_CLASSES:
            classes = ", ".join(FAILURE_CLASSES)
            self.fail(f"write it like 'Too many=rate_limited'; classes are {classes}", param, ctx)
        try:
            return re.compile(expression), named
        except re.error as error:
            self.fail(f"{expression} is not a regular expression: {error}", param, ctx)


class Expression(click.ParamType[re.Pattern[str]]):
    """A regular expression that matches something."""

    name = "regex"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str]:
        """The expression."""
        try:
            expression = re.compile(str(value))
        except re.error as error:
            self.fail(f"{value} is not a regular expression: {error}", param, ctx)
        if expression.search("") is not None:
            self.fail(f"{value!r} matches nothing at all, which is everywhere", param, ctx)
        return expression
