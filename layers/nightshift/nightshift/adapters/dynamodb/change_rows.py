"""The change log as rows (SPEC section 4): written once, gone a while after their task."""

from datetime import datetime, timedelta

from nightshift.adapters.dynamodb import conditions, keys
from nightshift.adapters.dynamodb.items import ChangeItem
from nightshift.adapters.dynamodb.operations import Put, Raw, Update, key_of
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.domain.model.change import Change, ChangeVerb, FieldChange

LOG_LIFETIME = timedelta(days=400)
"""How long the log of a deleted task is kept."""


def entry(change: Change) -> Put:
    """What adds a change to the log; the entry of a deletion goes when the log does."""
    item: ChangeItem = ChangeItem.at(
        keys.change(change.task_id, change.revision),
        revision=change.revision,
        changed_at=change.at,
        changed_by=change.by,
        verb=change.verb.value,
        fields={name: [field.old, field.new] for name, field in change.fields.items()},
    )
    if change.verb is ChangeVerb.DELETED:
        item.expires_at = _expiry(change.at)
    return Put(item, conditions.ABSENT)


def farewell(row: Raw, deleted_at: datetime) -> Update:
    """What lets an entry go a while after its task was deleted."""
    expiry = ChangeItem.expires_at.set(_expiry(deleted_at))
    return Update(key_of(row), [expiry], conditions.EXISTS)


def revision_from(row: Raw) -> str:
    """The revision that a row's key names, readable even when nothing else is."""
    return str(int(row["sk"]["S"].removeprefix(keys.CHANGE)))


@guarded_reader
def change_from(row: Raw) -> Change:
    """The change of a row."""
    item = ChangeItem.from_raw_data(dict(row))
    return Change(
        task_id=item.pk.removeprefix(keys.history("")),
        revision=int(item.revision),
        at=item.changed_at,
        by=item.changed_by,
        verb=ChangeVerb(item.verb),
        fields={name: FieldChange(old, new) for name, (old, new) in item.fields.items()},
    )


def _expiry(deleted_at: datetime) -> int:
    return int((deleted_at + LOG_LIFETIME).timestamp())
