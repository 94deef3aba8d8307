"""English phrases for times: understood whole, or refused with the forms that are known."""

from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from nightshift.domain.model.schedule_input import parse_schedule
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.phrases import NotUnderstoodError, understand
from nightshift_toolkit.phrases.grammar import FORMS

TUESDAY = datetime(2026, 12, 1, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_that_is_offered_is_understood_and_makes_a_schedule(form: str) -> None:
    """A refusal that offers what is refused would be worse than none."""
    read = understand(form, today=TUESDAY)
    schedule = parse_schedule(read.spec, zone=read.zone or "UTC", now=TUESDAY)
    assert schedule.next_after(TUESDAY) is not None


@pytest.mark.parametrize(
    ("phrase", "spec", "zone"),
    [
        ("every weekday at 9 in New York", {"cron": "0 9 * * 1-5"}, "America/New_York"),
        ("Weekdays at 9", {"cron": "0 9 * * 1-5"}, None),
        ("at 9 every weekday in tokyo", {"cron": "0 9 * * 1-5"}, "Asia/Tokyo"),
        ("every monday to friday at 7 Tokyo time", {"cron": "0 7 * * 1-5"}, "Asia/Tokyo"),
        ("every saturday to sunday at 7", {"cron": "0 7 * * 6-7"}, None),
        ("Mondays at 9 UTC", {"cron": "0 9 * * 1"}, "UTC"),
        ("every tue, thu and sun at 10", {"cron": "0 10 * * 0,2,4"}, None),
        ("weekly on friday at 17:00", {"cron": "0 17 * * 5"}, None),
        ("daily at 12am", {"cron": "0 0 * * *"}, None),
        ("daily at 12pm", {"cron": "0 12 * * *"}, None),
        ("every day at 9, 12 and 17:30", {"cron": ["0 9,12 * * *", "30 17 * * *"]}, None),
        ("every weekend at 10", {"cron": "0 10 * * 0,6"}, None),
        ("hourly", {"cron": "0 * * * *"}, None),
        ("every 2 hours on weekdays", {"cron": "0 */2 * * 1-5"}, None),
        ("every 15 minutes on mondays", {"cron": "*/15 * * * 1"}, None),
        ("every minute", {"cron": "* * * * *"}, None),
        ("every 2 hours", {"every_seconds": 7200}, None),
        ("every ten minutes", {"every_seconds": 600}, None),
        ("every 3 days", {"every_seconds": 259_200}, None),
        ("monthly on the 1st and 15th at 9", {"cron": "0 9 1,15 * *"}, None),
        ("on the second friday of the month at 9", {"cron": "0 9 * * 5#2"}, None),
        ("on the last day of each month at 18:00", {"cron": "0 18 L * *"}, None),
        ("every march 1st at 9am", {"cron": "0 9 1 3 *"}, None),
        ("in an hour", {"after_seconds": 3600}, None),
        ("today at 11:45 pm", {"once": "2026-12-01T23:45:00"}, None),
        ("tomorrow at 9", {"once": "2026-12-02T09:00:00"}, None),
        ("tomorrow at 9 in tokyo", {"once": "2026-12-03T09:00:00"}, "Asia/Tokyo"),
        ("next tuesday at noon", {"once": "2026-12-08T12:00:00"}, None),
        ("on 2027-01-15 at 14:00", {"once": "2027-01-15T14:00:00"}, None),
    ],
)
def test_a_phrase_is_the_schedule_that_people_mean_by_it(
    phrase: str, spec: dict[str, Any], zone: str | None
) -> None:
    """Days are counted from the date in the zone, not from that of UTC."""
    read = understand(phrase, today=TUESDAY)
    assert (read.spec, read.zone) == (spec, zone)


@pytest.mark.parametrize(
    "phrase",
    [
        "",
        "every",
        "every day",
        "monday at 9",
        "every day at 25",
        "every day at 13pm",
        "every day at 9:75",
        "every second friday at 9",
        "every other day at 9",
        "every day at 9 except monday",
        "every weekday at 9 in Atlantis",
        "every weekday at 9 in New York or so",
        "every day at 9 est",
        "every 7 minutes on weekdays",
        "tomorrow at 9 and 10",
        "on 2027-02-30 at 9",
        "on the sixth monday of every month at 9",
    ],
)
def test_what_is_not_understood_whole_is_refused(phrase: str) -> None:
    """A word that is passed over could be the one that counts."""
    with pytest.raises(NotUnderstoodError):
        understand(phrase, today=TUESDAY)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["every blue moon"], "Known forms: every weekday at 9"),
        (["every day at 9", "--cron", "0 9 * * *"], "A phrase goes without --cron"),
        (["every day at 9", "--when", "every day at 8"], "Say when once"),
        (["every day at 9", "--zone", "Nowhere"], "--zone Nowhere is no zone"),
        (["every day at 9 in Tokyo", "--zone", "UTC"], "names Asia/Tokyo, and --zone names UTC"),
    ],
)
def test_a_phrase_that_cannot_be_used_is_a_usage_error(arguments: list[str], said: str) -> None:
    """Nothing is sent."""
    result = CliRunner().invoke(nightshift, ["tasks", "create", *arguments, "--prompt", "x"])
    assert result.exit_code == 2
    assert said in result.stderr
