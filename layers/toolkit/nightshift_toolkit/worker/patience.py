"""Asking again while no answer settles the matter."""

from collections.abc import Callable
from typing import TypeVar

from nightshift_toolkit.worker.ports import Unavailable

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0

Answer = TypeVar("Answer")


def ask_until_answered(
    ask: Callable[[], Answer],
    *,
    pause: Callable[[float], bool],
    on_failure: Callable[[Unavailable], None],
) -> Answer:
    """Return the first answer of `ask`, with growing pauses between the attempts.

    `pause` waits the given seconds and says whether to give up; `on_failure` hears of each attempt
    that failed. Raises the last `Unavailable` when it gives up.
    """
    seconds = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return ask()
        except Unavailable as error:
            on_failure(error)
            if pause(seconds):
                raise
        seconds = min(2 * seconds, _LONGEST_PAUSE_SECONDS)
