"""The outbox on DynamoDB: a row per notice, its key the time of its next try.

To claim a notice is to move its row to the next try, so that of two who saw one row, one gets it,
and a sender who dies has only put it off.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from typing import Any

from nightshift.adapters.dynamodb import conditions, keys
from nightshift.adapters.dynamodb.items import OutboxItem
from nightshift.adapters.dynamodb.operations import Delete, Operation, Put, Raw, Update
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import CorruptRecord
from nightshift.domain.exchanged import Page
from nightshift.domain.model.instants import parse_instant
from nightshift.domain.model.notice import Notice, Outgoing
from nightshift.domain.model.notify import NoticeKind


@dataclass(frozen=True, slots=True)
class DynamoOutbox:
    """See `Outbox` for what each method promises."""

    table: Table

    def due(self, now: datetime, *, limit: int) -> Page[Outgoing]:
        """The beginning of every part, merged; parts that are empty cost half a read unit each."""
        until = keys.due_until(now)
        parts = [
            self.table.query(keys.outbox_part(part), until=until, page=limit)
            for part in range(keys.OUTBOX_PARTS)
        ]
        items: list[Outgoing] = []
        corrupt: list[str] = []
        for row in merge(*parts, key=lambda row: str(row["sk"]["S"])):
            try:
                items.append(outgoing_from(row))
            except CorruptRecord as error:
                corrupt.append(error.message)
            if len(items) == limit:
                break
        return Page(items, corrupt=corrupt)

    def claim(self, seen: Outgoing, next_try_at: datetime) -> Outgoing | None:
        """Move the row to its next try."""
        held = replace(seen, due_at=next_try_at, tries=seen.tries + 1)
        moved: list[Operation] = [
            Delete(_key(seen), conditions.EXISTS),
            Put(outbox_item(held), conditions.ABSENT),
        ]
        return held if self.table.transact(moved) is None else None

    def note_done(self, held: Outgoing, receivers: Collection[str]) -> bool:
        """Write who has it."""
        done = OutboxItem.done.set(sorted(held.done | set(receivers)))
        return self.table.write(Update(_key(held), [done], conditions.EXISTS)) is None

    def settle(self, held: Outgoing) -> bool:
        """Remove the row."""
        return self.table.write(Delete(_key(held), conditions.EXISTS)) is None


def additions(notices: Sequence[Outgoing]) -> list[Put]:
    """What writes notices together with their fact, whose own condition lets it happen once."""
    return [Put(outbox_item(outgoing)) for outgoing in notices]


def outbox_item(outgoing: Outgoing) -> OutboxItem:
    """The row of a notice on its way."""
    notice = outgoing.notice
    item: OutboxItem = OutboxItem.at(
        _key(outgoing),
        user_id=notice.user_id,
        notice=notice.facts(),
        webhook=outgoing.webhook,
        tries=outgoing.tries,
        done=sorted(outgoing.done),
    )
    return item


@guarded_reader
def outgoing_from(row: Raw) -> Outgoing:
    """The notice of a row."""
    item = OutboxItem.from_raw_data(dict(row))
    facts: dict[str, Any] = dict(item.notice)
    facts.pop("id")
    at = {name: facts.pop(name) for name in ("occurred_at", "scheduled_for")}
    kind = NoticeKind(facts.pop("kind"))
    notice = Notice(
        kind=kind,
        user_id=item.user_id,
        occurred_at=parse_instant(at["occurred_at"]),
        scheduled_for=parse_instant(at["scheduled_for"]) if at["scheduled_for"] else None,
        **facts,
    )
    return Outgoing(
        notice=notice,
        webhook=item.webhook,
        due_at=keys.due_at_of(item.sk),
        tries=int(item.tries),
        done=frozenset(item.done),
    )


def _key(outgoing: Outgoing) -> keys.Key:
    return keys.outbox(outgoing.due_at, outgoing.notice.id)
