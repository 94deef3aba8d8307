"""The limits in force: the deployed ones, overridden by the policy row."""

from dataclasses import dataclass, fields, replace
from typing import Any

from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import PolicyItem
from nightshift.adapters.dynamodb.operations import Raw
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import CorruptRecord, InvalidRequest
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
        row = self.table.get(keys.POLICY)
        if row is None:
            return self.defaults
        settings = _settings_from(row)
        known = {entry.name: type(getattr(self.defaults, entry.name)) for entry in fields(Policy)}
        for name, value in settings.items():
            if type(value) is not known.get(name):
                raise CorruptRecord(f"The policy row has no usable {name}.")
        try:
            return replace(self.defaults, **settings)
        except InvalidRequest as refusal:
            raise CorruptRecord(f"The policy row is not usable: {refusal.message}") from refusal


@guarded_reader
def _settings_from(row: Raw) -> dict[str, Any]:
    settings = PolicyItem.from_raw_data(dict(row)).settings
    if not isinstance(settings, dict):
        raise CorruptRecord("The settings of the policy row are not an object.")
    return settings
