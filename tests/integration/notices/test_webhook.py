"""Notices to real endpoints on loopback: what is sent, what is refused, and how long it takes.

The name service is brought along, so that a name leads wherever a test needs it to. Where loopback
is a target, it stands for the public internet.
"""

import hashlib
import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from builders import NOW
from nightshift.adapters.notices.keys import DerivedKeys
from nightshift.adapters.notices.webhook import MAX_REDIRECTS, WebhookReceiver
from nightshift.domain.model.notice import Notice, Outgoing
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.webhook import WebhookTargets
from nightshift.domain.outbox import NotDelivered
from webhooks import (
    HOST,
    Behaviour,
    Endpoint,
    answering,
    client_context,
    dripping,
    hanging,
    saying,
)

KEYS = DerivedKeys(lambda: "the secret of this deployment")
LOCAL, PUBLIC = WebhookTargets.LOOPBACK, WebhookTargets.PUBLIC


@dataclass
class Names:
    """A name service that leads where a test wants; `asked` counts."""

    answers: list[Sequence[str]] = field(default_factory=lambda: [["127.0.0.1"]])
    asked: int = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        if host != HOST:
            return [host]
        return self.answers[min(self.asked, len(self.answers)) - 1]


def outgoing(webhook: str) -> Outgoing:
    """A notice to this webhook."""
    notice = Notice(
        kind=NoticeKind.FAILED,
        user_id="alice",
        task_id="tsk_1",
        title="Summary · 日報",
        run_id="tsk_1-20260101T090000000Z",
        occurred_at=NOW,
        outcome="failed",
        reason="timeout",
        error="It took “too long”.",
        failures_in_a_row=2,
    )
    return Outgoing(notice=notice, webhook=webhook, due_at=NOW)


def receiver(
    names: Callable[[str, int], Sequence[str]] | None = None,
    *,
    targets: WebhookTargets = LOCAL,
    seconds: float = 5.0,
    context: ssl.SSLContext | None = None,
) -> WebhookReceiver:
    """The real one, trusting the endpoint's certificate."""
    return WebhookReceiver(
        keys=KEYS,
        targets=targets,
        resolve=names or Names(),
        context=context or client_context(),
        seconds=seconds,
    )


Opening = Callable[..., Endpoint]


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Lets endpoints go that hang."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def opening(over: threading.Event) -> Iterator[Opening]:
    """Opens endpoints that are closed at the end."""
    with ExitStack() as stack:

        def opened(behave: Behaviour, **facts: object) -> Endpoint:
            return stack.enter_context(Endpoint(behave, **facts).open())  # type: ignore[arg-type]

        yield opened
        over.set()


def refused(to: WebhookReceiver, webhook: str) -> NotDelivered:
    """How it was not delivered."""
    with pytest.raises(NotDelivered) as caught:
        to.send(outgoing(webhook), NOW)
    return caught.value


def test_a_notice_arrives_with_its_id_its_facts_and_a_signature_that_the_users_key_makes(
    opening: Opening,
) -> None:
    """The receiver needs its own key alone to know who sent what and when."""
    endpoint = opening(answering(204))
    sent = outgoing(endpoint.url)
    receiver().send(sent, NOW)
    [request] = endpoint.requests
    assert request.line == "POST /hook?of=mine HTTP/1.1"
    assert request.headers["host"] == f"{HOST}:{endpoint.port}"
    assert request.notice_id == sent.notice.id == "tsk_1-20260101T090000000Z.failed"
    assert json.loads(request.body) == sent.notice.facts()
    assert b"alice" not in request.body
    at, _, given = request.headers["nightshift-signature"].partition(",v1=")
    assert at == f"t={int(NOW.timestamp())}"
    signed = f"{int(NOW.timestamp())}.".encode() + request.body
    made = hmac.new(KEYS.key_of("alice").encode(), signed, hashlib.sha256).hexdigest()
    assert given == made
    assert KEYS.key_of("alice") != KEYS.key_of("bob")


