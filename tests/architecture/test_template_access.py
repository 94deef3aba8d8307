"""Who may do what: roles of the functions, the workflow and the workers, routes, sign-in."""

from __future__ import annotations

import re
from typing import Any

import pytest

import stack
from api.routes import ROUTES as API_ROUTES
from nightshift.domain.model.webhook import WebhookTargets

ROLES = stack.resources("AWS::IAM::Role")
ROUTES = stack.resources("AWS::ApiGatewayV2::Route")
TRACES = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
HAVE_NO_RESOURCE_OF_THEIR_OWN = {
    *TRACES,
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
}
GRANTED = {
    "TickRole": LOGS
    | TRACES
    | {
        "dynamodb:Query",
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "states:StartExecution",
        "states:ListExecutions",
        "states:DescribeExecution",
        "states:StopExecution",
        "sqs:SendMessage",
    },
    "ApiRole": LOGS
    | TRACES
    | {
        "dynamodb:Query",
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:ConditionCheckItem",
        "dynamodb:BatchWriteItem",
        "states:StartExecution",
        "states:DescribeExecution",
        "secretsmanager:GetSecretValue",
        "states:StopExecution",
    },
    "CompletionRole": LOGS
    | TRACES
    | {
        "dynamodb:Query",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:BatchWriteItem",
        "sqs:SendMessage",
    },
    "NoticesRole": LOGS
    | TRACES
    | {
        "dynamodb:Query",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "secretsmanager:GetSecretValue",
        "events:PutEvents",
        "sns:Publish",
        "sqs:SendMessage",
    },
    "WorkflowRole": HAVE_NO_RESOURCE_OF_THEIR_OWN
    | {"dynamodb:UpdateItem", "sqs:SendMessage", "lambda:InvokeFunction"},
}


def as_list(value: Any) -> list[Any]:
    """IAM's one or many as many."""
    return list(value) if isinstance(value, list) else [value]


def statements(name: str) -> list[dict[str, Any]]:
    """Everything that a role is allowed."""
    return [
        statement
        for policy in ROLES[name]["Policies"]
        for statement in stack.statements(policy["PolicyDocument"])
    ]


def worker_statements() -> list[dict[str, Any]]:
    """Everything that a worker is allowed."""
    [policy] = stack.resources("AWS::IAM::ManagedPolicy").values()
    return stack.statements(policy["PolicyDocument"])


EVERY_STATEMENT = [
    pytest.param(statement, id=f"{owner}-{statement['Sid']}")
    for owner, owned in [
        *((name, statements(name)) for name in ROLES),
        ("WorkerPolicy", worker_statements()),
    ]
    for statement in owned
]


@pytest.mark.parametrize("statement", EVERY_STATEMENT)
def test_no_action_is_a_pattern_and_no_resource_is_everything(statement: dict[str, Any]) -> None:
    """Least privilege: `*` only where AWS has no finer resource."""
    assert statement["Effect"] == "Allow"
    assert not {"NotAction", "NotResource"} & set(statement)
    actions = set(as_list(statement["Action"]))
    assert not any("*" in action for action in actions)
    if "*" in as_list(statement["Resource"]):
        assert actions <= HAVE_NO_RESOURCE_OF_THEIR_OWN


@pytest.mark.parametrize("role", GRANTED)
def test_role_grants_exactly_what_its_owner_uses(role: str) -> None:
    """A grant that is not listed here was not thought about."""
    granted = {action for statement in statements(role) for action in as_list(statement["Action"])}
    assert granted == GRANTED[role]
    assert set(GRANTED) == set(ROLES)


def test_roles_grant_every_call_that_the_adapters_make_and_no_other() -> None:
    """A call without its grant fails on AWS alone, where no test sees it."""
    package = stack.ROOT / "layers" / "nightshift" / "nightshift" / "adapters"
    source = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    called = set(re.findall(r"client\.([a-z_]+)", source))
    called |= set(re.findall(r'"((?:put|update|delete)_item)"', source))
    called.discard("transact_write_items")
    if '"ConditionCheck"' in source:
        called.add("condition_check_item")
    used = {"".join(word.capitalize() for word in name.split("_")) for name in called}
    granted = {
        action.split(":")[1]
        for role in ("TickRole", "ApiRole", "CompletionRole", "NoticesRole")
        for action in GRANTED[role]
        if action.startswith(("dynamodb:", "states:", "secretsmanager:", "events:", "sns:"))
    }
    assert used == granted


