"""The one table: sends reads and conditional writes, and reads their answers.

Transactions keep the order of their operations, because a refusal is read by position (K4).
"""

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from nightshift.adapters.dynamodb.errors import code_of, translated
from nightshift.adapters.dynamodb.keys import DUE_INDEX, Key
from nightshift.adapters.dynamodb.operations import (
    Delete,
    Operation,
    Put,
    Raw,
    Update,
    key_of,
    raw_key,
    rendered,
)
from nightshift.domain.errors import StorageUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONFLICT_TRIES = 8
"""How often a conflict or throttle, which is no answer, is met with the same bytes again."""
_CONFLICTS = frozenset(
    {
        "TransactionConflict",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "TransactionConflictException",
    }
)
_CALLS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}
_BATCH_READ = 100
_MANY = 250
_BATCH_WRITE = 25


@dataclass(frozen=True, slots=True)
class Refusal:
    """One operation's condition did not hold; `item` is the row it met, None when absent."""

    item: Raw | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table by name, over a client that belongs to the composition."""

    client: "DynamoDBClient"
    name: str
    sleep: Callable[[float], None] = field(default=time.sleep)

    # -- writes --

    def transact(self, operations: Sequence[Operation]) -> list[Refusal | None] | None:
        """Do all of the operations or none.

        A conflict or a throttle is no answer: the same bytes are sent again under the same
        token, with jitter. Any refused condition is an answer.

        Returns:
            None when all was done; otherwise, by position, the refusals (K4).

        Raises:
            StorageUnavailable: nothing was written.
            PersistenceUncertain: it may have been written.
        """
        request: dict[str, Any] = {
            "TransactItems": [rendered(operation, self.name) for operation in operations],
            "ClientRequestToken": str(uuid.uuid4()),
        }
        for attempt in range(CONFLICT_TRIES):
            try:
                self.client.transact_write_items(**request)
            except ClientError as error:
                refusals = _refusals(error)
                if refusals is not None:
                    return refusals
                if not _is_conflict(error):
                    raise translated(error, write=True) from error
                self._pause(attempt)
            except BotoCoreError as error:
                raise translated(error, write=True) from error
            else:
                return None
        raise StorageUnavailable("The table stayed in conflict.")

    def write(self, operation: Put | Update | Delete) -> Refusal | None:
        """Do one operation; None when it was done, else the row that refused it."""
        kind, request = next(iter(rendered(operation, self.name).items()))
        call: Callable[..., Any] = getattr(self.client, _CALLS[kind])
        for attempt in range(CONFLICT_TRIES):
            try:
                call(**request)
            except ClientError as error:
                if code_of(error) == "ConditionalCheckFailedException":
                    return Refusal(error.response.get("Item"))  # type: ignore[arg-type]
                if not _is_conflict(error):
                    raise translated(error, write=True) from error
                self._pause(attempt)
            except BotoCoreError as error:
                raise translated(error, write=True) from error
            else:
                return None
        raise StorageUnavailable("The table stayed in conflict.")

    def delete_rows(self, keys: Sequence[Key]) -> None:
        """Remove rows that nobody needs any more; repeating it is harmless."""
        for start in range(0, len(keys), _BATCH_WRITE):
            requests: Any = [
                {"DeleteRequest": {"Key": raw_key(key)}}
                for key in keys[start : start + _BATCH_WRITE]
            ]
            for attempt in range(CONFLICT_TRIES):
                answer: Any = self._read(
                    self.client.batch_write_item, RequestItems={self.name: requests}
                )
                requests = answer.get("UnprocessedItems", {}).get(self.name)
                if not requests:
                    break
                self._pause(attempt)
            else:
                raise StorageUnavailable("The table did not take all deletions.")

    # -- reads --

    def get(self, key: Key) -> Raw | None:
        """One row, strongly consistent."""
        answer = self._read(
            self.client.get_item, TableName=self.name, Key=raw_key(key), ConsistentRead=True
        )
        row: Raw | None = answer.get("Item")
        return row

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Raw]:
        """Rows by key, strongly consistent, a hundred a call; absent ones are left out."""
        found: dict[Key, Raw] = {}
        for start in range(0, len(keys), _BATCH_READ):
            wanted: Any = [raw_key(key) for key in dict.fromkeys(keys[start : start + _BATCH_READ])]
            for attempt in range(CONFLICT_TRIES):
                request = {self.name: {"Keys": wanted, "ConsistentRead": True}}
                answer = self._read(self.client.batch_get_item, RequestItems=request)
                for row in answer["Responses"].get(self.name, []):
                    found[key_of(row)] = row
                wanted = answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys")
                if not wanted:
                    break
                self._pause(attempt)
            else:
                raise StorageUnavailable("The table did not read all rows.")
        return found

    def query(self, pk: str, **options: Any) -> Iterator[Raw]:
        """The rows of a partition, strongly consistent, page by page as they are used.

        Args:
            pk: the partition.
            options: `begins_with`, `until` (a sort key that is not reached), `after` (a sort key),
                `newest_first`, `page` (rows a call), `attributes` (names to read).
        """
        yield from self._query(_partition_query(pk, **options) | {"ConsistentRead": True})

    def query_due(self, bucket: str, until: str, page: int) -> Iterator[Raw]:
        """The entries of one bucket of the due index up to `until`; eventually consistent.

        `page` is how many the first call reads; whoever goes on wants many, so the others read
        more, but never so many that the memory of a tick grew with its backlog.
        """
        yield from self._query(_due_query(bucket, "<", until, page), following={"Limit": _MANY})

    def query_due_between(self, bucket: str, since: str, until: str, page: int) -> Iterator[Raw]:
        """The entries of one bucket of the due index in a range; eventually consistent."""
        request = _due_query(bucket, "BETWEEN :since AND", until, page)
        request["ExpressionAttributeValues"][":since"] = {"S": since}
        yield from self._query(request)

    def query_planned(self, bucket: str, after: str, page: int) -> Iterator[Raw]:
        """The entries of one bucket of the due index from `after` on; eventually consistent."""
        yield from self._query(_due_query(bucket, ">", after, page))

    def _query(
        self, request: dict[str, Any], following: Mapping[str, Any] = MappingProxyType({})
    ) -> Iterator[Raw]:
        while True:
            answer = self._read(self.client.query, TableName=self.name, **request)
            yield from answer["Items"]
            last = answer.get("LastEvaluatedKey")
            if not last:
                return
            request = {**request, **following, "ExclusiveStartKey": last}

    def _read(self, call: Callable[..., Any], **request: Any) -> Any:
        try:
            return call(**request)
        except (ClientError, BotoCoreError) as error:
            raise translated(error, write=False) from error

    def _pause(self, attempt: int) -> None:
        self.sleep(random.uniform(0, min(0.5, 0.02 * 2**attempt)))  # noqa: S311 - jitter


def _due_query(bucket: str, comparison: str, due_key: str, page: int) -> dict[str, Any]:
    return {
        "IndexName": DUE_INDEX,
        "KeyConditionExpression": f"due_bucket = :bucket AND due_key {comparison} :key",
        "ExpressionAttributeValues": {":bucket": {"S": bucket}, ":key": {"S": due_key}},
        "Limit": page,
    }


def _partition_query(
    pk: str,
    *,
    begins_with: str = "",
    until: str | None = None,
    after: str | None = None,
    newest_first: bool = False,
    page: int | None = None,
    attributes: Sequence[str] = (),
) -> dict[str, Any]:
    condition = "pk = :pk"
    values: dict[str, Any] = {":pk": {"S": pk}}
    if begins_with:
        condition += " AND begins_with(sk, :prefix)"
        values[":prefix"] = {"S": begins_with}
    if until is not None:
        condition += " AND sk < :until"
        values[":until"] = {"S": until}
    request: dict[str, Any] = {
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
        "ScanIndexForward": not newest_first,
    }
    if after is not None:
        request["ExclusiveStartKey"] = raw_key(Key(pk, after))
    if page is not None:
        request["Limit"] = page
    if attributes:
        names = {f"#{position}": name for position, name in enumerate(attributes)}
        request["ProjectionExpression"] = ", ".join(names)
        request["ExpressionAttributeNames"] = names
    return request


def _refusals(error: ClientError) -> list[Refusal | None] | None:
    """The refused conditions by position, or None when no condition was refused."""
    reasons: list[Any] = error.response.get("CancellationReasons", [])
    if not any(reason.get("Code") == "ConditionalCheckFailed" for reason in reasons):
        return None
    return [
        Refusal(reason.get("Item")) if reason.get("Code") == "ConditionalCheckFailed" else None
        for reason in reasons
    ]


def _is_conflict(error: ClientError) -> bool:
    reasons: list[Any] = error.response.get("CancellationReasons", [])
    codes = {reason.get("Code") for reason in reasons} | {code_of(error)}
    return bool(codes & _CONFLICTS)
