"""A long life of many tasks is, in every row, what the specification says it should have been.

Ticks are lost, late, doubled and out of step by two minutes; the table and Step Functions fail for
minutes and days; signals are lost, doubled and reordered; owners change their minds.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from proof import is_full
from simulation.life import Life
from simulation.owners import Owners

Record = Callable[[str, object], None]

SHORT = [
    (1, datetime(2026, 2, 26, tzinfo=UTC)),  # clocks go forward in North America
    (2, datetime(2026, 3, 20, tzinfo=UTC)),  # in Europe, and back in the south
    (3, datetime(2026, 10, 20, tzinfo=UTC)),  # back in Europe and North America
    (4, datetime(2028, 2, 22, tzinfo=UTC)),  # a leap day
]
WEEKS = 14
LONG = [(seed, datetime(2026, 1, 1, tzinfo=UTC)) for seed in (11, 12)]
YEAR = 366


def lived(seed: int, begin: datetime, days: int, tasks: int, record_property: Record) -> Life:
    """A life that was lived to its end; each task is asked for something about once a day."""
    life = Life(seed, begin, days, seats=max(2, tasks // 15))
    Owners(life, tasks, requests_a_day=tasks)
    life.live()
    record_property("simulated days", days)
    record_property("ticks", life.counts.ticks)
    record_property("runs", sum(life.judge.ends.values()))
    return life


@pytest.mark.parametrize(("seed", "begin"), SHORT)
def test_weeks_of_many_tasks_are_as_they_should_have_been(
    seed: int, begin: datetime, record_property: Record
) -> None:
    """SPEC sections 2 to 6: records, times, states and counters, after everything that happens."""
    life = lived(seed, begin, WEEKS, 60, record_property)
    assert set(life.judge.ends) == {"success", "failed", "interrupted", "skipped"}
    attempts, runs = life.executions.workers.counts["attempts"], len(life.executions.made)
    assert attempts > runs
    assert life.executions.workers.counts["pauses"] > 0
    assert life.judge.woken > 10
    assert {"starts", "rests", "skips", "waits"} <= life.explained.decisions.keys()
    assert life.judge.given_up > 0
    assert life.judge.handed > 0


@pytest.mark.skipif(not is_full(), reason="a year takes minutes")
@pytest.mark.parametrize(("seed", "begin"), LONG)
def test_a_year_of_hundreds_of_tasks_is_as_it_should_have_been(
    seed: int, begin: datetime, record_property: Record
) -> None:
    """The same at full length: every clock change of a year, and every kind of storm."""
    life = lived(seed, begin, YEAR, 300, record_property)
    assert life.counts.events["run_completed"] > 10_000
    assert life.counts.events["run_verified"] > 100
