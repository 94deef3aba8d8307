"""What goes wrong with whole services for a while: seeded storms over the ports and the ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from random import Random

from explorer.stage import Call, Death, Fate, Stage

FLAKY_ONE_IN = 9
"""Of so many calls in flaky weather, one fails."""


class Kind(Enum):
    """What a storm does while it lasts."""

    NO_TICKS = "no ticks"  # the clock function is not invoked
    TABLE_OUT = "table out"  # no call of the table does anything
    FLAKY = "flaky"  # some calls of the table are lost, unheard, or end their process
    EXECUTIONS_OUT = "executions out"  # Step Functions does not answer, whatever it does
    FORBIDDEN = "forbidden"  # executions may not be started


@dataclass(frozen=True, slots=True)
class Storm:
    """One kind of trouble from one instant to another (true time)."""

    kind: Kind
    begins: datetime
    ends: datetime


def forecast(random: Random, begin: datetime, days: int) -> list[Storm]:
    """A storm of some kind every week or so; most are short, a few last days."""
    storms = []
    at = begin + timedelta(days=random.uniform(0, 4))
    while at < begin + timedelta(days=days):
        hours = random.choice((0.05, 0.2, 1, 4, 30))
        if random.randrange(12) == 0:
            hours = 24 * random.uniform(1, 5)
        storms.append(Storm(random.choice(list(Kind)), at, at + timedelta(hours=hours)))
        at += timedelta(hours=hours) + timedelta(days=random.expovariate(1 / 6))
    return storms


class Weather(Stage):
    """A stage on which nobody switches, and on which calls fail as the weather has it."""

    def __init__(self, random: Random, storms: Sequence[Storm], now: datetime) -> None:
        super().__init__()
        self._random = random
        self._storms = storms
        self.now = now
        self.calm = False
        self.troubles = 0

    def rages(self, kind: Kind) -> bool:
        """Whether there is a storm of this kind now."""
        return not self.calm and any(
            storm.kind is kind and storm.begins <= self.now < storm.ends for storm in self._storms
        )

    def reach(self, call: Call) -> Fate:
        """What happens to a call in this weather; `troubles` counts those that fail."""
        fate = self._fate(call)
        if fate is not Fate.DONE:
            self.troubles += 1
        if fate is Fate.DIES_BEFORE:
            raise Death
        return fate

    def _fate(self, call: Call) -> Fate:
        if call.operation.startswith("cloud."):
            if self.rages(Kind.EXECUTIONS_OUT):
                return self._random.choice((Fate.UNREACHED, Fate.UNHEARD))
            return Fate.DONE
        if self.rages(Kind.TABLE_OUT):
            return Fate.UNREACHED
        if self.rages(Kind.FLAKY) and self._random.randrange(FLAKY_ONE_IN) == 0:
            return self._random.choice([fate for fate in Fate if fate is not Fate.DONE])
        return Fate.DONE
