"""Where a list goes on: an opaque text bound to user, route and filter.

It holds a position inside the user's own list, nothing to be trusted with: the user still comes
from the token. The digest only sees to it that a cursor is used where it was made.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from nightshift.domain.errors import InvalidCursor

MAX_CHARACTERS: Final = 512


@dataclass(frozen=True, slots=True)
class Cursors:
    """Makes and reads the cursors of one list as one user sees it through one filter."""

    user_id: str
    route: str
    filters: Sequence[str] = ()

    def after(self, position: str) -> str:
        """The cursor that goes on after the item with this id."""
        return _encoded({"after": position, "digest": self._digest(position)})

    def position(self, cursor: str) -> str:
        """The id after which a cursor of this list goes on.

        Raises:
            InvalidCursor: it was not made for this user, route and filter, or was changed.
        """
        if len(cursor) > MAX_CHARACTERS or not cursor.isascii():
            raise InvalidCursor
        try:
            read = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            raise InvalidCursor from None
        position = read.get("after") if isinstance(read, dict) else None
        if not isinstance(position, str) or self.after(position) != cursor:
            raise InvalidCursor
        return position

    def _digest(self, position: str) -> str:
        bound = json.dumps([1, self.user_id, self.route, sorted(self.filters), position])
        return hashlib.blake2b(bound.encode(), digest_size=12).hexdigest()


def _encoded(value: dict[str, Any]) -> str:
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
