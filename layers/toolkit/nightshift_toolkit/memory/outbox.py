"""Notices on their way, in memory."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from nightshift.domain.exchanged import Page
from nightshift.domain.model.notice import Outgoing
from nightshift_toolkit.memory.state import State, reading, writing


class MemoryOutbox:
    """An `Outbox`."""

    name = "outbox"

    def __init__(self, state: State) -> None:
        self.state = state

    @reading
    def due(self, now: datetime, *, limit: int) -> Page[Outgoing]:
        """See `Outbox.due`."""
        due = [row for row in self.state.outbox.values() if row.due_at <= now]
        damaged = self.state.damaged_notices
        sound = [row for row in due if row.notice.id not in damaged]
        first = sorted(sound, key=lambda row: (row.due_at, row.notice.id))[:limit]
        corrupt = [row.notice.id for row in due if row.notice.id in damaged]
        return Page(first, corrupt=corrupt)

    @writing
    def claim(self, seen: Outgoing, next_try_at: datetime) -> Outgoing | None:
        """See `Outbox.claim`."""
        if not self._is_there(seen):
            return None
        held = replace(seen, due_at=next_try_at, tries=seen.tries + 1)
        self.state.outbox[held.notice.id] = held
        return held

    @writing
    def note_done(self, held: Outgoing, receivers: Collection[str]) -> bool:
        """See `Outbox.note_done`."""
        if not self._is_there(held):
            return False
        done = held.done | set(receivers)
        self.state.outbox[held.notice.id] = replace(held, done=done)
        return True

    @writing
    def settle(self, held: Outgoing) -> bool:
        """See `Outbox.settle`."""
        if not self._is_there(held):
            return False
        del self.state.outbox[held.notice.id]
        return True

    def _is_there(self, seen: Outgoing) -> bool:
        row = self.state.outbox.get(seen.notice.id)
        return row is not None and row.due_at == seen.due_at
