"""`POST /api/schedule-previews`: when a schedule would run, with nothing written."""

from typing import Any

import pytest

from unit.functions.desk import DAILY, TASKS, Desk, Reply

PREVIEWS = "/api/schedule-previews"
NEW_YORK = {"timezone": "America/New_York"}


@pytest.fixture
def desk() -> Desk:
    """The functions, on a Sunday at noon UTC, with nothing in the table."""
    return Desk()


def preview(desk: Desk, spec: dict[str, Any], **fields: Any) -> Reply:
    """Ask for a preview with the scope to read alone."""
    body = {"schedule_spec": spec, **fields}
    return desk.call("POST", PREVIEWS, body, scope="nightshift/read")


def times(reply: Reply) -> list[str]:
    """The next times in UTC."""
    assert reply.status == 200, reply.text
    return [fire["utc"] for fire in reply.json["next"]]


def test_it_shows_each_time_in_utc_and_in_the_zone(desk: Desk) -> None:
    """SPEC section 7: next N times in UTC and local; P9 across a clock change."""
    reply = preview(desk, {"cron": "0 9 * * *"}, **NEW_YORK, after="2026-03-07T00:00:00Z", count=2)
    assert reply.json == {
        "schedule": "Every day at 09:00 (America/New_York)",
        "schedule_type": "cron",
        "schedule_spec": {"cron": "0 9 * * *"},
        "timezone": "America/New_York",
        "next": [
            {
                "utc": "2026-03-07T14:00:00.000Z",
                "local": "2026-03-07T09:00:00.000-05:00",
                "note": None,
                "effective_until": None,
            },
            {
                "utc": "2026-03-08T13:00:00.000Z",
                "local": "2026-03-08T09:00:00.000-04:00",
                "note": None,
                "effective_until": None,
            },
        ],
    }


def test_a_time_that_a_clock_change_touched_has_a_note_in_the_language(desk: Desk) -> None:
    """SPEC section 7: DST notes, English and Chinese."""
    gap = {**NEW_YORK, "after": "2026-03-08T00:00:00Z", "count": 1}
    english = preview(desk, {"cron": "30 2 * * *"}, **gap).json
    chinese = preview(desk, {"cron": "30 2 * * *"}, **gap, language="zh").json
    assert english["next"][0]["local"] == "2026-03-08T03:00:00.000-04:00"
    assert "02:30" in english["next"][0]["note"]
    assert "02:30" in chinese["next"][0]["note"]
    assert chinese["next"][0]["note"] != english["next"][0]["note"]
    assert "每天" in chinese["schedule"]


def test_ten_times_from_now_are_shown_unless_told_otherwise(desk: Desk) -> None:
    """SPEC section 7."""
    shown = times(preview(desk, {"cron": "@hourly"}))
    assert len(shown) == 10
    assert shown[0] == "2026-03-01T13:00:00.000Z"


@pytest.mark.parametrize("count", [1, 100])
def test_one_to_a_hundred_times_are_shown(desk: Desk, count: int) -> None:
    """SPEC section 7."""
    assert len(times(preview(desk, {"cron": "@hourly"}, count=count))) == count


@pytest.mark.parametrize("count", [0, 101, "5", 1.5, True, None])
def test_another_count_is_refused(desk: Desk, count: object) -> None:
    """SPEC section 7: wrong types and coercions are refused."""
    reply = preview(desk, {"cron": "@hourly"}, count=count)
    assert (reply.status, list(reply.wrong())) == (422, ["count"])


@pytest.mark.parametrize("language", ["fr", "EN", None, 1])
def test_another_language_is_refused(desk: Desk, language: object) -> None:
    """English and Chinese."""
    reply = preview(desk, {"cron": "@hourly"}, language=language)
    assert (reply.status, list(reply.wrong())) == (422, ["language"])


def test_every_kind_of_schedule_can_be_previewed(desk: Desk) -> None:
    """SPEC section 5: as a task created now would have it."""
    assert times(preview(desk, {"every_seconds": 600}, count=1)) == ["2026-03-01T12:10:00.000Z"]
    assert times(preview(desk, {"after_seconds": 90})) == ["2026-03-01T12:01:30.000Z"]
    local = preview(desk, {"once": "2026-03-02T09:00:00"}, timezone="Asia/Tokyo")
    assert times(local) == ["2026-03-02T00:00:00.000Z"]
    both = preview(desk, {"cron": ["0 9 * * *", "30 9 * * *"]}, count=2)
    assert times(both) == ["2026-03-02T09:00:00.000Z", "2026-03-02T09:30:00.000Z"]


