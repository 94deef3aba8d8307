"""`make bench`: how the scheduler behaves as it grows, as ratios measured in one run.

Writes `.nightshift/bench/report.md` and `chart.svg`. Exits with 1 if a target is missed. With
`NIGHTSHIFT_BENCH_ENDPOINT=http://127.0.0.1:8000` (DynamoDB Local) it also looks at a million
sleeping tasks on that.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import real_engine
from bench.due_at_once import Lane, launched_by_all, made_up_account
from bench.growth import idle_look, peak_of_a_look
from bench.imports import import_seconds
from bench.report import Line, chart, markdown, where_and_when
from nightshift.composition.tick import CLOCK_WORKERS
from nightshift_toolkit.costs import units

FOLDER = Path(".nightshift/bench")
THREADS = (1, 4, 16, 64)
LEAST_RATE, LONGEST_IMPORT, LARGEST_PEAK = 0.6, 1.25, 1.25
STARTS_A_SECOND = 250


def main() -> int:
    """Measure all, print and write it."""
    asked = argparse.ArgumentParser(prog="make bench")
    asked.add_argument("--tasks", type=int, default=10_000, help="due at once, and sleeping")
    asked.add_argument("--real-tasks", type=int, default=1000, help="due at once on the engine")
    asked.add_argument("--rounds", type=int, default=7, help="of imports")
    asked.add_argument("--folder", type=Path, default=FOLDER, help="where the report is written")
    chosen = asked.parse_args()
    made_up_account()
    place = where_and_when()
    lines = list(due_at_once(chosen.tasks))
    sweep = {threads: _in_turns(min(40 * threads, chosen.tasks), threads) for threads in THREADS}
    lines += [
        _lane(f"admission and launch, {threads} threads", *pair) for threads, pair in sweep.items()
    ]
    lines += [idle(chosen.tasks), memory(chosen.tasks), *imports(chosen.rounds)]
    lines += real_engine.lines(chosen.real_tasks)
    text = f"{markdown(lines)}\n\n{paths()}\n\n{place}\n"
    folder: Path = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(text)
    rates = [{threads: pair[lane].rate for threads, pair in sweep.items()} for lane in (0, 1)]
    (folder / "chart.svg").write_text(chart(*rates))
    print(text)
    return int(any(line.met is False for line in lines))


def _in_turns(tasks: int, threads: int) -> tuple[Lane, Lane]:
    """Both ways in five turns, so that a busy moment of the machine meets both."""
    return launched_by_all(tasks, threads, seats=max(1, tasks // 5))


def paths() -> str:
    """What each path takes, as the tests of the paths measure it."""
    rows = ["| path | calls | read units | write units |", "|---|---|---:|---:|"]
    for name, path in vars(units).items():
        if isinstance(path, units.Path):
            calls = ", ".join(f"{number} {call}" for call, number in path.calls.items())
            label = name.replace("_", " ").lower()
            rows.append(f"| {label} | {calls} | {path.reads:g} | {path.writes:g} |")
    return "\n".join(rows)


def _lane(name: str, ours: Lane, bare: Lane) -> Line:
    return Line(name, f"{ours.rate:.0f}/s", f"{bare.rate:.0f}/s", ours.rate / bare.rate)


def due_at_once(tasks: int) -> Iterator[Line]:
    """All launched, beside the bare calls; and what that says of a whole processor."""
    ours, bare = launched_by_all(tasks, CLOCK_WORKERS)
    ratio = ours.rate / bare.rate
    yield Line(
        f"{tasks:,} due at once, {CLOCK_WORKERS} threads",
        f"{ours.rate:.0f} starts/s",
        f"bare calls {bare.rate:.0f}/s",
        ratio,
        f"at least {LEAST_RATE}",
        ratio >= LEAST_RATE,
    )
    mine, theirs = ours.processor_milliseconds, bare.processor_milliseconds
    possible = 1000 / mine
    yield Line(
        "processor time of a start",
        f"{mine:.2f} ms: {possible:.0f} starts/s on a whole processor",
        f"bare calls {theirs:.2f} ms",
        theirs / mine,
        f"{STARTS_A_SECOND} starts/s",
        possible >= STARTS_A_SECOND,
    )


def idle(tasks: int) -> Line:
    """A look that finds nothing to do."""
    few, many = idle_look(10), idle_look(tasks)
    calls = f"{many.calls.total()} calls, {many.scanned} rows scanned"
    beside = f"10: {few.calls.total()} calls, {few.scanned} rows"
    return Line(f"idle look, {tasks:,} sleeping", calls, beside, None, "the same", many == few)


def memory(tasks: int) -> Line:
    """The most that a look holds at once."""
    few, many = peak_of_a_look(100, 100), peak_of_a_look(tasks, min(tasks, 1000))
    name = f"memory of a look, {tasks:,} due"
    measured, beside = f"{many / 2**20:.1f} MiB", f"100 due: {few / 2**20:.1f} MiB"
    target = f"at most {LARGEST_PEAK}"
    return Line(name, measured, beside, many / few, target, many / few <= LARGEST_PEAK)


def imports(rounds: int) -> Iterator[Line]:
    """The cold import of each function."""
    seconds = import_seconds(rounds)
    bare = seconds.pop("bare")
    for name, took in seconds.items():
        yield Line(
            f"cold import of `{name}`",
            f"{1000 * took:.0f} ms",
            f"boto3, pydantic, pynamodb {1000 * bare:.0f} ms",
            took / bare,
            f"at most {LONGEST_IMPORT}",
            took / bare <= LONGEST_IMPORT,
        )


if __name__ == "__main__":
    sys.exit(main())