def test_every_function_and_the_workflow_have_a_role_of_their_own() -> None:
    """What one may do, the others need not be able to."""
    owners = [
        *(stack.target(function["Role"]) for function in stack.functions().values()),
        *(
            stack.target(machine["Role"])
            for machine in stack.resources("AWS::Serverless::StateMachine").values()
        ),
    ]
    assert sorted(owners) == sorted(ROLES)


@pytest.mark.parametrize("name", ROLES)
def test_role_is_assumed_by_its_service_alone(name: str) -> None:
    """No person and no other account steps into a function's shoes."""
    service = "states" if name == "WorkflowRole" else "lambda"
    [statement] = ROLES[name]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}
    assert statement["Action"] == "sts:AssumeRole"


def test_only_the_tick_and_explanations_read_the_due_index() -> None:
    """Nobody else has a use for it, and it spans all users; it holds ids and times alone."""
    index = {"Fn::Sub": "${Table.Arn}/index/due"}
    readers = [
        name
        for name in ROLES
        if any(index in as_list(statement["Resource"]) for statement in statements(name))
    ]
    assert readers == ["TickRole", "ApiRole"]


def test_workflow_writes_nothing_but_slots_and_runs_of_the_table() -> None:
    """Its one transaction is the fence."""
    [statement] = [entry for entry in statements("WorkflowRole") if entry["Sid"] == "CrossTheFence"]
    assert statement["Action"] == "dynamodb:UpdateItem"
    leading = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert leading == ["ACTIVE#*", "TASK#*"]


def test_notices_function_touches_nothing_of_the_table_but_the_outbox() -> None:
    """It alone speaks to strangers, so it can do least."""
    [statement] = [entry for entry in statements("NoticesRole") if entry["Sid"] == "EmptyTheOutbox"]
    assert {action.split(":")[0] for action in statement["Action"]} == {"dynamodb"}
    leading = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert leading == ["OUTBOX#*"]
    others = [
        action
        for entry in statements("NoticesRole")
        if entry is not statement
        for action in as_list(entry["Action"])
    ]
    assert not [action for action in others if action.startswith(("dynamodb:", "states:"))]


