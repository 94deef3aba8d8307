"""What an invariant is, and what it says when it does not hold."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from nightshift_toolkit.audit.snapshot import Snapshot


class Holds(StrEnum):
    """When an invariant must hold."""

    ALWAYS = "always"  # after every single write, since one transaction makes it so
    AT_REST = "at_rest"  # when nobody is at work and the clock has looked since
    SWEPT = "swept"  # when the doctor has cleared away what a death left, or it has expired


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place where one invariant does not hold.

    `subject` is the id of the task, run or key that is meant; `detail` says what was seen.
    """

    invariant: str
    subject: str
    detail: str


Broken = Iterator[tuple[str, str]]
"""Subject and detail of each place where an invariant does not hold."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One sentence about the whole table, and the function that finds where it is false."""

    name: str
    promise: str
    holds: Holds
    broken: Callable[[Snapshot], Broken]

    def findings(self, snapshot: Snapshot) -> Iterator[Finding]:
        """Every place where the invariant does not hold."""
        for subject, detail in self.broken(snapshot):
            yield Finding(self.name, subject, detail)


def always(broken: Callable[[Snapshot], Broken]) -> Invariant:
    """Make a function an invariant that holds after every single write."""
    return _invariant(broken, Holds.ALWAYS)


def at_rest(broken: Callable[[Snapshot], Broken]) -> Invariant:
    """Make a function an invariant that holds when nobody is at work."""
    return _invariant(broken, Holds.AT_REST)


def swept(broken: Callable[[Snapshot], Broken]) -> Invariant:
    """Make a function an invariant that a death may break until expiry or the doctor mends it."""
    return _invariant(broken, Holds.SWEPT)


def _invariant(broken: Callable[[Snapshot], Broken], holds: Holds) -> Invariant:
    sentence = " ".join((broken.__doc__ or "").split())
    return Invariant(broken.__name__, sentence, holds, broken)
