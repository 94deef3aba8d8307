"""Fresh names: sortable by time where lists rely on it, random everywhere."""

import secrets
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class RandomIds:
    """See `Ids` for what each method promises."""

    def task_id(self, now: datetime) -> str:
        """`tsk_`, the milliseconds of `now` and 80 random bits, 30 characters."""
        milliseconds = int(now.timestamp() * 1000)
        return f"tsk_{_encoded(milliseconds, 10)}{_encoded(secrets.randbits(80), 16)}"

    def nonce(self) -> str:
        """130 random bits."""
        return _encoded(secrets.randbits(130), 26)

    def suffix(self) -> str:
        """50 random bits, enough to keep apart the triggers of one task in one millisecond."""
        return _encoded(secrets.randbits(50), 10)


def _encoded(number: int, length: int) -> str:
    letters = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        letters.append(_ALPHABET[digit])
    return "".join(reversed(letters))