def test_the_end_of_a_run_adds_nothing_to_the_table_but_notices() -> None:
    """Whatever else it writes is there already."""
    adds = [entry for entry in statements("CompletionRole") if "PutItem" in str(entry["Action"])]
    assert [entry["Sid"] for entry in adds] == ["AnnounceTheEnd"]
    leading = adds[0]["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert leading == ["OUTBOX#*"]


def test_webhooks_of_a_deployment_lead_to_the_public_internet_alone() -> None:
    """Loopback is for the desk."""
    entry = stack.template()["Parameters"]["WebhookTargets"]
    assert entry["Default"] == "public"
    assert entry["AllowedValues"] == [target.value for target in WebhookTargets]
    assert all("WebhookTargets" not in overrides for overrides in stack.stages().values())


def test_every_route_but_health_the_documents_and_preflight_wants_a_token_with_a_scope() -> None:
    """P8: no claims, no service; a preflight carries no token by its nature."""
    open_routes = set()
    for route in ROUTES.values():
        if route["AuthorizationType"] == "NONE":
            open_routes.add(route["RouteKey"])
            continue
        assert route["AuthorizationType"] == "JWT"
        assert route["AuthorizerId"] == {"Ref": "HttpApiAuthorizer"}
        assert route["AuthorizationScopes"]
    served = {f"{route.method} {route.rule}" for route in API_ROUTES if route.scope is None}
    assert open_routes == served | {"OPTIONS /{proxy+}"}
    assert stack.template()["Resources"]["PreflightRoute"]["Condition"] == "AllowsBrowsers"


def test_reading_takes_the_read_scope_and_writing_the_write_scope() -> None:
    """Checked here and again in the code."""
    scopes = {
        route["RouteKey"]: [scope.split("/")[1] for scope in route.get("AuthorizationScopes", [])]
        for route in ROUTES.values()
    }
    assert scopes["GET /{proxy+}"] == scopes["POST /api/schedule-previews"] == ["read"]
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert scopes[f"{method} /{{proxy+}}"] == ["write"]
    assert scopes["PATCH /api/policy"] == ["admin"]
    assert scopes["GET /api/webhook-key"] == ["write"]
    assert scopes["$default"] == ["read", "write", "admin"]


def test_everything_that_no_route_names_reaches_our_router() -> None:
    """Unknown paths and methods are answered in our words."""
    targets = {str(route["Target"]) for route in ROUTES.values()}
    assert targets == {str({"Fn::Sub": "integrations/${HttpApiIntegration}"})}
    [integration] = stack.resources("AWS::ApiGatewayV2::Integration").values()
    assert stack.target(integration["IntegrationUri"]) == "ApiFunction"
    assert integration["PayloadFormatVersion"] == "2.0"
    assert stack.functions()["api"]["Timeout"] * 1000 < integration["TimeoutInMillis"]


def test_api_is_throttled_and_its_access_is_logged_without_tokens() -> None:
    """Requests a second are the operator's choice; no header reaches the log."""
    [stage] = stack.resources("AWS::ApiGatewayV2::Stage").values()
    limits = stage["DefaultRouteSettings"]
    assert limits["ThrottlingRateLimit"] == {"Ref": "ThrottleRate"}
    assert limits["ThrottlingBurstLimit"] == {"Ref": "ThrottleBurst"}
    logged = stage["AccessLogSettings"]["Format"]
    assert "$context.requestId" in logged
    assert "header" not in logged.lower()


def test_tokens_are_believed_for_the_named_issuer_and_audience_only() -> None:
    """Issuer and audience are parameters; without an issuer the user pool's own."""
    [authorizer] = stack.resources("AWS::ApiGatewayV2::Authorizer").values()
    checked = authorizer["JwtConfiguration"]
    pool = {"Fn::GetAtt": ["UserPool", "ProviderURL"]}
    assert checked["Issuer"] == {"Fn::If": ["CreatesUserPool", pool, {"Ref": "JwtIssuer"}]}
    clients = [{"Ref": "UserPoolClient"}, {"Ref": "OperatorClient"}]
    assert checked["Audience"] == {"Fn::If": ["CreatesUserPool", clients, {"Ref": "JwtAudience"}]}


def test_people_cannot_ask_the_user_pool_for_the_admin_scope() -> None:
    """A pool gives every user each scope of the client that they sign in with."""
    clients = stack.resources("AWS::Cognito::UserPoolClient")
    people = clients["UserPoolClient"]
    assert people["AllowedOAuthFlows"] == ["code"]
    assert people["GenerateSecret"] is False
    assert people["AllowedOAuthScopes"] == ["openid", "nightshift/read", "nightshift/write"]
    operators = clients["OperatorClient"]
    assert operators["AllowedOAuthFlows"] == ["client_credentials"]
    assert operators["GenerateSecret"] is True
    [server] = stack.resources("AWS::Cognito::UserPoolResourceServer").values()
    assert server["Identifier"] == "nightshift"
    assert [scope["ScopeName"] for scope in server["Scopes"]] == ["read", "write", "admin", "run"]


def test_user_pool_exists_only_without_an_issuer_and_lets_nobody_sign_up() -> None:
    """Users are created by the operator."""
    for name, resource in stack.template()["Resources"].items():
        if resource["Type"].startswith("AWS::Cognito::"):
            assert resource["Condition"] == "CreatesUserPool", name
    [pool] = stack.resources("AWS::Cognito::UserPool").values()
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_identities_need_no_names_that_could_collide() -> None:
    """Two stages share an account, and deploying needs no more than CAPABILITY_IAM."""
    for role in ROLES.values():
        assert "RoleName" not in role
    for policy in stack.resources("AWS::IAM::ManagedPolicy").values():
        assert "ManagedPolicyName" not in policy
