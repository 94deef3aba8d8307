"""Output is bounded whatever a command writes (K8)."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift_toolkit.worker.output import OutputCollector
from nightshift_toolkit.worker.report import NOTHING_WRITTEN, Report


def _collected(*pieces: bytes, kept: int = 64) -> OutputCollector:
    collector = OutputCollector(kept)
    for piece in pieces:
        collector.add(piece)
    return collector


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def test_short_output_is_kept_as_it_is() -> None:
    text, truncated = _collected(b"one\n", b"two\n").collected().within(1000)
    assert (text, truncated) == ("one\ntwo\n", False)


def test_long_output_keeps_its_beginning_and_its_end_and_says_what_is_missing() -> None:
    stream = b"".join(b"line %04d\n" % number for number in range(1000))
    text, truncated = _collected(stream).collected().within(1000)
    assert truncated
    assert text.startswith("line 0000\n")
    assert text.endswith("line 0999\n")
    assert f"[... {len(stream) - 128} bytes left out ...]" in text


def test_what_is_kept_does_not_grow_with_the_stream() -> None:
    collector = _collected(kept=1024)
    for _ in range(2000):
        collector.add(b"x" * 4096)
    output = collector.collected()
    assert len(output.head) == len(output.tail) == 1024
    assert output.left_out == 2000 * 4096 - 2 * 1024


def test_a_character_cut_in_two_is_left_out_and_not_mangled() -> None:
    for shift in range(4):
        output = _collected(b"a" * shift + "夜".encode() * 100).collected()
        assert "\ufffd" not in output.head + output.tail


def test_bytes_that_are_no_utf8_become_the_replacement_character() -> None:
    assert _collected(b"\xff\xfeok\x00").collected().head == "\ufffd\ufffdok\ufffd"


def test_control_characters_stay_in_the_output() -> None:
    assert _collected(b"\x1b[31mred\x07").collected().within(1000)[0] == "\x1b[31mred\x07"


@given(st.lists(st.binary(max_size=90), max_size=40), st.integers(100, 2000))
def test_no_output_is_longer_than_its_room(pieces: list[bytes], room: int) -> None:
    text, truncated = _collected(*pieces).collected().within(room)
    assert _json_size(text) <= room
    assert truncated or text == b"".join(pieces).decode("utf-8", "replace").replace(
        "\x00", "\ufffd"
    )


@given(st.binary(max_size=400), st.lists(st.integers(0, 400)))
def test_how_the_stream_was_cut_into_pieces_makes_no_difference(
    stream: bytes, cuts: list[int]
) -> None:
    edges = [0, *sorted(cuts), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    assert _collected(*pieces).collected() == _collected(stream).collected()


@pytest.mark.parametrize("unit", ["x", "\x1b", '"', "\\", "夜", "😀", "\n"])
@pytest.mark.parametrize("error", [None, "e" * 5000, "😀" * 2000])
def test_a_report_fills_but_never_exceeds_16_kib(unit: str, error: str | None) -> None:
    collector = OutputCollector()
    collector.add(unit.encode() * 30000)
    at = "2026-01-01T09:00:00.000Z"
    report = Report("failed", "error", error, 3, collector.collected(), at, at).to_json()
    assert 15 * 1024 < len(report.encode()) <= 16 * 1024
    result = json.loads(report)["result"]
    assert result["truncated"]
    assert result["output"].startswith(unit)
    assert result["output"].endswith(unit)


def test_a_report_has_every_field_also_when_there_is_nothing_to_say() -> None:
    at = "2026-01-01T09:00:00.000Z"
    report = Report("success", None, None, 0, NOTHING_WRITTEN, at, at)
    assert json.loads(report.to_json()) == {
        "outcome": "success",
        "reason": None,
        "error": None,
        "result": {"exit_code": 0, "output": "", "truncated": False},
        "started_at": at,
        "finished_at": at,
    }
