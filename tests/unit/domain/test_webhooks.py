"""Where a webhook may lead, by its text and by the addresses of its host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.domain.errors import InvalidRequest
from nightshift.domain.model.webhook import (
    MAX_WEBHOOK_LENGTH,
    WebhookTargets,
    is_public,
    may_connect,
    parse_webhook,
)

PUBLIC, LOCAL = WebhookTargets.PUBLIC, WebhookTargets.LOOPBACK


@pytest.mark.parametrize(
    ("text", "authority", "path"),
    [
        ("https://example.com", "example.com", "/"),
        ("https://example.com/", "example.com", "/"),
        ("https://Example.COM:8443/a/b?c=d&e", "example.com:8443", "/a/b?c=d&e"),
        ("https://example.com:443/x", "example.com", "/x"),
        ("https://example.com?c=d", "example.com", "/?c=d"),
        ("https://93.184.216.34/", "93.184.216.34", "/"),
        ("https://[2606:2800:220:1::1]:444/", "[2606:2800:220:1::1]:444", "/"),
        ("HTTPS://xn--bcher-kva.example/%C3%A9", "xn--bcher-kva.example", "/%C3%A9"),
        ("https://example.com/" + "a" * (MAX_WEBHOOK_LENGTH - 20), "example.com", None),
    ],
)
def test_an_https_address_of_a_public_host_is_a_webhook(
    text: str, authority: str, path: str | None
) -> None:
    """Its parts are what a request names."""
    webhook = parse_webhook(text, PUBLIC)
    assert (webhook.authority, webhook.tls) == (authority, True)
    assert path is None or webhook.path == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "//example.com/",
        "http://example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://:443/",
        "https://user@example.com/",
        "https://user:password@example.com/",
        "https://@example.com/",
        "https://example.com/#part",
        "https://example.com#",
        "https://example.com\\@10.0.0.7/",
        "https://exa mple.com/",
        "https://example.com/\r\nHost: other",
        "https://example.com/\n",
        "\thttps://example.com/",
        "https://bücher.example/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:port/",
        "https://[::1",
        "https://example.com/" + "a" * (MAX_WEBHOOK_LENGTH - 19),
        "https://" + "a" * 254 + "/",
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fe80::1%25eth0]/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0x7f000001/",
        "https://017700000001/",
        "https://127.1/",
        "https://127.0.0.1./",
        "https://10.0.0.7.:443/",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    """What a parser elsewhere might read otherwise is refused as well."""
    with pytest.raises(InvalidRequest) as refusal:
        parse_webhook(text, PUBLIC)
    assert refusal.value.field == "notify.webhook"


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - as an address to refuse
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "169.254.170.2",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:10.0.0.1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "2002:808:808::1",
        "3fff::1",
        "4000::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "2606:4700::1%eth0",
        "fec0::1",
        "ff02::1",
        "localhost",
        "8.8.8",
        "8.8.8.08",
        "",
    ],
)
def test_what_is_not_of_the_public_internet_is_not_connected_to(address: str) -> None:
    """Private, local, shared, reserved, multicast, and whatever hides another address."""
    assert not is_public(address)
    assert not may_connect(address, PUBLIC)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "99.255.255.255",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2606:4700:4700::1111",
        "2a00:1450:4001:81c::200e",
    ],
)
def test_public_addresses_are_connected_to(address: str) -> None:
    """Up to the very edges of what is refused."""
    assert is_public(address)
    assert may_connect(address, PUBLIC)


@given(st.ip_addresses(v=4))
def test_nothing_is_public_that_the_registry_calls_private(address: object) -> None:
    """The standard library keeps a list of its own."""
    private = address.is_private or address.is_multicast or address.is_reserved  # type: ignore[attr-defined]
    assert not (private and is_public(str(address)))


def test_loopback_is_a_target_at_the_desk_only() -> None:
    """And then by plain http as well, but no other address of this machine."""
    for text in ("http://127.0.0.1:8000/hook", "https://127.0.0.1/", "http://[::1]:80/"):
        assert parse_webhook(text, LOCAL)
        with pytest.raises(InvalidRequest):
            parse_webhook(text, PUBLIC)
    for text in (
        "http://example.com/",
        "http://127.0.0.2/",
        "http://localhost/",
        "http://10.0.0.7/",
    ):
        with pytest.raises(InvalidRequest):
            parse_webhook(text, LOCAL)
    assert not may_connect("127.0.0.2", LOCAL)
    assert not may_connect("169.254.169.254", LOCAL)
