"""Pausing a run at work: what is asked for on its row, what its command does, what is noted."""

import logging
import time
from collections.abc import Callable
from datetime import datetime

from nightshift.domain.model.instants import format_instant
from nightshift_toolkit.worker.message import RunMessage
from nightshift_toolkit.worker.ports import Pickups, Unavailable
from nightshift_toolkit.worker.supervision import SupervisedCommand

log = logging.getLogger(__name__)


class Pausing:
    """Stops and continues one attempt's command, for `max_pause_seconds` in all at most."""

    def __init__(self, pickups: Pickups, message: RunMessage, now: Callable[[], datetime]) -> None:
        self._pickups = pickups
        self._message = message
        self._now = now
        self._paused_at: str | None = None
        self._since = 0.0
        self._spent = 0.0
        self._noted: tuple[str | None, int] = (None, 0)

    def follow(self, command: SupervisedCommand) -> None:
        """Do what is asked for by now; a table that does not answer changes nothing."""
        if not self._message.max_pause_seconds:
            return
        try:
            self._follow(command, wanted=self._pickups.pause_wanted(self._message))
        except Unavailable as error:
            facts = {"run_id": self._message.run_id, "error": str(error)}
            log.warning("pause_not_followed", extra=facts)

    def _follow(self, command: SupervisedCommand, *, wanted: bool) -> None:
        paused = self._paused_at is not None
        so_far = self._spent + (time.monotonic() - self._since if paused else 0.0)
        allowed = so_far < self._message.max_pause_seconds
        if wanted and allowed and not paused:
            command.pause()
            self._since, self._paused_at = time.monotonic(), format_instant(self._now())
        elif paused and not (wanted and allowed):
            command.go_on()
            self._spent, self._paused_at = so_far, None
        note, spent = (self._paused_at, round(self._spent)), wanted and not allowed
        if note != self._noted or spent:
            self._pickups.note_pause(self._message, *note, spent=spent)
            self._noted = note
