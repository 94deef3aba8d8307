"""Which route a request is for: a table of ours is searched, no framework is loaded for it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from api.errors import MethodNotAllowed, UnknownPath

if TYPE_CHECKING:
    from api.routes import Route


class Router:
    """Finds routes by method and path; in a rule, `<name>` stands for one segment of any text.

    A path that a rule names to the letter is never taken for one with an id.
    """

    def __init__(self, routes: "Iterable[Route]") -> None:
        rules: dict[str, dict[str, Route]] = defaultdict(dict)
        for route in routes:
            rules[route.rule][route.method] = route
        self._literal = {rule: found for rule, found in rules.items() if "<" not in rule}
        self._named = [
            (rule.split("/"), found) for rule, found in rules.items() if rule not in self._literal
        ]

    def find(self, method: str, path: str) -> "tuple[Route, Mapping[str, str]]":
        """The route, and the segments of the path by the names that its rule gives them.

        Raises:
            UnknownPath: no rule is like this path.
            MethodNotAllowed: one is, and knows other methods.
        """
        if not path.isprintable():
            raise UnknownPath
        segments = path.split("/")
        methods, named = self._literal.get(path), {}
        for rule, found in self._named if methods is None else ():
            if _is_like(rule, segments):
                methods, named = found, _named(rule, segments)
        if methods is None:
            raise UnknownPath
        if method not in methods:
            raise MethodNotAllowed(sorted(methods))
        return methods[method], named


def _is_like(rule: list[str], segments: list[str]) -> bool:
    return len(rule) == len(segments) and all(
        segment != "" if part.startswith("<") else part == segment
        for part, segment in zip(rule, segments, strict=True)
    )


def _named(rule: list[str], segments: list[str]) -> dict[str, str]:
    return {
        part[1:-1]: segment
        for part, segment in zip(rule, segments, strict=True)
        if part.startswith("<")
    }
