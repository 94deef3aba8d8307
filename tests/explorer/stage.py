"""Actors that take turns: each runs up to its next call of a port and waits there to be chosen.

Only one runs at a time and nothing but the choices decides the order, so a list of choices is a
schedule that can be played again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from greenlet import getcurrent, greenlet

from nightshift.domain.errors import PersistenceUncertain, StorageUnavailable

Action = Callable[[], Any]
SHARED = frozenset({"places"})
"""Seats and thread locks, when somebody wants one: whoever is first gets it."""


class Fate(StrEnum):
    """What happens to one call of a port."""

    DONE = "done"  # it happens and its answer arrives
    DIES_BEFORE = "dies before"  # the caller's process ends before it is sent
    DIES_AFTER = "dies after"  # the caller's process ends when it has happened
    UNREACHED = "unreached"  # it does not happen, and no answer says so
    UNHEARD = "unheard"  # it happens, and no answer says so


class Death(BaseException):
    """The end of a process: no handler runs, no call follows."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an actor is about to make, with the kinds of rows it reads and writes.

    `subject` is the task whose rows they are, or None when they may be those of all tasks. Of the
    kinds in `SHARED` a row may belong to one task now and to another later.
    """

    operation: str
    reads: frozenset[str]
    writes: frozenset[str]
    subject: str | None = None

    def commutes_with(self, other: "Call") -> bool:
        """Whether the order of the two makes no difference."""
        met = (self.writes & (other.reads | other.writes)) | (other.writes & self.reads)
        if self.subject is None or other.subject is None or self.subject == other.subject:
            return not met
        return not met & SHARED


@cache
def about(call: Call, subject: str | None) -> Call:
    """The call, when it concerns one task."""
    return replace(call, subject=subject)


@dataclass(slots=True)
class _Actor:
    thread: greenlet
    call: Call
    fate: Fate = Fate.DONE


class Stage:
    """Who is there, what each is about to do, and how those who are through have ended.

    `results` holds what an actor returned, `failures` what it raised; one that died is in neither.
    """

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.failures: dict[str, Exception] = {}
        self._hub = getcurrent()
        self._actors: dict[str, _Actor] = {}
        self._cast: list[tuple[str, Action]] = []
        self._current: _Actor | None = None

    def cast(self, name: str, action: Action) -> None:
        """Let an actor come; it runs to its first call when the present step is over.

        From outside of a step it does so at once.
        """
        self._cast.append((name, action))
        if self._current is None:
            self._begin()

    def options(self) -> dict[str, Call]:
        """Every actor that waits, with the call it is about to make."""
        return {name: actor.call for name, actor in self._actors.items()}

    def step(self, name: str, fate: Fate = Fate.DONE) -> Call:
        """Let one actor make its call and run to its next one; the call it made."""
        actor = self._actors[name]
        made, actor.fate = actor.call, fate
        self._run(name, actor)
        self._begin()
        return made

    def finish(self, name: str) -> None:
        """Let one actor run to its end."""
        while name in self._actors:
            self.step(name)

    def reach(self, call: Call) -> Fate:
        """Wait to be chosen for this call; what is to happen to it.

        Raises:
            Death: the process ends here.
        """
        actor = self._current
        if actor is None:
            return Fate.DONE
        actor.call = call
        self._hub.switch()
        if actor.fate is Fate.DIES_BEFORE:
            raise Death
        return actor.fate

    def guarded(
        self,
        call: Call,
        method: Callable[..., Any],
        subject_of: Callable[..., str | None] = lambda *_: None,
    ) -> Callable[..., Any]:
        """A method of a port as the actors see it: a place to switch, and to fail."""

        def reached(*args: Any, **kwargs: Any) -> Any:
            fate = self.reach(about(call, subject_of(*args)))
            answer = None if fate is Fate.UNREACHED else method(*args, **kwargs)
            if fate is Fate.DIES_AFTER:
                raise Death
            if fate is not Fate.DONE:
                raise PersistenceUncertain if call.writes else StorageUnavailable
            return answer

        return reached

    def _begin(self) -> None:
        while self._cast:
            name, action = self._cast.pop(0)
            if name in self._actors:
                raise ValueError(f"there is an actor called {name} already")
            actor = _Actor(greenlet(self._play(name, action)), _NOTHING)
            self._actors[name] = actor
            self._run(name, actor)

    def _run(self, name: str, actor: _Actor) -> None:
        self._current = actor
        try:
            actor.thread.switch()
        finally:
            self._current = None
        if actor.thread.dead:
            del self._actors[name]

    def _play(self, name: str, action: Action) -> Callable[[], None]:
        def played() -> None:
            try:
                self.results[name] = action()
            except Death:
                pass
            except Exception as failure:  # noqa: BLE001 - judged when the play is over
                self.failures[name] = failure

        return played


_NOTHING = Call("nothing", frozenset(), frozenset())