def test_any_success_takes_a_notice(opening: Opening) -> None:
    """2xx is 2xx."""
    for status in (200, 201, 202, 299):
        receiver().send(outgoing(opening(answering(status)).url), NOW)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 400, 401, 404, 429, 500, 503])
def test_any_other_answer_is_no_delivery_and_is_tried_again(status: int, opening: Opening) -> None:
    """Redirects that change the request count as refusals."""
    endpoint = opening(answering(status, "Location: /elsewhere"))
    assert not refused(receiver(), endpoint.url).permanent
    assert len(endpoint.requests) == 1


def test_an_endpoint_that_is_gone_is_not_asked_again(opening: Opening) -> None:
    """410 says that it never will be back."""
    assert refused(receiver(), opening(answering(410)).url).permanent


def test_interim_answers_are_passed_over(opening: Opening) -> None:
    """103 is not the answer."""
    said = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    receiver().send(outgoing(opening(saying(said)).url), NOW)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10_000,
    ],
    ids=["nothing", "half", "another protocol", "no status", "switching", "endless"],
)
def test_what_is_no_answer_is_no_delivery(said: bytes, opening: Opening) -> None:
    """However strange, it ends in a refusal that is tried again."""
    assert not refused(receiver(), opening(saying(said)).url).permanent


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_repeats_the_request_is_followed(status: int, opening: Opening) -> None:
    """The same body under the same id arrives elsewhere."""
    target = opening(answering(200))
    first = opening(answering(status, f"Location: {target.url}"))
    receiver().send(outgoing(first.url), NOW)
    assert target.requests[0].body == first.requests[0].body
    assert target.requests[0].notice_id == first.requests[0].notice_id


def test_redirects_without_end_are_left(opening: Opening) -> None:
    """Three are followed."""
    endpoint = opening(answering(308, "Location: /hook"))
    refused(receiver(), endpoint.url)
    assert len(endpoint.requests) == MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    "location",
    [
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.7/",
        "https://[::ffff:10.0.0.7]/",
        "https://[fd00:ec2::254]/",
        "https://2130706433/",
        "http://hooks.example/",
        "https://user:password@hooks.example/",
        "file:///etc/passwd",
        "gopher://hooks.example/",
        "https://hooks.example/\u00e9",
    ],
)
def test_a_redirect_to_where_no_webhook_may_lead_is_not_followed(
    location: str, opening: Opening
) -> None:
    """Each place is checked anew, and what is refused there may be mended later."""
    names = Names()
    endpoint = opening(answering(307, f"Location: {location}"))
    assert not refused(receiver(names), endpoint.url).permanent
    assert names.asked == 1


@pytest.mark.parametrize("found", [["10.0.0.7"], ["127.0.0.1"], ["169.254.169.254"], ["::1"], []])
def test_a_name_that_leads_to_a_private_address_is_connected_to_nowhere(
    found: list[str], opening: Opening
) -> None:
    """The address counts, not the name."""
    endpoint = opening(answering(200))
    assert not refused(receiver(Names([found]), targets=PUBLIC), endpoint.url).permanent
    assert endpoint.connections == 0


def test_one_private_address_among_several_refuses_the_name(opening: Opening) -> None:
    """Otherwise the order of the answers would decide."""
    endpoint = opening(answering(200))
    refused(receiver(Names([["127.0.0.1", "10.0.0.7"]])), endpoint.url)
    assert endpoint.connections == 0


def test_a_name_that_leads_elsewhere_a_moment_later_gains_nothing(opening: Opening) -> None:
    """It is asked once; the connection goes to the address that was checked."""
    checked = opening(answering(200))
    rebound = opening(answering(200), address="127.0.0.2", port=checked.port)
    names = Names([["127.0.0.1"], ["127.0.0.2"]])
    receiver(names).send(outgoing(checked.url), NOW)
    assert (names.asked, len(checked.requests), rebound.connections) == (1, 1, 0)
    refused(receiver(names), checked.url)
    assert rebound.connections == 0


