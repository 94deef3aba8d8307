"""The limits in force: the deployed ones, overridden by the policy row."""

from dataclasses import dataclass, fields

from nightshift.adapters.dynamodb import conditions, keys
from nightshift.adapters.dynamodb.items import PolicyItem
from nightshift.adapters.dynamodb.operations import Put, Raw
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import CorruptRecord, InvalidRequest
from nightshift.domain.model.override import Override, PolicyInForce
from nightshift.domain.model.policy import Policy


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
        """One conditional write of the whole row."""
        item = PolicyItem.at(
            keys.POLICY,
            settings=dict(override.settings),
            revision=override.revision,
            changed_by=override.changed_by,
            changed_at=override.changed_at,
            reason=override.reason,
        )
        before = conditions.policy_as_seen(override.revision - 1)
        return self.table.write(Put(item, before)) is None


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
