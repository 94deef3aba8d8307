"""Notices to the operator's bus and topic, on the real engine: what arrives, and what fails."""

import json
from typing import Any

import pytest

import builders
from builders import NOW
from nightshift.adapters.notices.bus import BusReceiver
from nightshift.adapters.notices.keys import DerivedKeys, StoredMaster
from nightshift.adapters.notices.topic import TopicReceiver
from nightshift.domain.errors import StorageUnavailable
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.outbox import NotDelivered, Receiver
from nightshift_toolkit.local_cloud.engine import Engine

NOTICE = builders.outgoing("tsk_1-m-1", webhook=None)


def received(sqs: Any, queue: str) -> dict[str, Any]:
    """The one message that came."""
    [message] = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"]
    body: dict[str, Any] = json.loads(message["Body"])
    return body


def queue_of(engine: Engine, name: str) -> tuple[str, str]:
    """A queue to listen on: its address and its ARN."""
    sqs = engine.client("sqs")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return url, attributes["Attributes"]["QueueArn"]


def test_the_bus_gets_an_event_of_the_notices_kind_with_all_its_facts(engine: Engine) -> None:
    """Rules of the operator's choose by source, kind, user and task."""
    events = engine.client("events")
    url, arn = queue_of(engine, "bus-hears")
    events.create_event_bus(Name="operations")
    pattern = {"source": ["nightshift"], "detail-type": ["failed"]}
    events.put_rule(Name="all", EventBusName="operations", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="all", EventBusName="operations", Targets=[{"Id": "q", "Arn": arn}])
    BusReceiver(events, "operations").send(NOTICE, NOW)
    told = received(engine.client("sqs"), url)
    assert told["detail-type"] == "failed"
    assert told["detail"] == {**NOTICE.notice.facts(), "user_id": "alice"}


def test_the_topic_gets_a_message_with_attributes_to_filter_by(engine: Engine) -> None:
    """Subscriptions of the operator's choose by kind, user and task."""
    sns = engine.client("sns")
    url, arn = queue_of(engine, "topic-hears")
    topic = sns.create_topic(Name="operations")["TopicArn"]
    wanted = {"kind": ["failed"], "user_id": ["alice"], "task_id": ["tsk_1"]}
    sns.subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=arn,
        Attributes={"FilterPolicy": json.dumps(wanted)},
    )
    TopicReceiver(sns, topic).send(NOTICE, NOW)
    told = received(engine.client("sqs"), url)
    assert json.loads(told["Message"]) == {**NOTICE.notice.facts(), "user_id": "alice"}


def test_a_topic_that_is_gone_and_a_bus_that_refuses_are_tried_again(engine: Engine) -> None:
    """What looks like success may be a refusal of the one entry."""

    class Refusing:
        """A bus that answers, and takes nothing."""

        def put_events(self, **_: Any) -> dict[str, Any]:
            """Refuse as EventBridge does."""
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure"}]}

    gone = "arn:aws:sns:us-east-1:000000000000:gone"
    receivers: list[Receiver] = [
        TopicReceiver(engine.client("sns"), gone),
        BusReceiver(Refusing(), "operations"),
    ]
    for receiver in receivers:
        with pytest.raises(NotDelivered) as caught:
            receiver.send(NOTICE, NOW)
        assert not caught.value.permanent


def test_the_operators_receivers_are_meant_for_every_notice() -> None:
    """Whether or not a task names a webhook."""
    hooked = Outgoing(notice=NOTICE.notice, webhook="https://hooks.example/", due_at=NOW)
    for receiver in (BusReceiver(None, "bus"), TopicReceiver(None, "topic")):
        assert receiver.gets(NOTICE)
        assert receiver.gets(hooked)


def test_keys_are_derived_from_a_secret_that_is_read_once(engine: Engine) -> None:
    """The same key for the same user for as long as the secret stands."""
    secrets = engine.client("secretsmanager")
    arn = secrets.create_secret(Name="webhooks", SecretString="a secret")["ARN"]
    master = StoredMaster(lambda: secrets, arn)
    first = DerivedKeys(master).key_of("alice")
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    assert DerivedKeys(master).key_of("alice") == first
    with pytest.raises(StorageUnavailable):
        DerivedKeys(StoredMaster(lambda: secrets, arn)).key_of("alice")
