"""One tick: a look, or looks again and again until the window or the function's time is over."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from nightshift.composition.tick import TickServices
from nightshift.domain.exchanged import Event
from tick.settings import TickSettings
from wall_clock import utc_now

RESERVE_SECONDS: Final = 15.0
"""What an admitted run still needs: its launch, and writing down a refusal, each with time-outs."""
VERIFY_EVERY_SECONDS: Final = 15.0
"""Shortest time between two verifications inside one window."""

RemainingSeconds = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Clockwork:
    """The clocks of this machine, and a way to wait; `now` alone decides what is due."""

    now: Callable[[], datetime] = field(default=utc_now)
    elapsed: Callable[[], float] = field(default=time.monotonic)
    sleep: Callable[[float], None] = field(default=time.sleep)


def run_window(
    services: TickServices,
    settings: TickSettings,
    remaining_seconds: RemainingSeconds,
    clockwork: Clockwork,
) -> int:
    """Look once, or every `poll_seconds` for `window_seconds`; the number of looks.

    After each look a page of the tasks is held against newer zone rules, until none is left.

    Ticks are interchangeable: any number may overlap, be late or be missing (P17).

    Raises:
        NightshiftError: a look failed as a whole; the tick is over and says so.
    """

    def has_time() -> bool:
        return remaining_seconds() > RESERVE_SECONDS

    began = clockwork.elapsed()
    verified: float | None = None
    looks = 0
    swept = False
    while True:
        started = clockwork.elapsed()
        verify = verified is None or started - verified >= VERIFY_EVERY_SECONDS
        services.clock.look(clockwork.now(), has_time, verify=verify)
        verified = started if verify else verified
        looks += 1
        swept = swept or not has_time() or services.replanning.sweep_a_page()
        pause = max(0.0, started + settings.poll_seconds - clockwork.elapsed())
        over = clockwork.elapsed() + pause - began > settings.window_seconds
        if not settings.poll_seconds or over or remaining_seconds() - pause <= RESERVE_SECONDS:
            services.observe(Event("tick_finished", {"looks": looks}))
            return looks
        clockwork.sleep(pause)
