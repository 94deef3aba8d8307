"""The headers that make a write safe to repeat, or bind it to what was read."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.idempotency import IdempotencyKey

KEY_HEADER: Final = "Idempotency-Key"
MATCH_HEADER: Final = "If-Match"
MAX_KEY_CHARACTERS: Final = 128
KEY: Final = re.compile(r"[\x21-\x7e]{1,128}", re.ASCII)
_TAG: Final = r'(?:W/)?"[\x21\x23-\x7e]*"'
MATCH: Final = re.compile(rf"\*|{_TAG}(?:[ \t]*,[ \t]*{_TAG})*", re.ASCII)
MAX_MATCH_CHARACTERS: Final = 512
_REVISION: Final = re.compile(r'"([1-9][0-9]{0,14})"', re.ASCII)


def idempotency_key(
    header: str | None, route: str, path: Mapping[str, str], body: Mapping[str, Any]
) -> IdempotencyKey | None:
    """The key that a request may be repeated under, bound to its route and body.

    Bodies are the same when they hold the same values, however they are spelled.

    Raises:
        InvalidRequest: the key is not 1 to 128 visible ASCII characters.
    """
    if header is None:
        return None
    if KEY.fullmatch(header) is None:
        raise InvalidRequest(
            f"must be 1 to {MAX_KEY_CHARACTERS} visible ASCII characters.", field=KEY_HEADER
        )
    request = json.dumps([1, route, dict(path), dict(body)], sort_keys=True, ensure_ascii=False)
    return IdempotencyKey(header, hashlib.sha256(request.encode()).hexdigest())


def etag(revision: int) -> str:
    """The entity tag of a task: strong, and moved by its definition, pauses and resumptions."""
    return f'"{revision}"'


def expected_revisions(header: str | None) -> frozenset[int] | None:
    """The revisions that `If-Match` allows; None where any will do.

    Weak tags never match, and neither does what could not be a tag of ours (RFC 9110).

    Raises:
        InvalidRequest: the header is not a list of entity tags.
    """
    if header is None or header.strip() == "*":
        return None
    if len(header) > MAX_MATCH_CHARACTERS or MATCH.fullmatch(header.strip()) is None:
        raise InvalidRequest("must be a list of entity tags, or *.", field=MATCH_HEADER)
    tags = (tag.strip() for tag in header.split(","))
    named = (_REVISION.fullmatch(tag) for tag in tags)
    return frozenset(int(found[1]) for found in named if found)
