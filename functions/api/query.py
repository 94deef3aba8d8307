"""Query parameters, each named by its route; a misspelt one is refused, not ignored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from nightshift.domain.errors import InvalidRequest

MAX_PARAMETERS: Final = 20
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100
_COUNT: Final = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Query:
    """The parameters of one request, in the order sent."""

    parameters: Sequence[tuple[str, str]]

    @classmethod
    def read(cls, raw: str) -> "Query":
        """Read a raw query string; raises InvalidRequest when it is malformed or far too long."""
        try:
            pairs = parse_qsl(
                raw, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
            )
        except ValueError:
            raise InvalidRequest("The query string is not valid.") from None
        return cls(tuple(pairs))

    def allow(self, *names: str) -> None:
        """Raises InvalidRequest when there is a parameter that is not among the names."""
        if any(name not in names for name, _ in self.parameters):
            known = ", ".join(names) or "none"
            raise InvalidRequest(f"A query parameter is not known here; known are: {known}.")

    def one(self, name: str) -> str | None:
        """The value of a parameter that may be there once."""
        values = [value for key, value in self.parameters if key == name]
        if len(values) > 1:
            raise InvalidRequest("may be sent once.", field=name)
        return values[0] if values else None

    def choice(self, name: str, choices: type[Choice]) -> Choice | None:
        """The value of a parameter that is one of a closed set."""
        value = self.one(name)
        if value is None:
            return None
        if value not in [choice.value for choice in choices]:
            words = ", ".join(choice.value for choice in choices)
            raise InvalidRequest(f"must be one of {words}.", field=name)
        return choices(value)

    def flag(self, name: str) -> bool:
        """Whether a parameter that is `true` or `false` is true; left out it is false."""
        value = self.one(name)
        if value not in (None, "true", "false"):
            raise InvalidRequest("must be true or false.", field=name)
        return value == "true"

    def limit(self) -> int:
        """How many items a page may hold."""
        value = self.one("limit")
        if value is None:
            return DEFAULT_LIMIT
        if _COUNT.fullmatch(value) is None or int(value) > MAX_LIMIT:
            raise InvalidRequest(f"must be from 1 to {MAX_LIMIT}.", field="limit")
        return int(value)

    def labels(self) -> Mapping[str, str]:
        """The labels that are asked for, each as `label=KEY=VALUE`."""
        wanted: dict[str, str] = {}
        for name, text in self.parameters:
            if name != "label":
                continue
            key, equals, value = text.partition("=")
            if not equals or wanted.setdefault(key, value) != value:
                raise InvalidRequest("must be KEY=VALUE, each key once.", field="label")
        return wanted
