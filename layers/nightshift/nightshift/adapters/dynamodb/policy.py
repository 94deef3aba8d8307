"""The limits in force: the deployed ones, overridden by the policy row."""

import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from nightshift.adapters.dynamodb import conditions, keys
from nightshift.adapters.dynamodb.items import PolicyItem
from nightshift.adapters.dynamodb.operations import Put, Raw
from nightshift.adapters.dynamodb.reading import guarded_reader, readable
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import CorruptRecord, InvalidCursor, InvalidRequest
from nightshift.domain.exchanged import Page
from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.policy import Policy

_POSITION: Final = re.compile(r"[0-9:.TZ-]{24}#[0-9]{12}")


@dataclass(frozen=True, slots=True)
class DynamoPolicy:
    """See `PolicySource` for what it promises."""

    table: Table
    defaults: Policy

    def current(self) -> Policy:
        """One consistent read of a row that is usually absent.

        Raises:
            CorruptRecord: the row has no readable settings, an unknown one or an impossible value.
        """
        return self.in_force().policy

    def in_force(self) -> PolicyInForce:
        """The same read, with who changed it; raises what `current` raises."""
        row = self.table.get(keys.POLICY)
        if row is None:
            return PolicyInForce(self.defaults)
        override = _override_from(row)
        known = {entry.name: type(getattr(self.defaults, entry.name)) for entry in fields(Policy)}
        for name, value in override.settings.items():
            if type(value) is not known.get(name):
                raise CorruptRecord(f"The policy row has no usable {name}.")
        found = PolicyInForce(self.defaults, override)
        try:
            _ = found.policy
        except InvalidRequest as refusal:
            raise CorruptRecord(f"The policy row is not usable: {refusal.message}") from refusal
        return found

    def change(self, override: Override) -> bool:
        """One transaction: the whole row by condition, and its entry in the log."""
        before = conditions.policy_as_seen(override.revision - 1)
        at = override.changed_at or datetime.min.replace(tzinfo=UTC)
        logged = keys.policy_change(at, override.revision)
        writes = [
            Put(_item(keys.POLICY, override), before),
            Put(_item(logged, override), conditions.ABSENT),
        ]
        return self.table.transact(writes) is None

    def changes(self, *, limit: int, after: str | None = None) -> Page[Override]:
        """One page of the log from its end."""
        if after is not None and not _POSITION.fullmatch(after):
            raise InvalidCursor
        read = self.table.query(
            keys.POLICY.pk,
            begins_with=keys.POLICY_CHANGE,
            after=None if after is None else f"{keys.POLICY_CHANGE}{after}",
            newest_first=True,
            page=limit + 1,
        )
        rows = list(islice(read, limit + 1))
        entries, corrupt = readable(rows[:limit], _override_from)
        last = rows[limit - 1]["sk"]["S"] if len(rows) > limit else None
        position = None if last is None else last.removeprefix(keys.POLICY_CHANGE)
        return Page(entries, position, [error.message for error in corrupt])


def _item(key: keys.Key, override: Override) -> PolicyItem:
    item: PolicyItem = PolicyItem.at(
        key,
        settings=dict(override.settings),
        revision=override.revision,
        changed_by=override.changed_by,
        changed_at=override.changed_at,
        reason=override.reason,
    )
    return item


@guarded_reader
def _override_from(row: Raw) -> Override:
    item = PolicyItem.from_raw_data(dict(row))
    if not isinstance(item.settings, dict):
        raise CorruptRecord("The settings of the policy row are not an object.")
    return Override(
        settings=item.settings,
        revision=0 if item.revision is None else int(item.revision),
        changed_by=item.changed_by,
        changed_at=item.changed_at,
        reason=item.reason,
    )
