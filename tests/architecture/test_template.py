"""The template describes what the code needs: table, functions, environment, stages."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cfnlint.api import lint_file  # type: ignore[import-untyped]
from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

import stack
from api.settings import ApiSettings
from completion.settings import CompletionSettings
from nightshift.adapters.dynamodb.items import RunItem, TaskItem
from nightshift.adapters.dynamodb.keys import DUE_INDEX
from nightshift.composition.production import PRODUCTION_POLICY
from notices.settings import NoticesSettings
from tick.settings import TickSettings

SETTINGS: dict[str, Any] = {
    "api": ApiSettings,
    "completion": CompletionSettings,
    "notices": NoticesSettings,
    "tick": TickSettings,
}
READ_BY_LIBRARIES = {
    "AWS_ENDPOINT_URL",
    "LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
}
EVERY_STAGE = [pytest.param({}, id="defaults")] + [
    pytest.param(parameters, id=stage) for stage, parameters in stack.stages().items()
]


class Recorded(Mapping[str, str]):
    """An environment that remembers which names were asked for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Stand in for `variables`."""
        self.variables = variables
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        """Give and remember."""
        self.names.add(name)
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        """Give the names."""
        return iter(self.variables)

    def __len__(self) -> int:
        """Give their number."""
        return len(self.variables)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="user-pool"),
        pytest.param(
            {"JwtIssuer": "https://issuer.example/", "JwtAudience": "nightshift"}, id="own-issuer"
        ),
        pytest.param(
            {"KmsKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab"}, id="own-key"
        ),
    ],
)
def test_transformed_template_is_clean_whoever_issues_tokens_and_keys(
    parameters: dict[str, str],
) -> None:
    """Undefined references, circles, unknown properties and impossible values are all found."""
    arguments = ManualArgs(regions=["eu-central-1", "us-east-1"], parameters=[parameters])
    assert lint_file(stack.TEMPLATE_PATH, config=arguments) == []


def test_table_has_the_keys_and_the_one_sparse_index_that_the_code_uses() -> None:
    """K1: keys only, and no second index that every write would pay for."""
    [table] = stack.resources("AWS::DynamoDB::Table").values()
    keys = {entry["AttributeName"]: entry["KeyType"] for entry in table["KeySchema"]}
    assert keys == {"pk": "HASH", "sk": "RANGE"}
    [index] = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == DUE_INDEX
    assert [entry["AttributeName"] for entry in index["KeySchema"]] == ["due_bucket", "due_key"]
    assert [entry["KeyType"] for entry in index["KeySchema"]] == ["HASH", "RANGE"]
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert {"pk", "sk", "due_bucket", "due_key"} <= set(TaskItem.get_attributes())


def test_only_the_attribute_that_the_code_calls_expiry_makes_rows_expire() -> None:
    """Section 4: a row without `expires_at` is never deleted by the table."""
    [table] = stack.resources("AWS::DynamoDB::Table").values()
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert "expires_at" in RunItem.get_attributes()


def test_table_survives_the_stack_and_is_encrypted() -> None:
    """Deleting the stack, or an update that would replace the table, loses no task."""
    table = stack.template()["Resources"]["Table"]
    assert table["DeletionPolicy"] == "Retain"
    assert table["UpdateReplacePolicy"] == "Retain"
    properties = table["Properties"]
    assert properties["SSESpecification"]["SSEEnabled"] is True
    assert properties["DeletionProtectionEnabled"] == {"Ref": "DeletionProtection"}
    recovery = properties["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": {"Ref": "PointInTimeRecovery"}}
    prod = stack.parameter_defaults() | stack.stages()["prod"]
    assert prod["DeletionProtection"] == prod["PointInTimeRecovery"] == "true"


@pytest.mark.parametrize("folder", SETTINGS)
def test_every_function_deploys_a_handler_that_exists(folder: str) -> None:
    """All of them share one code folder, so that imports are the same everywhere."""
    function = stack.functions()[folder]
    assert function["CodeUri"] == "functions/"
    assert function["Handler"] == f"{folder}.handler.handler"
    source = (stack.ROOT / "functions" / folder / "handler.py").read_text(encoding="utf-8")
    assert "handler" in {
        node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
    }


def test_there_are_exactly_four_functions() -> None:
    """There is no server and no second scheduler anywhere."""
    assert set(stack.functions()) == set(SETTINGS)


@pytest.mark.parametrize("folder", SETTINGS)
def test_environment_holds_exactly_the_names_that_the_function_reads(folder: str) -> None:
    """A misspelt variable would be deployed without effect, a missing one fall to a default."""
    recorded = Recorded(stack.environment(folder, {}))
    SETTINGS[folder].read(recorded)
    shared_but_unread = {"STAGE"}
    assert set(recorded.variables) - READ_BY_LIBRARIES - shared_but_unread == recorded.names


@pytest.mark.parametrize("folder", SETTINGS)
def test_deployment_that_says_nothing_gets_the_policy_of_the_specification(folder: str) -> None:
    """SPEC section 9."""
    settings = SETTINGS[folder].read(stack.environment(folder, {}))
    assert settings.policy == PRODUCTION_POLICY


@pytest.mark.parametrize("parameters", EVERY_STAGE)
@pytest.mark.parametrize("folder", SETTINGS)
def test_every_stage_starts_every_function(folder: str, parameters: dict[str, str]) -> None:
    """What a function refuses at its cold start must not be deployable by a stage of ours."""
    SETTINGS[folder].read(stack.environment(folder, parameters))


@pytest.mark.parametrize("parameters", EVERY_STAGE)
def test_tick_may_run_half_a_minute_longer_than_it_looks(parameters: dict[str, str]) -> None:
    """A tick that admits at the end of its window still has time to launch."""
    deployed = stack.parameter_defaults() | parameters
    limit, window = int(deployed["TickTimeoutSeconds"]), int(deployed["TickWindowSeconds"])
    assert limit >= window + 30
    assert stack.functions()["tick"]["Timeout"] == {"Ref": "TickTimeoutSeconds"}


@pytest.mark.parametrize("stage", stack.stages())
def test_stage_names_only_parameters_of_the_template(stage: str) -> None:
    """A misspelt override would be refused at deployment."""
    overrides = stack.stages()[stage]
    assert set(overrides) <= set(stack.template()["Parameters"])
    assert overrides["Stage"] == stage


@pytest.mark.parametrize("name", stack.template()["Parameters"])
def test_parameter_says_what_it_is_and_what_it_may_be(name: str) -> None:
    """An operator sees a description for each, and nonsense is refused before anything changes."""
    entry = stack.template()["Parameters"][name]
    assert entry["Description"].endswith(".")
    assert "Default" in entry
    bounded = {"AllowedValues", "AllowedPattern"} & set(entry) or {"MinValue", "MaxValue"} <= set(
        entry
    )
    assert bounded or entry["Type"] == "CommaDelimitedList"
    groups = stack.template()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sum(name in group["Parameters"] for group in groups) == 1


def test_layers_hold_the_first_party_package_and_nothing_of_the_desk() -> None:
    """The toolkit is never deployed."""
    layers = stack.resources("AWS::Serverless::LayerVersion")
    folders = {name: stack.ROOT / layer["ContentUri"] for name, layer in layers.items()}
    assert {child.name for child in folders["NightshiftLayer"].iterdir()} == {"nightshift"}
    assert {child.name for child in folders["VendorLayer"].iterdir()} == {"requirements.txt"}
    deployed = {stack.target(layer) for layer in stack.template()["Globals"]["Function"]["Layers"]}
    assert deployed == set(layers)


def test_packages_are_built_for_the_processor_that_runs_them() -> None:
    """A wheel for another one loads nowhere but in tests; arm64 is the cheaper of the two."""
    chosen = {"Ref": "Architecture"}
    for resource in stack.template()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            assert resource["Metadata"]["BuildArchitecture"] == chosen
            assert resource["Properties"]["CompatibleArchitectures"] == [chosen]
    assert stack.template()["Globals"]["Function"]["Architectures"] == [chosen]
    assert stack.parameter_defaults()["Architecture"] == "arm64"