def test_a_redirect_is_resolved_anew_and_may_lead_nowhere_private(opening: Opening) -> None:
    """The second look finds a private address behind the same name."""
    endpoint = opening(answering(307, "Location: /again"))
    names = Names([["127.0.0.1"], ["192.168.1.1"]])
    refused(receiver(names), endpoint.url)
    assert (names.asked, len(endpoint.requests)) == (2, 1)


def test_the_certificate_must_be_trusted_and_be_the_names(opening: Opening) -> None:
    """Nothing is said to whoever cannot show it."""
    endpoint = opening(answering(200))
    strangers = ssl.create_default_context()
    refused(receiver(context=strangers), endpoint.url)
    elsewhere = endpoint.url.replace(HOST, "other.example")
    refused(receiver(lambda *_: ["127.0.0.1"]), elsewhere)
    assert endpoint.requests == []


def test_an_address_that_does_not_answer_gives_way_to_the_next(opening: Opening) -> None:
    """All of them were checked."""
    endpoint = opening(answering(200))
    receiver(Names([["::1", "127.0.0.1"]])).send(outgoing(endpoint.url), NOW)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_slow_endpoint_costs_no_more_than_the_deadline(
    behaviour: Callable[[threading.Event], Behaviour], opening: Opening, over: threading.Event
) -> None:
    """Also where it says something all the time."""
    endpoint = opening(behaviour(over))
    began = time.monotonic()
    refused(receiver(seconds=0.3), endpoint.url)
    assert 0.25 < time.monotonic() - began < 2
    assert len(endpoint.requests) == 1


def test_slow_redirects_share_one_deadline(opening: Opening) -> None:
    """Three times nearly the deadline is not three deadlines."""

    def slowly(connection: object, request: object) -> None:
        time.sleep(0.2)
        answering(307, "Location: /hook")(connection, request)  # type: ignore[arg-type]

    endpoint = opening(slowly)
    began = time.monotonic()
    refused(receiver(seconds=0.3), endpoint.url)
    assert time.monotonic() - began < 2
    assert len(endpoint.requests) == 2


def test_an_endpoint_that_never_shakes_hands_costs_no_more_than_the_deadline(
    opening: Opening,
) -> None:
    """A listener without TLS waits for us as we wait for it."""
    endpoint = opening(answering(200), tls=False)
    began = time.monotonic()
    refused(receiver(seconds=0.3), endpoint.url)
    assert time.monotonic() - began < 2
    assert endpoint.requests == []


def test_a_name_service_that_hangs_costs_no_more_than_the_deadline(over: threading.Event) -> None:
    """Nothing can stop it; it is not waited for."""

    def hangs(_: str, __: int) -> Sequence[str]:
        over.wait(30)
        return []

    began = time.monotonic()
    refused(receiver(hangs, seconds=0.3), f"https://{HOST}/")
    assert time.monotonic() - began < 2


def test_a_name_without_an_address_is_no_delivery() -> None:
    """It may have one tomorrow."""

    def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError(host, port)

    assert not refused(receiver(unknown), f"https://{HOST}/").permanent


def test_a_port_where_nobody_listens_is_no_delivery(opening: Opening) -> None:
    """Refused at once."""
    endpoint = Endpoint(answering(200))
    with endpoint.open():
        pass
    assert not refused(receiver(), endpoint.url).permanent


def test_the_desk_may_go_without_tls_to_itself_alone(opening: Opening) -> None:
    """A deployment may not."""
    endpoint = opening(answering(200), tls=False)
    receiver().send(outgoing(endpoint.plain_url), NOW)
    assert len(endpoint.requests) == 1
    refused(receiver(targets=PUBLIC), endpoint.plain_url)
    assert endpoint.connections == 1


def test_only_notices_with_a_webhook_are_meant_for_it() -> None:
    """The operator's receivers hear of more."""
    meant = outgoing("https://hooks.example/")
    assert receiver().gets(meant)
    assert not receiver().gets(Outgoing(notice=meant.notice, webhook=None, due_at=NOW))
