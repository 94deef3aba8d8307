"""`nightshift next --batch`: one answer per line, whatever the line holds."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift_toolkit.schedules import next_batch
from unit.schedule.expressions import STEADY
from unit.schedule.golden import lines, rows

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def answer(row: object) -> dict[str, Any]:
    text = row if isinstance(row, str) else json.dumps(row)
    (line,) = next_batch([text], now=NOW)
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_golden_rows_can_be_sent_as_they_are() -> None:
    """Every answer equals the row's own, in the form the rows are written in."""
    name = "cron-golden.jsonl"
    answers = [json.loads(line) for line in next_batch(lines(name), now=NOW)]
    assert answers == [{"next": row["next"]} for row in rows(name)]


def test_every_invalid_row_is_answered_with_an_error() -> None:
    """`{"error": {"code", "message"}}`, with the code of the wire."""
    for line in next_batch(lines("cron-invalid.jsonl"), now=NOW):
        error = json.loads(line)["error"]
        assert error["code"] in {"invalid_schedule", "never_fires"}
        assert error["message"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"expr": "0 9 * * *"}, ["2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"]),
        ({"expr": ["0 9 * * *", "0 8 * * *"]}, ["2026-01-01T08:00:00Z", "2026-01-01T09:00:00Z"]),
        (
            {"expr": "0 9 * * *", "zone": "Asia/Tokyo", "after": "2026-06-01T09:00:00+09:00"},
            ["2026-06-02T00:00:00Z", "2026-06-03T00:00:00Z"],
        ),
        (
            {"schedule": {"every_seconds": 600}, "after": "2026-01-01T00:00:00.250Z"},
            ["2026-01-01T00:10:00.250Z", "2026-01-01T00:20:00.250Z"],
        ),
        ({"schedule": {"after_seconds": 90}}, ["2026-01-01T00:01:30Z"]),
        ({"schedule": {"once": "2026-01-01T09:00:00"}, "zone": "Asia/Tokyo"}, []),
        ({"expr": "0 9 * * *", "max_runs": 1}, ["2026-01-01T09:00:00Z"]),
        ({"expr": "0 9 * * *", "ends_at": "2026-01-01T09:00:00Z"}, ["2026-01-01T09:00:00Z"]),
        (
            {"schedule": {"cron": "0 9 * * *", "exclude": {"dates": ["2026-01-01"]}}},
            ["2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z"],
        ),
        ({"expr": "0 9 * * *", "after": "9999-12-31T23:59:59Z"}, []),
        (
            {"expr": "0 9 * * *", "after": "0001-01-03T00:00:00Z"},
            ["0001-01-03T09:00:00Z", "0001-01-04T09:00:00Z"],
        ),
    ],
)
def test_a_line_is_answered_with_its_next_times(row: dict[str, Any], expected: list[str]) -> None:
    """UTC, milliseconds only where there are any, fewer where the schedule ends."""
    assert answer({**row, "count": 2}) == {"next": expected}


def test_three_times_are_given_unless_a_count_is_asked_for() -> None:
    """The default is that of the golden rows, the most is a hundred."""
    assert len(answer({"expr": "* * * * *"})["next"]) == 3
    assert len(answer({"expr": "* * * * *", "count": 100})["next"]) == 100


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("", "invalid_request"),
        ("{", "invalid_request"),
        ("[" * 100_000, "invalid_request"),
        ('{"expr": "0 9 * * *", "count": 1' + "0" * 5000 + "}", "invalid_request"),
        ("[]", "invalid_request"),
        ("null", "invalid_request"),
        ({}, "invalid_request"),
        ({"expr": "0 9 * * *", "schedule": {"cron": "0 9 * * *"}}, "invalid_request"),
        ('{"expr": "0 9 * * *", "expr": "0 9 * * *"}', "invalid_request"),
        ('{"schedule": {"cron": "0 9 * * *", "cron": "0 9 * * *"}}', "invalid_request"),
        ({"expr": "0 9 * * *", "timezone": "Asia/Tokyo"}, "invalid_request"),
        ({"expr": "0 9 * * *", "": None}, "invalid_request"),
        ({"expr": "0 9 * * *", "after": "0001-01-01T00:00:00Z"}, "invalid_schedule"),
        ({"expr": "0 9 * * *", "count": 0}, "invalid_request"),
        ({"expr": "0 9 * * *", "count": 101}, "invalid_request"),
        ({"expr": "0 9 * * *", "count": True}, "invalid_request"),
        ({"expr": "0 9 * * *", "count": 2.0}, "invalid_request"),
        ({"expr": "0 9 * * *", "count": None}, "invalid_request"),
        ({"expr": None}, "invalid_schedule"),
        ({"expr": 5}, "invalid_schedule"),
        ({"expr": {}}, "invalid_schedule"),
        ({"expr": "0 9 * * *", "after": 5}, "invalid_schedule"),
        ({"expr": "0 9 * * *", "after": None}, "invalid_schedule"),
        ({"expr": "0 9 * * *", "after": "2026-01-01T00:00:00"}, "invalid_schedule"),
        ({"expr": "0 9 * * *", "zone": "US"}, "invalid_time_zone"),
        ({"expr": "0 9 * * *", "zone": None}, "invalid_time_zone"),
        ({"expr": "0 9 * * *", "zone": {}}, "invalid_time_zone"),
        (
            {"expr": "0 9 * * *", "zone": [], "starts_at": "2026-01-01T00:00:00Z"},
            "invalid_time_zone",
        ),
        ({"expr": "\ud800 9 * * *"}, "invalid_schedule"),
        ({"schedule": None}, "invalid_schedule"),
        ({"schedule": {"cron": "0 0 30 2 *"}}, "never_fires"),
        ({"schedule": {"after_seconds": 3650 * 86_400}, "after": "9998-01-01T00:00:00Z"}, None),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_wrong_line_is_answered_with_an_error(row: object, code: str | None) -> None:
    """Never a crash, and the next line is read."""
    assert answer(row)["error"]["code"] == (code or "invalid_schedule")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["0 9 * * *", "2026-01-01T00:00:00Z", "UTC", "9999-12-31T23:59:59Z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
SPEC_KEYS = ["cron", "exclude", "every_seconds", "anchor", "once", "after_seconds"]
KEYS = ["expr", "schedule", "zone", "after", "count", "starts_at", "ends_at", "max_runs"]
SPECS = st.dictionaries(st.sampled_from(SPEC_KEYS), JSON, max_size=2)


@settings(STEADY, max_examples=400)
@given(st.dictionaries(st.sampled_from(KEYS), JSON | SPECS))
def test_no_line_is_left_without_an_answer(row: dict[str, Any]) -> None:
    """Whatever the fields hold: times or an error, nothing else."""
    assert answer(row).keys() in ({"next"}, {"error"})


def test_the_clock_is_read_where_no_after_is_given() -> None:
    """`after` is now by default."""
    (line,) = next_batch(['{"expr": "* * * * *", "count": 1}'])
    upcoming = datetime.fromisoformat(json.loads(line)["next"][0])
    assert 0 < (upcoming - datetime.now(UTC)).total_seconds() + 5 <= 65
