"""Workers in true time: they pick up attempts, fall silent, stand still and go on, and report."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from random import Random

from nightshift.domain.model.retry import FailedAttempt, Retry
from nightshift_toolkit.memory.work import MemoryWork
from simulation.weather import Weather

SECOND = timedelta(seconds=1)
SILENCE = timedelta(seconds=300)
MAX_PAUSE = timedelta(hours=1)
"""How long one attempt may stand still in all."""

At = Callable[[datetime, Callable[[], None]], None]
"""Puts an action on the agenda of true time."""


@dataclass
class Made:
    """An execution; `ended` is when it ended (true time).

    `ends` is when the work of the present attempt does; None while no worker is at it.
    """

    run_id: str
    nonce: str
    timeout_seconds: int
    retry: Retry | None = None
    status: str = "RUNNING"
    error: str | None = None
    report: dict[str, object] | None = None
    works: int = 0
    attempt: int = 1
    picked_up: int = 0
    failed: list[FailedAttempt] = field(default_factory=list)
    ends: datetime | None = None
    paused_since: datetime | None = None
    paused: timedelta = timedelta(0)
    ended: datetime | None = None

    @property
    def over(self) -> bool:
        """Whether Step Functions says that it has ended."""
        return self.ended is not None


Ended = Callable[[Made, str | None], None]
"""Hears how an attempt ended: the reason of a failure, None for a success."""


class Workers:
    """Everybody who takes messages from the queue; `counts` is what they did."""

    def __init__(
        self, random: Random, weather: Weather, at: At, work: MemoryWork, ended: Ended
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._random = random
        self._weather = weather
        self._at = at
        self._work = work
        self._ended = ended

    @property
    def _now(self) -> datetime:
        return self._weather.now

    def send(self, made: Made) -> None:
        """Take the message of the present attempt, or leave it lying."""
        if made.over:
            return
        made.works += 1
        self.counts["attempts"] += 1
        made.ends = made.paused_since = None
        if self._random.random() < 0.01:
            self._fall_silent(made)
        else:
            pick_up = partial(self._pick_up, made, made.attempt)
            self._at(self._now + self._random.uniform(0.1, 20) * SECOND, pick_up)

    def _fall_silent(self, made: Made) -> None:
        made.ends = None
        self._at(self._now + SILENCE, partial(self._lost, made, made.attempt))

    def _lost(self, made: Made, attempt: int) -> None:
        if not made.over and made.attempt == attempt:
            self._ended(made, "worker_lost")

    def _pick_up(self, made: Made, attempt: int) -> None:
        if made.over:
            return
        assert self._work.win(made.run_id, made.nonce, attempt)
        made.picked_up, made.paused = attempt, timedelta(0)
        if self._random.random() < 0.03:
            self._fall_silent(made)
            return
        longest = self._random.choice((60, 60, 60, 300, 300, 3600, 5 * 3600))
        seconds = self._random.uniform(1, min(longest, made.timeout_seconds))
        self._work_until(made, self._now + seconds * SECOND)
        if self._work.pause_wanted(made.run_id):
            self.look_soon(made)

    def _work_until(self, made: Made, ends: datetime) -> None:
        made.ends = ends
        self._at(ends, partial(self._through, made, made.attempt, ends))

    def _through(self, made: Made, attempt: int, ends: datetime) -> None:
        moved = made.attempt != attempt or made.ends != ends
        if made.over or moved or made.paused_since is not None:
            return
        fails = self._random.random() < (0.4 if made.retry else 0.07)
        self._ended(made, "nonzero_exit" if fails else None)

    # -- pauses --

    def look_soon(self, made: Made) -> None:
        """Let the worker of a run see, with its next heartbeat, what is wished for."""
        look = partial(self._look, made, made.attempt)
        self._at(self._now + self._random.uniform(0, 30) * SECOND, look)

    def _look(self, made: Made, attempt: int) -> None:
        if made.over or made.attempt != attempt or made.ends is None:
            return
        wanted, since = self._work.pause_wanted(made.run_id), made.paused_since
        so_far = made.paused + (self._now - since if since else timedelta(0))
        left = MAX_PAUSE - so_far
        if wanted and left > timedelta(0) and since is None:
            self.counts["pauses"] += 1
            made.paused_since = self._now
            self._at(self._now + left, partial(self._look, made, attempt))
        elif since is not None and not (wanted and left > timedelta(0)):
            made.paused, made.paused_since = so_far, None
            self._work_until(made, made.ends + (self._now - since))
        self._work.note_pause(
            made.run_id,
            made.nonce,
            attempt,
            made.paused_since,
            round(made.paused.total_seconds()),
            spent=wanted and left <= timedelta(0),
        )
        if made.paused_since is not None and self._random.random() < 0.1:
            self._fall_silent(made)
