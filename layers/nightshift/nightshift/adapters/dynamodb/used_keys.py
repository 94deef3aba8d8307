"""Used idempotency keys as rows, and the operation that takes one (SPEC section 7)."""

from nightshift.adapters.dynamodb import conditions, keys
from nightshift.adapters.dynamodb.items import UsedKeyItem
from nightshift.adapters.dynamodb.operations import Put, Raw
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.domain.model.idempotency import UsedKey


def take(used: UsedKey) -> Put:
    """What takes a key, in the transaction that makes what it is taken for."""
    item: UsedKeyItem = UsedKeyItem.at(
        keys.used_key(used.user_id, used.name),
        digest=used.digest,
        made=used.made,
        used_at=used.used_at,
        expires_at=used.expires_at,
    )
    return Put(item, conditions.free_or_over(used.used_at))


@guarded_reader
def used_key_from(row: Raw) -> UsedKey:
    """The use that a row holds."""
    item = UsedKeyItem.from_raw_data(dict(row))
    return UsedKey(
        user_id=keys.user_of(item.pk),
        name=item.sk.removeprefix(keys.USED_KEY),
        digest=item.digest,
        made=item.made,
        used_at=item.used_at,
    )
