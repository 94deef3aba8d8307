"""Secrets that a command writes do not leave the worker, wherever the stream is cut."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift_toolkit.worker.masking import (
    LONGEST_BLOCK,
    LONGEST_LINE,
    MASK,
    OVERLAP,
    MaskedBytes,
    Masker,
)
from nightshift_toolkit.worker.output import MaskedSink, OutputCollector
from unit.worker.desk import Desk

KEY = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *["MIIEow" + "k" * 58] * 20,
        "-----END RSA PRIVATE KEY-----",
    ]
)
CUT = -(-LONGEST_LINE // 1000) * 1000 - OVERLAP
"""Where a line is cut that comes in pieces of a thousand."""
SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxb-123456789012-abcdefABCDEF",
    "sk-ant-" + "a1B2" * 9,
    "sk_live_" + "a1B2" * 6,
    "AIza" + "a1B2-" * 7,
    "npm_" + "a1B2" * 9,
    "hf_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    KEY,
]
PAIRS = [
    ("password=", "hunter2"),
    ("DB_PASSWORD: ", "123456"),
    ('"client_secret": "', 's3cr3t/value+x"'),
    ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("api-key=", "0123456789abcdef"),
    ("X-Auth-Token: ", "abcdef0123"),
    ("Authorization: Bearer ", "abcdefgh12345678"),
    ("Authorization: Basic ", "dXNlcjpwYXNz"),
    ("curl -H 'bearer ", "abcdefgh12345678"),
    ("https://ada:", "pa55word"),
]
HARMLESS = [
    "The password is wrong.",
    "input_tokens: 1234, output_tokens=99.5",
    "basic information about bearer bonds",
    "https://example.org/a:b@c",
    "task-based sketch of ask-me-anything",
    "tokens = 12",
    "-----BEGIN CERTIFICATE-----",
    "naïve 摘要 ☂",
]


def streamed(text: str, *cuts: int) -> str:
    """The text masked as a stream that comes in pieces."""
    raw, stream = text.encode(), MaskedBytes(Masker())
    ends = [*sorted(cuts), len(raw)]
    pieces = [raw[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return (b"".join(map(stream.add, pieces)) + stream.rest()).decode()


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_of_a_known_shape_is_masked_as_a_whole(secret: str) -> None:
    assert Masker().masked(f"before {secret} after\n") == f"before {MASK} after\n"


@pytest.mark.parametrize(("name", "secret"), PAIRS)
def test_of_a_pair_the_name_is_kept_and_the_secret_is_not(name: str, secret: str) -> None:
    masked = Masker().masked(f"{name}{secret}@host after")
    assert masked.startswith(f"{name}{MASK}")
    assert secret not in masked
    assert masked.endswith(" after")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_sounds_like_a_secret_is_left_as_it_is(text: str) -> None:
    assert Masker().masked(text) == text


@given(st.sampled_from(SECRETS), st.lists(st.integers(0, 2000), max_size=4), st.integers(0, 30))
def test_a_secret_is_masked_wherever_the_stream_is_cut(
    secret: str, cuts: list[int], before: int
) -> None:
    assert streamed(f"{'é' * before} {secret} end", *cuts) == f"{'é' * before} {MASK} end"


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("place", [LONGEST_LINE - 4100, LONGEST_LINE - 4, LONGEST_LINE, CUT - 8])
def test_a_secret_in_a_line_without_end_is_masked(secret: str, place: int) -> None:
    text = "x" * (place - 1) + " " + secret + " " + "y" * 2 * LONGEST_LINE
    assert secret not in streamed(text, *range(1000, len(text), 1000))
    assert MASK in streamed(text, *range(1000, len(text), 1000))


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("shift", [0, 5, 15, 25])
def test_a_secret_across_the_cut_of_head_and_tail_leaves_no_part_of_itself(
    secret: str, shift: int
) -> None:
    """Whether it is the head that ends in it or the tail that begins in it."""
    for edge in (200 - shift, 1000 - 200 - len(secret) + shift):
        collector = OutputCollector(kept=200)
        sink = MaskedSink(Masker(), collector)
        sink.add(f"{'x' * (edge - 1)} {secret} {'y' * (1000 - edge - len(secret))}".encode())
        sink.close()
        output = collector.collected()
        kept = output.head + output.tail
        assert not any(part in kept for part in re.findall(r"[\w+/-]{6}", secret))


def test_what_begins_like_a_key_and_never_ends_does_not_hide_the_rest() -> None:
    text = "-----BEGIN PRIVATE KEY-----\n" + "abc\n" * LONGEST_BLOCK + "the end"
    masked = streamed(text, *range(0, len(text), 997))
    assert masked.startswith(MASK)
    assert masked.endswith("the end")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password="correct horse battery9" next', 'password="[masked]" next'),
        ('{"password": "hun ter2", "a": 1}', '{"password": "[masked]", "a": 1}'),
        ('{"secret": "a\\"b c"}', '{"secret": "[masked]"}'),
        ("PASSWORD = 'q uoted9'", "PASSWORD = '[masked]'"),
        ("password=ab,cdefgh1", "password=[masked]"),
        ("password=p;q9 x", "password=[masked] x"),
        ("pwd=hh8888", "pwd=[masked]"),
        ("secret='z w9", "secret='[masked]"),
        ("api_key: 'with a blank'", "api_key: '[masked]'"),
        ("curl -u me:pw777 https://host", "curl -u me:[masked] https://host"),
        ("curl --user me:pw777", "curl --user me:[masked]"),
    ],
)
def test_a_secret_goes_as_a_whole_whatever_is_in_it(text: str, masked: str) -> None:
    """In quotes it ends with them, blanks and all; without them with the next blank."""
    assert Masker().masked(text) == masked


def test_what_is_under_a_secrets_name_goes_whatever_it_is() -> None:
    """A number may be a secret too; a flag is none."""
    data = {"token": 12345, "password": "a b", "has_token": True, "count": 3}
    assert Masker().masked_data(data) == {
        "token": MASK,
        "password": MASK,
        "has_token": True,
        "count": 3,
    }


@pytest.mark.parametrize("unit", ["a.", "eyJ-", "password", "token-", "://a:", "-----BEGIN ", "x"])
def test_masking_costs_what_the_text_is_long(unit: str) -> None:
    """No output holds a worker up: 1 MiB on one line takes seconds at most."""
    began = time.process_time()
    streamed(unit * (2**20 // len(unit)), *range(0, 2**20, 2**16))
    assert time.process_time() - began < 20


def test_the_operators_own_secrets_are_masked_too_and_in_every_part_of_a_report() -> None:
    desk = Desk(masks=(re.compile(r"customer-\d+"),))
    message = desk.shell(
        """echo customer-17 password=hunter2
        echo '{"who": "customer-17", "secret": "s",
        "deep": [{"customer-2": "AKIAIOSFODNN7EXAMPLE"}],
        "usage": {"input_tokens": 7}}' > "$NIGHTSHIFT_RESULT_FILE" """
    )
    desk.take().carry_out()
    result = desk.report_on(message)["result"]
    assert result["output"] == f"{MASK} password={MASK}\n"
    assert result["data"] == {"who": MASK, "secret": MASK, "deep": [{MASK: MASK}]}
    assert result["usage"] == {"input_tokens": 7}


def test_what_is_said_of_a_command_that_cannot_be_started_is_masked_too() -> None:
    """An error may quote what was to be run."""
    desk = Desk(agent_command=("customer-17",), masks=(re.compile(r"customer-\d+"),))
    message = desk.send()
    desk.take().carry_out()
    error = desk.report_on(message)["error"]
    assert MASK in error
    assert "customer" not in error


def test_the_end_of_an_output_without_a_last_line_break_is_kept() -> None:
    """What waits for the rest of its line is handed on when there is none."""
    desk = Desk()
    message = desk.shell("printf 'first\\npassword=hunter2'")
    desk.take().carry_out()
    assert desk.report_on(message)["result"]["output"] == f"first\npassword={MASK}"
