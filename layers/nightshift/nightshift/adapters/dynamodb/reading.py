"""Reading rows: one that cannot be read is `CorruptRecord`, never a crash."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from nightshift.adapters.dynamodb.operations import Raw
from nightshift.domain.errors import CorruptRecord

Value = TypeVar("Value")


def guarded_reader(read: Callable[[Raw], Value]) -> Callable[[Raw], Value]:
    """Turn whatever a malformed row provokes into `CorruptRecord`, naming the row's key."""

    @wraps(read)
    def guarded(row: Raw) -> Value:
        try:
            return read(row)
        except CorruptRecord:
            raise
        except Exception as error:
            key = "/".join(str(row.get(name, {}).get("S", "?")) for name in ("pk", "sk"))
            raise CorruptRecord(f"The row {key} cannot be read: {type(error).__name__}.") from error

    return guarded


def readable(
    rows: Sequence[Raw], read: Callable[[Raw], Value]
) -> tuple[list[Value], list[CorruptRecord]]:
    """The values of the rows that can be read, and the trouble with the others."""
    values: list[Value] = []
    corrupt: list[CorruptRecord] = []
    for row in rows:
        try:
            values.append(read(row))
        except CorruptRecord as error:
            corrupt.append(error)
    return values, corrupt


def integer(number: float | None) -> int | None:
    """A stored number as the whole number it is; None stays None."""
    return None if number is None else int(number)
