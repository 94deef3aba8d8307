"""An oracle for cron in zones that shares nothing with the code under test but zoneinfo.

It walks every minute of UTC, asks zoneinfo what the wall clock shows, and matches the fields as
text. The rules for skipped and repeated wall clock are spelled out minute by minute, with sets.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
NAMES = {
    **{name: n for n, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))},
    **{
        name: n
        for n, name in enumerate(
            ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
        )
    },
}
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * sun",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
Walk = list[tuple[datetime, datetime]]
"""Minutes of UTC with the naive wall clock that they show."""


class Fields:
    """The five fields, each asked value by value."""

    def __init__(self, text: str) -> None:
        text = ALIASES.get(text.strip(), text).lower()
        self.minute, self.hour, self.day, self.month, self.weekday = text.split()
        self.minutes = {minute for minute in range(60) if says(self.minute, minute, 59)}
        self.hours = {hour for hour in range(24) if says(self.hour, hour, 23)}
        self.is_interval = self.hours == set(range(24))
        self._known: dict[datetime, bool] = {}

    def match(self, wall: datetime) -> bool:
        if wall.minute not in self.minutes or wall.hour not in self.hours:
            return False
        midnight = wall.replace(hour=0, minute=0)
        if midnight not in self._known:
            self._known[midnight] = self.match_day(midnight)
        return self._known[midnight]

    def match_day(self, wall: datetime) -> bool:
        if not says(self.month, wall.month, 12, low=1):
            return False
        is_last = (wall + timedelta(days=1)).day == 1
        by_day = says(self.day, wall.day, 31, low=1) or ("l" in self.day.split(",") and is_last)
        weekday = (wall.weekday() + 1) % 7
        nth = (wall.day + 6) // 7
        by_weekday = any(
            item_says(item, weekday, 0, 6)
            or (weekday == 0 and item_says(item, 7, 0, 6))
            or (item.endswith(f"#{nth}") and number(item.partition("#")[0]) % 7 == weekday)
            for item in self.weekday.split(",")
        )
        if self.day[0] == "*" or self.weekday[0] == "*":
            return by_day and by_weekday
        return by_day or by_weekday


def number(text: str) -> int:
    return NAMES[text] if text in NAMES else int(text)


def says(field: str, value: int, high: int, low: int = 0) -> bool:
    return any(item_says(item, value, low, high) for item in field.split(","))


def item_says(item: str, value: int, low: int, high: int) -> bool:
    if item == "l" or "#" in item:
        return False
    span, slash, step_text = item.partition("/")
    step = int(step_text) if slash else 1
    if span == "*":
        first, last = low, high
    elif "-" in span:
        first, last = (number(part) for part in span.split("-"))
    else:
        first = number(span)
        last = high if slash else first
    return first <= value <= last and (value - first) % step == 0


def walk(zone: str, start: datetime, end: datetime) -> Walk:
    """Every minute of UTC in [start, end) with its wall clock."""
    info = ZoneInfo(zone)
    minutes: Walk = []
    moment = start
    while moment < end:
        minutes.append((moment, moment.astimezone(info).replace(tzinfo=None)))
        moment += MINUTE
    return minutes


def fires(text: str, minutes: Walk) -> Iterator[datetime]:
    """The fires in a walk; it must begin two days before the first one that is looked at."""
    fields = Fields(text)
    reached = minutes[0][1]
    for moment, wall in minutes:
        skipped = wall - reached
        if fields.is_interval:
            due = fields.match(wall)
        elif wall <= reached:
            due = False  # the second pass of a repeated wall clock, or the first minute of the walk
        elif MINUTE < skipped <= timedelta(days=1):
            missed = (reached + MINUTE * n for n in range(1, skipped // MINUTE))
            due = fields.match(wall) or any(fields.match(time) for time in missed)
        else:
            due = fields.match(wall)
        reached = max(reached, wall)
        if due:
            yield moment


def next_fires(text: str, zone: str, after: datetime, count: int, days: int = 10) -> list[datetime]:
    """The next fires found by walking at most so many days."""
    start = after.replace(second=0, microsecond=0) - timedelta(days=2)
    found: list[datetime] = []
    for moment in fires(text, walk(zone, start, after + timedelta(days=days))):
        if moment > after:
            found.append(moment)
            if len(found) == count:
                break
    return found


def first_by_days(text: str, zone: str, after: datetime, years: int) -> datetime | None:
    """The next fire found by walking local days, for answers that lie far ahead.

    Each named wall time is placed in UTC by asking zoneinfo for both of its folds. `after` is UTC.
    """
    fields, info = Fields(text), ZoneInfo(zone)
    today = after.astimezone(info).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    for number in range(-2, years * 366):
        day = today + timedelta(days=number)
        # The clock may be turned back over midnight, so a day and the next one are seen together.
        found = [*due_on(day, fields, info), *due_on(day + timedelta(days=1), fields, info)]
        later = [instant for instant in found if instant > after]
        if later:
            return min(later)
    return None


def due_on(day: datetime, fields: Fields, info: ZoneInfo) -> Iterator[datetime]:
    """The instants at which the wall times named on one local day are due."""
    if fields.match_day(day):
        for hour, minute in product(fields.hours, fields.minutes):
            wall = day.replace(hour=hour, minute=minute)
            yield from placed(wall, info, interval=fields.is_interval)


def placed(wall: datetime, info: ZoneInfo, *, interval: bool) -> list[datetime]:
    """The instants at which a named wall time is due."""
    passes = [wall.replace(tzinfo=info, fold=fold).astimezone(UTC) for fold in (0, 1)]
    if passes[0] == passes[1]:
        return passes[:1]
    if passes[0] < passes[1]:
        return passes if interval else passes[:1]
    if interval:
        return []
    # In a gap, fold 1 gives the instant before the change and fold 0 the one after it.
    moment = passes[1].replace(second=0)
    while moment.astimezone(info).replace(tzinfo=None) < wall:
        moment += MINUTE
    return [moment] if passes[0] - passes[1] < timedelta(days=1) else []


def utc(text: str) -> datetime:
    """`2026-03-08T07:00` and the like as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
