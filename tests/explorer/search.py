"""All interleavings of a small scene, and seeded random ones of a large one.

All of them are walked depth first. Two steps that touch different rows, or only read, give the same
in either order, so one of the two orders is enough (sleep sets); every state is reached all the
same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from explorer.play import SEPARATOR, Play, single_file
from explorer.promises import Broken
from explorer.replay import script
from explorer.scenes import Scene
from explorer.stage import Call, Fate

MORTAL = ("tasks.", "runs.", "policies.", "cloud.launch", "cloud.stop", "cloud.running",
          "cloud.describe")  # fmt: skip
"""The calls of a process that may die, or whose answers may be lost."""
ONE_IN = 12
"""Of so many calls of a random walk, one meets a fate of its own."""


@dataclass
class Coverage:
    """What was played; `steps` are calls of ports, `states` are different ends."""

    interleavings: int = 0
    steps: int = 0
    complete: bool = True
    ends: set[bytes] = field(default_factory=set)

    @property
    def states(self) -> int:
        """How many different ends there were."""
        return len(self.ends)


class Violation(AssertionError):
    """A schedule in which something does not hold; its text is a script that plays it again."""


@dataclass(slots=True)
class _Fork:
    """One place of the present schedule, with the choices that were and are not to be tried."""

    options: dict[str, Call]
    asleep: dict[str, Call]
    choice: str
    tried: dict[str, Call] = field(default_factory=dict)

    def asleep_after(self) -> dict[str, Call]:
        """Whose step, taken next, would only repeat what was played with it taken before."""
        made = self.options[self.choice]
        both = self.asleep | self.tried
        return {name: call for name, call in both.items() if call.commutes_with(made)}

    def advance(self) -> bool:
        """Turn to the next choice; whether there is one."""
        self.tried[self.choice] = self.options[self.choice]
        for name in self.options:
            if name not in self.asleep and name not in self.tried:
                self.choice = name
                return True
        return False


def exhaust(scene: Scene, *, most: int | None = None) -> Coverage:
    """Play every interleaving of a scene, or the first `most`.

    Raises:
        Violation: with the first schedule in which something does not hold.
    """
    coverage = Coverage()
    path: list[_Fork] = []
    with single_file():
        while True:
            play = scene.open()
            if _play_on(scene, play, path, coverage):
                _judge(scene, play, [fork.choice for fork in path], coverage)
            while path and not path[-1].advance():
                path.pop()
            if not path:
                return coverage
            if most is not None and coverage.interleavings >= most:
                coverage.complete = False
                return coverage


def _play_on(scene: Scene, play: Play, path: list[_Fork], coverage: Coverage) -> bool:
    """Play the path and on to the end; False when the rest would repeat what was played."""
    for fork in path[:-1]:
        play.step(fork.choice, checked=False)
    if path:
        _step(scene, play, [fork.choice for fork in path], coverage)
    while options := play.stage.options():
        asleep = path[-1].asleep_after() if path else {}
        awake = next((name for name in options if name not in asleep), None)
        if awake is None:
            return False
        path.append(_Fork(options, asleep, awake))
        _step(scene, play, [fork.choice for fork in path], coverage)
    return True


def walk(scene: Scene, seed: int, coverage: Coverage, *, mortal: bool = True) -> None:
    """Play one random interleaving, the same for the same seed.

    Args:
        scene: what is played.
        seed: decides every choice.
        coverage: is told what was played.
        mortal: whether processes may die and answers may be lost.

    Raises:
        Violation: something does not hold in it.
    """
    random = Random(seed)  # noqa: S311 - a schedule, not a secret
    play = scene.open()
    played: list[str] = []
    with single_file():
        while options := play.stage.options():
            name = random.choice(list(options))
            fate = _fate(options[name], random) if mortal else Fate.DONE
            played.append(name if fate is Fate.DONE else f"{name}{SEPARATOR}{fate}")
            _step(scene, play, played, coverage)
        _judge(scene, play, played, coverage)


def _fate(call: Call, random: Random) -> Fate:
    if call.operation.startswith(MORTAL) and random.randrange(ONE_IN) == 0:
        return random.choice([fate for fate in Fate if fate is not Fate.DONE])
    return Fate.DONE


def walks(scene: Scene, seeds: Iterable[int], *, mortal: bool = True) -> Coverage:
    """Play one random interleaving for each seed; see `walk`."""
    coverage = Coverage(complete=False)
    for seed in seeds:
        walk(scene, seed, coverage, mortal=mortal)
    return coverage


def _step(scene: Scene, play: Play, played: list[str], coverage: Coverage) -> None:
    coverage.steps += 1
    try:
        play.step(played[-1])
    except Broken as broken:
        raise Violation(script(scene, played, broken)) from broken


def _judge(scene: Scene, play: Play, played: list[str], coverage: Coverage) -> None:
    """Let a play come to rest, unless an equal one has."""
    coverage.interleavings += 1
    end = blake2b((play.fingerprint() or str(coverage.interleavings)).encode()).digest()
    if end in coverage.ends:
        return
    try:
        play.rest()
    except Broken as broken:
        raise Violation(script(scene, played, broken)) from broken
    coverage.ends.add(end)
