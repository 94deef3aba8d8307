"""What lies still is closed: over TLS, from this account, under a key of the operator's own."""

from __future__ import annotations

from typing import Any

import pytest

import stack

KEY = {"Ref": "KmsKeyArn"}
NOTHING = {"Ref": "AWS::NoValue"}
BY_OWN_KEY = {"Fn::If": ["HasKey", KEY, NOTHING]}
OVER_TLS = {"Bool": {"aws:SecureTransport": "false"}}
THIS_ACCOUNT = {
    "StringNotEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}},
    "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
}
USES = {
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
}


def policies() -> dict[str, tuple[str, Any, list[dict[str, Any]]]]:
    """Of every table, queue and bucket: its service, itself as a policy names it, what is said."""
    found: dict[str, tuple[str, Any, list[dict[str, Any]]]] = {}
    [table] = stack.resources("AWS::DynamoDB::Table").values()
    said = stack.statements(table["ResourcePolicy"]["PolicyDocument"])
    found["Table"] = ("dynamodb", "*", said)
    for policy in stack.resources("AWS::SQS::QueuePolicy").values():
        [queue] = map(stack.target, policy["Queues"])
        said = stack.statements(policy["PolicyDocument"])
        found[queue] = ("sqs", {"Fn::GetAtt": [queue, "Arn"]}, said)
    for policy in stack.resources("AWS::S3::BucketPolicy").values():
        bucket = stack.target(policy["Bucket"])
        whole = [{"Fn::GetAtt": [bucket, "Arn"]}, {"Fn::Sub": f"${{{bucket}.Arn}}/*"}]
        found[bucket] = ("s3", whole, stack.statements(policy["PolicyDocument"]))
    return found


POLICIES = policies()
STORES = [
    name
    for name, resource in stack.template()["Resources"].items()
    if resource["Type"] in ("AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket")
]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("sid", "condition"), [("OnlyOverTls", OVER_TLS), ("OnlyThisAccount", THIS_ACCOUNT)]
)
def test_store_refuses_whoever_comes_in_clear_or_from_elsewhere(
    store: str, sid: str, condition: dict[str, Any]
) -> None:
    """A grant that somebody adds by mistake still opens nothing to strangers."""
    service, itself, said = POLICIES[store]
    [statement] = [entry for entry in said if entry["Sid"] == sid]
    assert statement == {
        "Sid": sid,
        "Effect": "Deny",
        "Principal": "*",
        "Action": f"{service}:*",
        "Resource": itself,
        "Condition": condition,
    }


def test_policy_of_a_store_allows_nobody_but_the_rules_that_keep_what_they_cannot_deliver() -> None:
    """Everything else is allowed by the identity that asks."""
    allowed = {
        store: entry["Principal"]
        for store, (_, _, said) in POLICIES.items()
        for entry in said
        if entry["Effect"] == "Allow"
    }
    events = {"Service": "events.amazonaws.com"}
    kept = ("TickDeadLetters", "CompletionDeadLetters", "NoticesDeadLetters")
    assert allowed == dict.fromkeys(kept, events)


def test_every_finding_that_the_audit_skips_is_justified_where_it_is() -> None:
    """`make audit` fails for any other; a sentence for each, at the resource that it is about."""
    skipped = [
        (name, entry)
        for name, resource in stack.template()["Resources"].items()
        for entry in resource.get("Metadata", {}).get("checkov", {}).get("skip", [])
    ]
    assert skipped
    for name, entry in skipped:
        assert entry["id"].startswith("CKV"), name
        assert entry["comment"].endswith("."), name
        assert len(entry["comment"].split()) > 5, name


def test_bucket_is_nobodys_website() -> None:
    """Neither by its policy nor by an access list."""
    [bucket] = stack.resources("AWS::S3::Bucket").values()
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def test_everything_that_lies_still_is_encrypted_with_the_key_of_the_operator() -> None:
    """Table, queues, bucket, logs and the functions' environments; the last two hold no prompts."""
    [table] = stack.resources("AWS::DynamoDB::Table").values()
    own = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": BY_OWN_KEY}
    assert table["SSESpecification"] == own
    for queue in stack.resources("AWS::SQS::Queue").values():
        assert queue["KmsMasterKeyId"] == BY_OWN_KEY
    [bucket] = stack.resources("AWS::S3::Bucket").values()
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    own = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}
    chosen = rule["ServerSideEncryptionByDefault"]
    assert chosen == {"Fn::If": ["HasKey", own, {"SSEAlgorithm": "AES256"}]}
    for group in stack.resources("AWS::Logs::LogGroup").values():
        assert group["KmsKeyId"] == BY_OWN_KEY
    [secret] = stack.resources("AWS::SecretsManager::Secret").values()
    assert secret["KmsKeyId"] == BY_OWN_KEY
    assert stack.template()["Globals"]["Function"]["KmsKeyArn"] == BY_OWN_KEY


def test_whoever_uses_what_the_key_encrypts_may_use_the_key_and_only_for_that() -> None:
    """Without it a stack with a key of its own would start and then fail at its first write."""
    [access] = stack.resources("AWS::IAM::Policy").values()
    assert stack.template()["Resources"]["KeyAccess"]["Condition"] == "HasKey"
    assert {stack.target(role) for role in access["Roles"]} == set(
        stack.resources("AWS::IAM::Role")
    )
    [worker] = stack.resources("AWS::IAM::ManagedPolicy").values()
    assert sum("Fn::If" in entry for entry in worker["PolicyDocument"]["Statement"]) == 1
    for policy, services in (
        (access, ["dynamodb", "sqs", "lambda", "secretsmanager"]),
        (worker, ["dynamodb", "sqs", "s3"]),
    ):
        [statement] = [
            entry
            for entry in stack.statements(policy["PolicyDocument"])
            if entry["Sid"] == "UseTheKey"
        ]
        assert set(statement["Action"]) == USES
        assert statement["Resource"] == KEY
        through = [{"Fn::Sub": f"{service}.${{AWS::Region}}.amazonaws.com"} for service in services]
        assert statement["Condition"] == {"StringEquals": {"kms:ViaService": through}}
