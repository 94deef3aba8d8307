"""Names that come in order, so that a test can tell which was made when."""

import itertools
from datetime import UTC, datetime

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CountingIds:
    """An `Ids` that counts; two of them make the same names."""

    def __init__(self) -> None:
        self._tasks = itertools.count(1)
        self._nonces = itertools.count(1)
        self._suffixes = itertools.count(1)

    def task_id(self, now: datetime) -> str:
        """See `Ids.task_id`."""
        milliseconds = int((now - _EPOCH).total_seconds() * 1000)
        return f"tsk_{_base32(milliseconds, 10)}{_base32(next(self._tasks), 16)}"

    def nonce(self) -> str:
        """See `Ids.nonce`; guessable, unlike a real one."""
        return f"nonce-{next(self._nonces):06d}"

    def suffix(self) -> str:
        """See `Ids.suffix`."""
        return _base32(next(self._suffixes), 8)


def _base32(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 32)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
