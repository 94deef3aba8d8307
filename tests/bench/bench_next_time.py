"""Next times and folding against their targets: `python tests/bench/bench_next_time.py`.

The comparison with croniter is a ratio measured on the same inputs in one run, in small turns, so
that a busy machine slows both. Exits with 1 if a target is missed.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from time import perf_counter
from typing import Final
from zoneinfo import ZoneInfo

from croniter import croniter  # type: ignore[import-untyped]

from nightshift.domain.model import cron, zones
from nightshift.domain.model.calendar import Calendar
from nightshift.domain.model.cron import parse_cron
from nightshift.domain.model.exclusions import Exclusions, parse_exclusions
from nightshift.domain.model.folding import folded_fires

COMMON: Final = ("0 9 * * *", "*/15 * * * *", "0 9 * * 1-5", "0 * * * *", "30 2 * * *", "0 0 1 * *")
WORST: Final = (
    "0 0 29 2 *",
    "0 0 29 2 1",
    "0 0 * 2 1#5",
    "0 0 */28 2 1",
    "0 0 29 2 1#5",
    "* * */28 2 1",
    "30 2 29 2 *",
    "0 0 L 2 0#5",
)
ZONES: Final = ("UTC", "America/New_York", "Africa/Casablanca")
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
BASES: Final = tuple(datetime(year, 3, 1, tzinfo=UTC) for year in (2026, 2072, 2096))
TURNS: Final = 10
NEXTS: Final = 200
WORST_SECONDS: Final = 0.005
FOLDED_SECONDS: Final = 0.010
EXCLUDED: Final = {
    "dates": [f"{year}-02-29" for year in range(2028, 2400, 4) if year % 100 or year % 400 == 0],
    "times": ["22:00-23:00"],
}


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


def ours_parsed(text: str, zone: str) -> Callable[[], None]:
    """Successive next times, parsed once."""
    found = Calendar((parse_cron(text),), zone)

    def run() -> None:
        after: datetime | None = START
        for _ in range(NEXTS):
            after = found.next_after(after or START)

    return run


def theirs_parsed(text: str, zone: str) -> Callable[[], None]:
    """The same from croniter, which gives local times."""
    start = START.astimezone(ZoneInfo(zone))

    def run() -> None:
        found = croniter(text, start)
        for _ in range(NEXTS):
            found.get_next(datetime)

    return run


def ours_from_text(text: str, zone: str) -> Callable[[], None]:
    """One next time from the text each time; texts that were read before are remembered."""

    def run() -> None:
        for day in range(NEXTS):
            Calendar((parse_cron(text),), zone).next_after(START + timedelta(days=day))

    return run


def theirs_from_text(text: str, zone: str) -> Callable[[], None]:
    """The same from croniter."""
    info = ZoneInfo(zone)

    def run() -> None:
        for day in range(NEXTS):
            croniter(text, (START + timedelta(days=day)).astimezone(info)).get_next(datetime)

    return run


def compare(
    name: str,
    ours: Callable[[str, str], Callable[[], None]],
    theirs: Callable[[str, str], Callable[[], None]],
) -> bool:
    """Print the ratio for every common expression; whether none is slower than croniter."""
    good = True
    for text in COMMON:
        mine, other = 0.0, 0.0
        for zone in ZONES:
            run_mine, run_other = ours(text, zone), theirs(text, zone)
            run_mine(), run_other()
            for _ in range(TURNS):
                mine += timed(run_mine)
                other += timed(run_other)
        asked = TURNS * NEXTS * len(ZONES)
        print(
            f"{name:12} {text:14} {asked / mine:9,.0f}/s  croniter {asked / other:9,.0f}/s"
            f"  ratio {other / mine:5.2f}"
        )
        good = good and mine <= other
    return good


def worst_answer() -> bool:
    """Print the slowest single answer of the rare dates; whether it is in time."""
    slowest = (0.0, "", "", "")
    for label, written in (("", {}), ("excluding", EXCLUDED)):
        exclude = parse_exclusions(written)
        for text, zone, base in product(WORST, ZONES, BASES):
            seconds = min(first_answer(text, zone, base, exclude) for _ in range(3))
            slowest = max(slowest, (seconds, text, zone, label))
    seconds, *what = slowest
    print(f"worst answer {seconds * 1000:.2f} ms: {' '.join(what)}")
    return seconds < WORST_SECONDS


def first_answer(text: str, zone: str, base: datetime, exclude: Exclusions) -> float:
    """Seconds of the first answer of a fresh process: nothing is known of zone or expression."""
    zones._stretches.cache_clear()
    cron._parsed.cache_clear()
    return timed(lambda: Calendar((parse_cron(text),), zone, exclude).next_after(base))


def folding() -> bool:
    """Print how long 100,000 folded occurrences take to count; whether it is in time."""
    good = True
    for texts, days in (
        (("* * * * *",), 70),
        (("*/5 * * * *",), 348),
        (("0 * * * *",), 4167),
        (("*/15 8-17 * * 1-5", "*/20 * * * *"), 1250),
    ):
        found = Calendar(tuple(map(parse_cron, texts)), "America/New_York")
        count_all = partial(folded_fires, found, START, START + timedelta(days=days))
        seconds, count = timed(count_all), count_all().count
        print(f"folded {count:9,} of {' + '.join(texts):34} in {seconds * 1000:.2f} ms")
        good = good and seconds < FOLDED_SECONDS and count >= 100_000
    return good


def main() -> int:
    """Run all and say what was missed."""
    results = {
        "as fast as croniter, parsed once": compare("parsed once", ours_parsed, theirs_parsed),
        "as fast as croniter, from text": compare("from text", ours_from_text, theirs_from_text),
        f"worst answer under {WORST_SECONDS * 1000:.0f} ms": worst_answer(),
        f"100,000 folded under {FOLDED_SECONDS * 1000:.0f} ms": folding(),
    }
    for target, met in results.items():
        print(f"{'met   ' if met else 'MISSED'} {target}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
