"""Reads a request body as JSON without any of the liberties that parsers take (RFC 8259, I-JSON).

Refused: duplicate keys, NaN and Infinity, numbers beyond a double, halves of surrogate pairs,
nesting beyond any request of ours, bytes that are no UTF-8, and bodies of more than 512 KiB.
"""

import base64
import binascii
import json
import math
from typing import Any, Final, NoReturn

from api.errors import UnsupportedMediaType
from nightshift.domain.errors import InvalidRequest, PayloadTooLarge

MAX_BODY_BYTES: Final = 512 * 1024
"""Room for a payload of 64 KiB with every character escaped, and for what is around it."""
MAX_DEPTH: Final = 16


def read_object(body: str | None, *, encoded: bool, content_type: str | None) -> dict[str, Any]:
    """The object that a request body holds.

    Args:
        body: as API Gateway hands it over; None or empty when there is none.
        encoded: whether it is in base64.
        content_type: the header's value; only JSON in UTF-8 is read.

    Raises:
        UnsupportedMediaType: the body is not declared to be JSON.
        PayloadTooLarge: it is larger than any request of ours.
        InvalidRequest: it is no object, or not strict JSON; without a word of what it holds.
    """
    if not _is_json(content_type):
        raise UnsupportedMediaType
    text = _decoded(body or "", encoded=encoded)
    if len(text.encode(errors="surrogatepass")) > MAX_BODY_BYTES:
        raise PayloadTooLarge("The request body is larger than 512 KiB.")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise InvalidRequest("The body is nested too deeply.") from None
    except ValueError:
        raise InvalidRequest("The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise InvalidRequest("The body must be a JSON object.")
    _ensure_shallow(value)
    _ensure_text(value)
    return value


def _is_json(content_type: str | None) -> bool:
    media_type, *parameters = (content_type or "").lower().split(";")
    charsets = {"charset=utf-8", 'charset="utf-8"', ""}
    return media_type.strip() == "application/json" and all(
        parameter.strip() in charsets for parameter in parameters
    )


def _decoded(body: str, *, encoded: bool) -> str:
    if not encoded:
        return body
    try:
        return base64.b64decode(body, validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidRequest("The body is not JSON in UTF-8.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise InvalidRequest("The body names a field twice.")
    return read


def _refuse_constant(_name: str) -> NoReturn:
    raise InvalidRequest("The body holds a number that JSON does not have.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidRequest("The body holds a number that is too large.")
    return number


def _ensure_shallow(value: Any) -> None:
    """Refuse nesting that no request needs; each round looks one level deeper."""
    level = [value]
    for _ in range(MAX_DEPTH):
        children: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                children.extend(item.values())
            elif isinstance(item, list):
                children.extend(item)
        level = children
    if level:
        raise InvalidRequest("The body is nested too deeply.")


def _ensure_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidRequest("The body holds half of a surrogate pair.") from None