def test_excluded_times_are_not_shown(desk: Desk) -> None:
    """SPEC section 5: dates that never fire."""
    spec = {"cron": "0 9 * * *", "exclude": {"dates": ["2026-03-02/2026-03-05"]}}
    assert times(preview(desk, spec, count=1)) == ["2026-03-06T09:00:00.000Z"]


def test_bounds_end_the_list(desk: Desk) -> None:
    """SPEC section 5: `starts_at`, `ends_at`, `max_runs`."""
    hourly = {"cron": "@hourly"}
    window = {"starts_at": "2026-04-01T00:00:00Z", "ends_at": "2026-04-01T01:00:00Z"}
    expected = ["2026-04-01T00:00:00.000Z", "2026-04-01T01:00:00.000Z"]
    assert times(preview(desk, hourly, **window)) == expected
    assert len(times(preview(desk, hourly, max_runs=3))) == 3


def test_jitter_is_shown_beside_the_nominal_time(desk: Desk) -> None:
    """SPEC section 5: both are shown; never past the next occurrence."""
    shown = preview(desk, {"cron": "@hourly"}, jitter_seconds=600, count=1).json["next"][0]
    assert shown["utc"] == "2026-03-01T13:00:00.000Z"
    assert shown["effective_until"] == "2026-03-01T13:10:00.000Z"
    wide = preview(desk, {"cron": "@hourly"}, jitter_seconds=86_400, count=1).json["next"][0]
    assert wide["effective_until"] == "2026-03-01T13:59:59.000Z"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"schedule_spec": {"cron": "61 * * * *"}}, "invalid_schedule"),
        ({"schedule_spec": {"cron": "0 0 30 2 *"}}, "never_fires"),
        ({"schedule_spec": {"cron": "* * * * *"}}, "too_frequent"),
        ({"schedule_spec": {"every_seconds": 60}}, "too_frequent"),
        ({"schedule_spec": {"after_seconds": 30}}, "not_in_future"),
        ({"schedule_spec": {"once": "2020-01-01T00:00:00Z"}}, "not_in_future"),
        ({"schedule_spec": {"cron": "@daily"}, "timezone": "Mars/Olympus"}, "invalid_time_zone"),
        ({"schedule_spec": {"cron": "@daily"}, "schedule_type": "every"}, "invalid_schedule"),
        ({"schedule_spec": {"cron": "@daily"}, "ends_at": "2020-01-01T00:00:00Z"}, "never_fires"),
        ({"schedule_spec": {"cron": "@daily"}, "max_runs": 0}, "invalid_request"),
    ],
)
def test_what_a_task_would_be_refused_for_is_refused_alike(
    desk: Desk, fields: dict[str, Any], code: str
) -> None:
    """Issue: the same errors as create, to the letter."""
    desk.limit(min_interval_seconds=120)
    refused = desk.call("POST", PREVIEWS, fields)
    created = desk.call("POST", TASKS, {**DAILY, **fields})
    assert refused.code == created.code == code
    assert refused.json == created.json


@pytest.mark.parametrize("after", ["yesterday", "2026-03-02T09:00:00", "", 5])
def test_an_after_that_is_no_instant_is_refused(desk: Desk, after: object) -> None:
    """RFC 3339 with its offset."""
    reply = preview(desk, {"cron": "@daily"}, after=after)
    assert (reply.status, list(reply.wrong())) == (422, ["after"])


def test_unknown_fields_are_refused(desk: Desk) -> None:
    """SPEC section 7."""
    reply = preview(desk, {"cron": "@daily"}, title="A task after all")
    assert (reply.status, list(reply.wrong())) == (422, ["title"])


def test_nothing_is_written_and_no_task_is_read(desk: Desk) -> None:
    """SPEC section 7: writes nothing; all it needs are the limits in force."""
    preview(desk, {"cron": "@daily"})
    assert desk.store.all_calls() == {"policies.current": 1}


def test_a_token_is_wanted(desk: Desk) -> None:
    """P8: reading is enough, and without that it is forbidden."""
    body = {"schedule_spec": {"cron": "@daily"}}
    assert desk.call("POST", PREVIEWS, body, scope="nightshift/write").status == 403
