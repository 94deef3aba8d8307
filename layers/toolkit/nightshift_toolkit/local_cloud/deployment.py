"""The real template, deployed into the engine through CloudFormation."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from nightshift_toolkit.local_cloud.errors import DeploymentError
from nightshift_toolkit.local_cloud.packaging import BUCKET, Package, build_package

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nightshift_toolkit.local_cloud.engine import Engine

STACK = "nightshift"
_TEMPLATE_KEY = "template.json"
_DIGEST_TAG = "nightshift-digest"
_POLL_SECONDS = 0.05
_DEPLOY_SECONDS = 120.0
_STANDS = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
# Its first deployment failed: CloudFormation lets nothing be done with it but to delete it.
_NEVER_STOOD = frozenset({"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"})
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]


@dataclass(frozen=True)
class Deployment:
    """What stands after a deployment.

    Attributes:
        outputs: the stack's outputs by name.
        resources: logical to physical id.
        changed: False if the stack was already as the template says.

    """

    outputs: dict[str, str]
    resources: dict[str, str]
    changed: bool


def deploy(engine: Engine, template_path: Path, parameters: Mapping[str, str]) -> Deployment:
    """Bring the stack to what the template and `parameters` say; does nothing if it is there.

    Args:
        engine: a running engine.
        template_path: the SAM template.
        parameters: of the template; the ones not named keep their defaults.

    Raises:
        DeploymentError: CloudFormation refused, with its reason.

    """
    package = build_package(template_path, parameters)
    digest = _digest(package, parameters)
    cloudformation = engine.client("cloudformation")
    stack = _describe(cloudformation)
    if stack is not None and stack["StackStatus"] in _NEVER_STOOD:
        cloudformation.delete_stack(StackName=STACK)
        _wait(cloudformation)
        stack = None
    if stack is None or not _is_current(stack, digest):
        _upload(engine, package)
        stack = _change(cloudformation, parameters, digest, before=stack)
        changed = True
    else:
        changed = False
    resources = _resources(cloudformation)
    if changed:
        _let_rows_expire(engine.client("dynamodb"), package, resources)
    return Deployment(
        outputs={item["OutputKey"]: item["OutputValue"] for item in stack.get("Outputs", [])},
        resources=resources,
        changed=changed,
    )


def _let_rows_expire(dynamodb: Any, package: Package, resources: Mapping[str, str]) -> None:
    # ministack's CloudFormation does not read `TimeToLiveSpecification`.
    for name, resource in package.template["Resources"].items():
        wanted = resource.get("Properties", {}).get("TimeToLiveSpecification")
        if resource["Type"] != "AWS::DynamoDB::Table" or wanted is None:
            continue
        table = resources[name]
        now = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        if (now["TimeToLiveStatus"] == "ENABLED") != wanted["Enabled"]:
            dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)


def _digest(package: Package, parameters: Mapping[str, str]) -> str:
    # The keys of the archives are in the template, so the code is in the digest too.
    text = json.dumps([package.template, dict(parameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _describe(cloudformation: Any) -> dict[str, Any] | None:
    try:
        stack: dict[str, Any] = cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return None
    return stack


def _is_current(stack: dict[str, Any], digest: str) -> bool:
    tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
    return stack["StackStatus"] in _STANDS and tags.get(_DIGEST_TAG) == digest


def _upload(engine: Engine, package: Package) -> None:
    s3 = engine.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    for key, content in package.archives.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=content)
    template = json.dumps(package.template, separators=(",", ":"))
    s3.put_object(Bucket=BUCKET, Key=_TEMPLATE_KEY, Body=template.encode())


def _change(
    cloudformation: Any,
    parameters: Mapping[str, str],
    digest: str,
    *,
    before: dict[str, Any] | None,
) -> dict[str, Any]:
    verb = cloudformation.create_stack if before is None else cloudformation.update_stack
    endpoint = cloudformation.meta.endpoint_url
    try:
        verb(
            StackName=STACK,
            # By address: a template of this size is over the limit of a template in a request.
            TemplateURL=f"{endpoint}/{BUCKET}/{_TEMPLATE_KEY}",
            Capabilities=_CAPABILITIES,
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in parameters.items()
            ],
            Tags=[{"Key": _DIGEST_TAG, "Value": digest}],
        )
    except ClientError as error:
        message = error.response["Error"]["Message"]
        # What is wanted stands, by the roll-back of an update that failed.
        if before is not None and message.startswith("No updates"):
            return before
        raise DeploymentError(message) from error
    stack = _wait(cloudformation)
    if stack is None or stack["StackStatus"] not in _STANDS:
        raise DeploymentError(_reason(cloudformation))
    return stack


def _wait(cloudformation: Any) -> dict[str, Any] | None:
    deadline = time.monotonic() + _DEPLOY_SECONDS
    while time.monotonic() < deadline:
        stack = _describe(cloudformation)
        if stack is None or not stack["StackStatus"].endswith("_IN_PROGRESS"):
            return stack
        time.sleep(_POLL_SECONDS)
    raise DeploymentError(f"CloudFormation was not done after {_DEPLOY_SECONDS:.0f} s")


def _reason(cloudformation: Any) -> str:
    events = cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
    failures = [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason given')}"
        for event in events
        if event["ResourceStatus"].endswith("_FAILED")
    ]
    return failures[-1] if failures else "no reason given"


def _resources(cloudformation: Any) -> dict[str, str]:
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=STACK)
    return {
        item["LogicalResourceId"]: item["PhysicalResourceId"]
        for page in pages
        for item in page["StackResourceSummaries"]
    }
