"""A schedule in words, and the note on a fire that a clock change touched (English, Chinese).

The common forms read as people say them; every other falls back to a wording per field. Nothing
but the parsed sets is put into words, so the words are exact for every schedule.
"""

from datetime import datetime, timedelta
from typing import Final, Literal

from nightshift.domain.model.calendar import named_in_gap
from nightshift.domain.model.exclusions import Exclusions
from nightshift.domain.model.instants import EPOCH
from nightshift.domain.model.shape import days_of, timing_of
from nightshift.domain.model.spec import CronSchedule, EverySchedule, OnceSchedule, Schedule
from nightshift.domain.model.words_chinese import Chinese
from nightshift.domain.model.words_english import English
from nightshift.domain.model.zones import DAY, load_zone, zone_stretches

Language = Literal["en", "zh"]
LANGUAGES: Final[dict[str, English | Chinese]] = {"en": English(), "zh": Chinese()}

_SECOND: Final = timedelta(seconds=1)


def describe(schedule: Schedule, language: Language = "en") -> str:
    """Say a schedule in words, with its exclusions, bounds and zone.

    `language` is `en` or `zh`. Raises ValueError for another language.
    """
    speaker = _speaker(language)
    if isinstance(schedule, OnceSchedule):
        return speaker.sentence(speaker.once(local_text(schedule.at, schedule.zone)), schedule.zone)
    if isinstance(schedule, EverySchedule):
        text = speaker.every(schedule.every_seconds, local_text(schedule.anchor, schedule.zone))
    else:
        text = speaker.union(
            [speaker.cron(timing_of(each), days_of(each)) for each in schedule.expressions]
        )
        if schedule.exclude:
            text += speaker.excluded(*_spans(schedule.exclude))
    bounds = schedule.bounds
    text += speaker.bounds(
        local_text(bounds.starts_at, schedule.zone) if bounds.starts_at else None,
        local_text(bounds.ends_at, schedule.zone) if bounds.ends_at else None,
        bounds.max_runs,
    )
    return speaker.sentence(text, schedule.zone)


def fire_note(schedule: Schedule, instant: datetime, language: Language = "en") -> str | None:
    """Say how a gap or an overlap touched a fire of the schedule, or None if none did.

    `instant` is a fire in UTC. Raises ValueError for another language.
    """
    speaker = _speaker(language)
    second = (instant - EPOCH) // _SECOND
    stretch = zone_stretches(schedule.zone).at(second)
    if isinstance(schedule, CronSchedule) and second == stretch.start:
        for rule in schedule.calendar.rules:
            skipped = None if rule.expression.is_interval else named_in_gap(rule, stretch)
            if skipped is not None:
                return speaker.moved(_clock(skipped), _clock(second + stretch.offset))
    wall = second + stretch.offset
    following = zone_stretches(schedule.zone).at(stretch.end)
    is_second = wall < stretch.reached
    if not is_second and not following.start + following.offset <= wall < following.reached:
        return None
    if isinstance(schedule, CronSchedule) and not is_second and not _comes_again(schedule, wall):
        return speaker.first_only(_clock(wall))
    return speaker.one_of_two(_clock(wall), second=is_second)


def _comes_again(schedule: CronSchedule, wall: int) -> bool:
    return any(
        rule.expression.is_interval and rule.next_match(wall) == wall
        for rule in schedule.calendar.rules
    )


def _speaker(language: str) -> English | Chinese:
    if language not in LANGUAGES:
        raise ValueError("the languages are en and zh")
    return LANGUAGES[language]


def local_text(instant: datetime, zone: str) -> str:
    """Say an instant as the wall clock of a zone shows it, no finer than needed."""
    wall = instant.astimezone(load_zone(zone)).replace(tzinfo=None)
    exact = "milliseconds" if wall.microsecond else "seconds" if wall.second else "minutes"
    return wall.isoformat(" ", exact)


def _clock(wall: int) -> str:
    minute = wall % DAY // 60
    return f"{minute // 60:02}:{minute % 60:02}"


def _spans(exclude: Exclusions) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    written = exclude.to_dict()
    dates = [text.partition("/") for text in written.get("dates", [])]
    times = [text.partition("-") for text in written.get("times", [])]
    return [(a, b or a) for a, _, b in dates], [(a, b) for a, _, b in times]
