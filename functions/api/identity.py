"""Who is asking: the user and the scopes of the verified token, and nothing else (P8).

The gateway has verified the token; without its claims nobody is anybody, so a way in that
forgot the authorizer answers 401 to everyone. A token that belongs to a run, which the scope
`nightshift/run` or the claim `nightshift_run` says, may read and nothing else, whatever other
scopes it has: agents do not multiply themselves (B130).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.errors import Forbidden
from nightshift.domain.errors import Unauthenticated

READ: Final = "nightshift/read"
WRITE: Final = "nightshift/write"
ADMIN: Final = "nightshift/admin"
RUN: Final = "nightshift/run"
RUN_CLAIM: Final = "nightshift_run"
_SUBJECT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._|:@+=,~/-]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, and what the token allows on their behalf."""

    user_id: str
    scopes: frozenset[str]
    is_run: bool = False

    def require(self, scope: str) -> None:
        """Raises Forbidden unless the token has the scope, and for a run's that does not read."""
        if self.is_run and scope != READ:
            raise Forbidden("A token that belongs to a run may only read.")
        if scope not in self.scopes:
            raise Forbidden(f"The token does not have the scope {scope}.")


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """The caller that verified claims name.

    Raises:
        Unauthenticated: there is no `sub`, or it cannot be part of a key; or the token says of
            itself that it tells who somebody is, not what they may do.
    """
    if claims.get("token_use", "access") != "access":
        raise Unauthenticated
    subject = claims.get("sub")
    if not isinstance(subject, str) or _SUBJECT.fullmatch(subject) is None:
        raise Unauthenticated
    sent = claims.get("scope")
    scopes = frozenset(sent.split() if isinstance(sent, str) else ())
    return Caller(subject, scopes, is_run=RUN in scopes or RUN_CLAIM in claims)
