"""A deployed template: its API, its functions, and what a second deployment changes."""

from __future__ import annotations

import base64
import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from integration.local_cloud.probes import eventually
from nightshift_toolkit.local_cloud.deployment import Deployment, deploy
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.local_cloud.errors import DeploymentError
from nightshift_toolkit.local_cloud.issuer import AUDIENCE, Issuer, mint_token
from nightshift_toolkit.local_cloud.loopback import listen

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBE = Path(__file__).parent / "probe" / "template.yaml"


class Probe(NamedTuple):
    """The deployed probe and its surroundings."""

    engine: Engine
    issuer: str
    keys: Path
    deployment: Deployment

    def token(self, user: str = "ada", **options: Any) -> str:
        return mint_token(user, state_dir=self.keys, issuer=self.issuer, **options)

    def ask(self, path: str, *, token: str | None = None, **options: Any) -> httpx.Response:
        headers = options.pop("headers", {})
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        method = options.pop("method", "GET")
        return httpx.request(method, self.engine.api_url + path, headers=headers, **options)

    def invoke(self, function: str, **options: Any) -> Any:
        answer = self.engine.client("lambda").invoke(
            FunctionName=self.deployment.outputs[function], **options
        )
        return json.loads(answer["Payload"].read() or b"null")

    def rows(self) -> set[str]:
        table = self.deployment.outputs["TableName"]
        items = self.engine.client("dynamodb").scan(TableName=table)["Items"]
        return {item["pk"]["S"] for item in items}

    def failures(self) -> set[str]:
        return {row for row in self.rows() if row.startswith("failed")}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probe]:
    keys = tmp_path_factory.mktemp("keys")
    issuer = Issuer(listen(0), keys)
    issuer.start()
    parameters = {"JwtIssuer": issuer.url, "JwtAudience": AUDIENCE, "Limit": "50"}
    with Engine() as engine:
        yield Probe(engine, issuer.url, keys, deploy(engine, PROBE, parameters))
    issuer.stop()


def test_the_api_is_reached_by_a_plain_address(probe: Probe) -> None:
    answer = probe.ask("/open")
    assert answer.status_code == 200
    assert answer.json()["event"]["rawPath"] == "/open"


@pytest.mark.parametrize("path", ["/health", "/_ministack/health", "/any/where", "/"])
def test_every_path_of_the_api_port_belongs_to_the_api(probe: Probe, path: str) -> None:
    answer = probe.ask(path, token=probe.token())
    assert answer.json()["event"]["rawPath"] == path


def test_method_path_query_and_body_arrive_unchanged(probe: Probe) -> None:
    body = "Grüße, 世界".encode()
    answer = probe.ask(
        "/a%20b/c%2Fd?x=1&x=2&y=%C3%BC",
        token=probe.token(),
        method="PATCH",
        content=body,
        headers={"content-type": "application/octet-stream", "x-marked": "yes"},
    )
    event = answer.json()["event"]
    assert event["requestContext"]["http"]["method"] == "PATCH"
    assert event["rawQueryString"] == "x=1&x=2&y=%C3%BC"
    assert event["headers"]["x-marked"] == "yes"
    assert base64.b64decode(event["body"]) == body


def test_the_user_of_a_token_reaches_the_function(probe: Probe) -> None:
    claims = probe.ask("/", token=probe.token("grace")).json()["event"]["requestContext"][
        "authorizer"
    ]["jwt"]["claims"]
    assert claims["sub"] == "grace"


def test_a_request_without_a_token_is_refused(probe: Probe) -> None:
    assert probe.ask("/any").status_code == 401


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"lifetime_seconds": -1}, id="expired"),
        pytest.param({"aud": "other", "client_id": "other"}, id="made for another audience"),
        pytest.param({"iss": "http://127.0.0.1:1"}, id="of another issuer"),
    ],
)
def test_a_token_that_is_not_for_here_is_refused(probe: Probe, options: dict[str, Any]) -> None:
    assert probe.ask("/any", token=probe.token(**options)).status_code == 401


def test_a_token_signed_by_another_key_is_refused(probe: Probe) -> None:
    claims = jwt.decode(probe.token(), options={"verify_signature": False})
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    forged = jwt.encode(claims, other, algorithm="RS256", headers={"kid": "local"})
    assert probe.ask("/any", token=forged).status_code == 401


def test_a_token_without_the_scope_of_the_route_is_forbidden(probe: Probe) -> None:
    token = probe.token(scopes=["nightshift/write"])
    assert probe.ask("/any", token=token).status_code == 403


def test_a_preflight_is_not_open_when_no_web_origin_is_allowed(probe: Probe) -> None:
    assert "PreflightRoute" not in probe.deployment.resources


def test_the_engine_port_refuses_web_pages_and_foreign_names(probe: Probe) -> None:
    url = probe.engine.endpoint_url
    assert httpx.get(f"{url}/_ministack/health").status_code == 200
    page = {"origin": "https://example.org"}
    assert httpx.post(url, headers=page).status_code == 403
    assert httpx.options(url, headers=page).status_code == 403
    assert httpx.get(url, headers={"host": "rebound.example.org"}).status_code == 403


def test_a_function_finds_its_layer_its_table_and_the_packages_of_the_environment(
    probe: Probe,
) -> None:
    told = probe.invoke("Tell", Payload="{}")
    assert told["word"] == "from the layer"
    assert told["row"] in probe.rows()


