"""What a command wrote into its result file: a JSON object, and what the work has cost."""

import json
import math
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

RESULT_FILE: Final = "NIGHTSHIFT_RESULT_FILE"
"""The variable in which a command finds where it may write its result."""
MAX_DATA_BYTES: Final = 8 * 1024
_TOO_LARGE: Final = f"The result file holds more than {MAX_DATA_BYTES} bytes."
_COUNTS: Final = ("input_tokens", "output_tokens")
_COST: Final = "cost_usd"
_LARGEST_COUNT: Final = 10**15


@dataclass(frozen=True)
class StructuredResult:
    """What a command wrote: `data`, its figures in `usage`; or `problem`, why it is not kept."""

    data: dict[str, Any] | None = None
    usage: dict[str, int | float] = field(default_factory=dict)
    problem: str | None = None

    def bounded(self) -> "StructuredResult":
        """This result if it is as small as it must be, else the problem with it (K8)."""
        text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return (
            self if len(text.encode()) <= MAX_DATA_BYTES else StructuredResult(problem=_TOO_LARGE)
        )


def read_result(path: Path) -> StructuredResult:
    """What is in the result file; one that is not there is no result and no problem.

    The file is the command's: it may be a link, a pipe, or of any size, and is not trusted.
    """
    try:
        data = _parsed(_read(path))
    except FileNotFoundError:
        return StructuredResult()
    except OSError as error:
        return StructuredResult(problem=f"The result file cannot be read ({error.strerror}).")
    except _Unusable as unusable:
        return StructuredResult(problem=str(unusable))
    usage = _usage(data)
    return StructuredResult(usage=usage, data=data if data or not usage else None)


class _Unusable(Exception):
    """The file is no result; says why."""


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        data = json.loads(raw.decode(), parse_constant=_refuse)
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise _Unusable("The result file is not JSON in UTF-8.") from None
    if not isinstance(data, dict):
        raise _Unusable("The result file is not a JSON object.")
    return data


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _Unusable("The result file is not a regular file.")
        raw = file.read(MAX_DATA_BYTES + 1)
    if len(raw) > MAX_DATA_BYTES:
        raise _Unusable(_TOO_LARGE)
    return raw


def _usage(data: dict[str, Any]) -> dict[str, int | float]:
    """Take the figures out of the data; those that are none stay where they are."""
    written = data.get("usage")
    if not isinstance(written, dict):
        return {}
    usage: dict[str, int | float] = {}
    for name in (*_COUNTS, _COST):
        value = written.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        whole = isinstance(value, int) or name == _COST
        if whole and math.isfinite(value) and 0 <= value <= _LARGEST_COUNT:
            usage[name] = value
    if usage.keys() == written.keys():
        del data["usage"]
    return usage


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
