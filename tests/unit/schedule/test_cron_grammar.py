"""Which texts are cron expressions, and what they name (SPEC section 5)."""

import pytest

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.cron import ALIASES, CronExpression, parse_cron


def refusal(text: object) -> str:
    with pytest.raises(InvalidSchedule) as refused:
        parse_cron(text)
    return refused.value.message


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("*", set(range(60))),
        ("*/20", {0, 20, 40}),
        ("*/60", {0}),
        ("5/20", {5, 25, 45}),
        ("59/15", {59}),
        ("10-20/5", {10, 15, 20}),
        ("10-10", {10}),
        ("1,2,2,01", {1, 2}),
        ("07", {7}),
        ("*/30,7", {0, 7, 30}),
    ],
)
def test_a_minute_field_names_its_values(text: str, minutes: set[int]) -> None:
    """Section 5: lists, ranges, steps; `n/step` means from n on."""
    assert parse_cron(f"{text} * * * *").minutes == minutes


@pytest.mark.parametrize(
    ("text", "weekdays"),
    [
        ("0", {0}),
        ("7", {0}),
        ("0-7", set(range(7))),
        ("5-7", {5, 6, 0}),
        ("5-7/2", {5, 0}),
        ("*/2", {0, 2, 4, 6}),
        ("1/2", {1, 3, 5}),
        ("3/4", {3}),
        ("sun/3", {0, 3, 6}),
        ("MON-fri", {1, 2, 3, 4, 5}),
        ("Sun-Tue", {0, 1, 2}),
        ("sat,SUN", {6, 0}),
        ("*/7", {0}),
    ],
)
def test_a_weekday_field_names_its_values(text: str, weekdays: set[int]) -> None:
    """Section 5: Sunday is 0 and 7, names in any case, the week of `n/step` ends on Saturday."""
    assert parse_cron(f"0 0 * * {text}").weekdays == weekdays


@pytest.mark.parametrize("text", ["5#2", "FRI#2", "fri#02", "05#2"])
def test_a_hash_names_the_nth_weekday_of_the_month(text: str) -> None:
    """Section 5: `5#2` is the second Friday."""
    parsed = parse_cron(f"0 0 * * {text}")
    assert parsed.nth_weekdays == {(5, 2)}
    assert not parsed.weekdays


def test_seven_is_sunday_in_front_of_a_hash() -> None:
    """Section 5: Sunday is 0 and 7."""
    assert parse_cron("0 0 * * 7#1") == parse_cron("0 0 * * sun#1")


@pytest.mark.parametrize(("alias", "meaning"), ALIASES.items())
def test_an_alias_is_expanded_when_stored(alias: str, meaning: str) -> None:
    """Section 5: what is stored is five fields."""
    assert parse_cron(f" \t{alias} ").normalised == meaning


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("  0 \t 9 * * *", "0 9 * * *"),
        ("00 09 * jan MON-Fri", "0 9 * 1 1-5"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * 5-7", "0 0 * * 5-7"),
        ("*/05 0 1,01,L * fri#2", "*/5 0 1,L * 5#2"),
        ("0 0 5,*/2 * 1", "0 0 5,*/2 * 1"),
    ],
)
def test_the_normal_form_folds_spelling_and_keeps_meaning(text: str, normalised: str) -> None:
    """Section 5: whitespace is folded; the normal form reads as what it came from."""
    parsed = parse_cron(text)
    assert parsed.normalised == normalised
    assert parse_cron(normalised) == parsed


def test_two_spellings_of_the_same_sets_are_equal() -> None:
    """Editing rules: an edit that does not change the meaning is none."""
    assert parse_cron("*/30 0-23 * * mon-fri") == parse_cron("0,30 * * * 1,2,3,4,5")
    assert parse_cron("0 9 * * *") != parse_cron("0 10 * * *")


@pytest.mark.parametrize("hours", ["*", "0-23", "*/1", "0/1", "0-11,12-23", "0,1-22,23"])
def test_every_hour_of_the_day_makes_an_interval_however_it_is_spelled(hours: str) -> None:
    """Section 5: an interval runs in every hour of the day."""
    assert parse_cron(f"5 {hours} * * *").is_interval


@pytest.mark.parametrize("hours", ["0-22", "*/2", "1-23", "9"])
def test_named_hours_make_a_fixed_schedule(hours: str) -> None:
    """Section 5: every other schedule names its hours."""
    assert not parse_cron(f"* {hours} * * *").is_interval


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("61 * * * *", "minute: 61 is not between 0 and 59"),
        ("* 24 * * *", "hour: 24 is not between 0 and 23"),
        ("* * 32 * *", "day of month: 32 is not between 1 and 31"),
        ("* * * 13 *", "month: 13 is not between 1 and 12"),
        ("* * * * 8", "day of week: 8 is not between 0 and 7"),
        ("*/61 * * * *", "minute: a step of 61 is not between 1 and 60"),
        ("* * * * */8", "day of week: a step of 8 is not between 1 and 7"),
        ("1-9/61 * * * *", "minute: a step of 61 is not between 1 and 60"),
        ("* * * * 7/1", "day of week: 7 cannot have a step; write 0 for Sunday"),
        ("0 0 * * fri-sun", "day of week: a range goes backwards"),
        ("0 0 ? * 1", "day of month: `?` is not read; write `*`"),
        ("* * * *", "a cron expression has five fields, this one has 4"),
        (
            "TZ=UTC 0 9 * * *",
            "the time zone is a field of its own, not part of the cron expression",
        ),
        ("0 0 l * *", "day of month: expected a number from 1 to 31"),
        ("@Daily", f"the aliases are {', '.join(ALIASES)}, each alone"),
        ("0 0 L/2 * *", "day of month: expected a number from 1 to 31"),
        ("0 0 * * 5#2/2", "day of week: `#` is followed by a number from 1 to 5"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_in_which_field(text: str, sentence: str) -> None:
    """Section 5: everything else is refused with a sentence."""
    assert refusal(text) == sentence


@pytest.mark.parametrize("value", [None, 5, True, b"* * * * *", ["* * * * *"], {}])
def test_only_text_is_a_cron_expression(value: object) -> None:
    """Section 7: wrong types are refused."""
    assert refusal(value) == "the cron expression must be text"


def test_the_longest_expression_has_256_characters() -> None:
    """Section 5: at most 256 characters, whitespace included."""
    assert parse_cron("0 9 * * *".ljust(256)).normalised == "0 9 * * *"
    assert refusal("0 9 * * *".ljust(257)) == "the cron expression is longer than 256 characters"


@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 31 2 1", "0 0 * 2 1#5", "0 0 */29 2 1"])
def test_a_rare_date_is_not_taken_for_one_that_never_comes(text: str) -> None:
    """Section 5: 29 February exists, and the OR of the day fields saves 31 February."""
    assert isinstance(parse_cron(text), CronExpression)


@pytest.mark.parametrize("text", ["0 0 30 2 */1", "0 0 31 4,6,9,11 *", "0 0 31 2,4 */2"])
def test_a_date_that_no_year_has_never_fires(text: str) -> None:
    """Section 5: anything that never fires is refused."""
    with pytest.raises(NeverFires):
        parse_cron(text)