def test_what_a_function_logs_and_that_it_failed_can_be_read_in_a_file(probe: Probe) -> None:
    told = probe.invoke("Tell", Payload="{}")
    assert f"told {told['row']}" in probe.engine.functions_log_path.read_text()
    probe.invoke("Fail", Payload="{}")
    assert '"function_failed"' in probe.engine.functions_log_path.read_text()


def test_the_time_that_remains_to_a_function_goes_down(probe: Probe) -> None:
    before, after = probe.invoke("Tell", Payload='{"seconds": 0.2}')["remaining"]
    assert 9_000 < before <= 10_000
    assert after <= before - 200


def test_the_next_request_is_served_by_the_same_process(probe: Probe) -> None:
    first, second = (probe.ask("/open").json()["process"] for _ in range(2))
    assert first == second


def test_a_function_at_work_holds_up_no_other(probe: Probe) -> None:
    probe.ask("/open")
    probe.invoke("Tell", Payload='{"seconds": 5}', InvocationType="Event")
    began = time.monotonic()
    for _ in range(3):
        assert probe.ask("/open").status_code == 200
    assert time.monotonic() - began < 4


def test_a_failed_asynchronous_call_without_retries_is_tried_once_and_kept(probe: Probe) -> None:
    before = probe.failures()
    probe.invoke("Fail", Payload='{"marked": true}', InvocationType="Event")
    sqs = probe.engine.client("sqs")
    received = sqs.receive_message(
        QueueUrl=probe.deployment.outputs["DeadLetters"], WaitTimeSeconds=10
    )
    letter = json.loads(received["Messages"][0]["Body"])
    assert letter["requestPayload"] == {"marked": True}
    assert len(probe.failures() - before) == 1


def test_a_number_put_into_the_state_machine_stays_a_number(probe: Probe) -> None:
    states = probe.engine.client("stepfunctions")
    machine = probe.deployment.outputs["MachineArn"]
    described = states.describe_state_machine(stateMachineArn=machine)
    assert json.loads(described["definition"])["TimeoutSeconds"] == 50
    execution = states.start_execution(stateMachineArn=machine)["executionArn"]

    def output() -> Any:
        return states.describe_execution(executionArn=execution).get("output")

    assert json.loads(eventually(output))["event"] == {"limit": "50"}


def test_rows_expire_as_the_template_says(probe: Probe) -> None:
    table = probe.deployment.outputs["TableName"]
    described = probe.engine.client("dynamodb").describe_time_to_live(TableName=table)
    assert described["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "expires_at",
    }


def test_a_deployment_survives_and_only_a_change_is_deployed_again(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(PROBE.parent, project)
    template, state = project / "template.yaml", tmp_path / "state"
    parameters = {"JwtIssuer": "http://127.0.0.1:1", "JwtAudience": AUDIENCE}
    with Engine(state) as engine:
        first = deploy(engine, template, parameters)
        engine.snapshot()
        table = engine.client("dynamodb")
        table.put_item(TableName=first.outputs["TableName"], Item={"pk": {"S": "kept"}})
        engine.kill()
    with Engine(state) as engine:
        again = deploy(engine, template, parameters)
        assert (again.changed, again.outputs["TableName"]) == (False, first.outputs["TableName"])
        assert httpx.get(engine.api_url + "/open").json()["word"] == "from the layer"
        word = project / "layers" / "shared" / "shared" / "word.py"
        word.write_text('"""Another."""\n\nWORD = "changed"\n')
        changed = deploy(engine, template, parameters)
        assert changed.changed
        assert httpx.get(engine.api_url + "/open").json()["word"] == "changed"
        item = engine.client("dynamodb").get_item(
            TableName=changed.outputs["TableName"], Key={"pk": {"S": "kept"}}
        )
        assert "Item" in item


def test_a_template_that_cannot_be_deployed_says_why_in_one_sentence(
    engine: Engine, tmp_path: Path
) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(
        "Resources:\n  Broken:\n    Type: AWS::Lambda::EventInvokeConfig\n"
        "    Properties: {FunctionName: absent, Qualifier: $LATEST}\n"
    )
    with pytest.raises(DeploymentError, match="Broken: ") as caught:
        deploy(engine, template, {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stands", [True, False], ids=["on top of one that stood", "as the first"])
def test_a_deployment_succeeds_after_one_that_failed(tmp_path: Path, *, stands: bool) -> None:
    project = tmp_path / "project"
    shutil.copytree(PROBE.parent, project)
    template, state = project / "template.yaml", tmp_path / "state"
    good = template.read_text().replace(
        "  Table:\n    Type: AWS::DynamoDB::Table\n",
        "  Table:\n    Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain\n",
    )
    broken = good.replace(
        "\nOutputs:\n",
        "\n  Broken:\n    Type: AWS::Lambda::EventInvokeConfig\n    DependsOn: Table\n"
        "    Properties: {FunctionName: absent, Qualifier: $LATEST}\n\nOutputs:\n",
    )
    parameters = {"JwtIssuer": "http://127.0.0.1:1", "JwtAudience": AUDIENCE}
    with Engine(state) as engine:
        if stands:
            template.write_text(good)
            deploy(engine, template, parameters)
        template.write_text(broken)
        with pytest.raises(DeploymentError, match="Broken: "):
            deploy(engine, template, parameters)
    template.write_text(good)
    with Engine(state) as engine:
        deploy(engine, template, parameters)
        assert httpx.get(engine.api_url + "/open").json()["word"] == "from the layer"
