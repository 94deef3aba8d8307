"""Repairs of the outbox, each one conditional write."""

from dataclasses import dataclass

from nightshift.adapters.dynamodb.outbox import DynamoOutbox
from nightshift.adapters.dynamodb.table import Table
from nightshift_toolkit.audit.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRepairs:
    """Says what was done, or None when there was nothing to do any more."""

    table: Table
    snapshot: Snapshot

    def withdraw(self, notice_id: str) -> str | None:
        """Remove a notice of what did not happen, before anybody hears of it."""
        outbox = DynamoOutbox(self.table)
        told = [one for one in self.snapshot.outbox if one.notice.id == notice_id]
        withdrawn = [outbox.settle(outgoing) for outgoing in told]
        return "the notice was withdrawn" if any(withdrawn) else None
