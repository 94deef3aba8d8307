"""The table as the template declares it, so that tests and the desk use the deployed schema."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE = Path(__file__).resolve().parents[3] / "template.yaml"
_SCHEMA = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")


class _TemplateLoader(yaml.SafeLoader):
    """Reads CloudFormation YAML; intrinsic functions become their arguments."""


def _intrinsic(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    raise TypeError("a YAML node is a scalar, a sequence or a mapping")


_TemplateLoader.add_multi_constructor("!", _intrinsic)


def table_schema(template: Path = TEMPLATE) -> dict[str, Any]:
    """Keys and indexes of the one table, as `create_table` takes them."""
    resources = yaml.load(template.read_text(), Loader=_TemplateLoader)["Resources"]  # noqa: S506
    tables = [
        resource["Properties"]
        for resource in resources.values()
        if resource["Type"] == "AWS::DynamoDB::Table"
    ]
    (properties,) = tables
    return {name: properties[name] for name in _SCHEMA}


def create_table(client: "DynamoDBClient", name: str) -> None:
    """Create an empty table with the deployed schema and wait until it can be used."""
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **table_schema())
    client.get_waiter("table_exists").wait(TableName=name)
