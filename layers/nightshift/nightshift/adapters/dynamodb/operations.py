"""The conditional writes of the table as values, and how DynamoDB spells them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.expressions.update import Update as UpdateExpression

from nightshift.adapters.dynamodb.items import Item
from nightshift.adapters.dynamodb.keys import Key

Raw = Mapping[str, Any]
"""A row as DynamoDB spells it: attribute name to typed value."""


@dataclass(frozen=True, slots=True)
class Put:
    """Write a whole new row."""

    item: Item
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Change some attributes of a row."""

    key: Key
    actions: Sequence[Action]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a row."""

    key: Key
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Change nothing, but require something."""

    key: Key
    condition: Condition


Operation = Put | Update | Delete | Check


def rendered(operation: Operation, table: str) -> dict[str, Any]:
    """The operation as one entry of a transaction on `table`; a refusal shows the row it met."""
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    request: dict[str, Any] = {"TableName": table}
    if isinstance(operation, Put):
        request["Item"] = operation.item.serialize()
    else:
        request["Key"] = raw_key(operation.key)
    if isinstance(operation, Update):
        expression = UpdateExpression(*operation.actions)
        request["UpdateExpression"] = expression.serialize(names, values)
    if operation.condition is not None:
        request["ConditionExpression"] = operation.condition.serialize(names, values)
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if names:
        request["ExpressionAttributeNames"] = {new: name for name, new in names.items()}
    if values:
        request["ExpressionAttributeValues"] = values
    kind = "ConditionCheck" if isinstance(operation, Check) else type(operation).__name__
    return {kind: request}


def key_of(row: Raw) -> Key:
    """The primary key of a raw row."""
    return Key(row["pk"]["S"], row["sk"]["S"])


def raw_key(key: Key) -> dict[str, Any]:
    """A primary key as DynamoDB spells it."""
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}
