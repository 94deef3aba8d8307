"""What runs cost, and what a month costs in which nothing runs: units times prices."""

from collections.abc import Sequence
from dataclasses import dataclass

from nightshift_toolkit.costs import prices, units
from nightshift_toolkit.costs.prices import Price

TICKS_OF_A_MONTH = 30 * 24 * 60
SECONDS_OF_A_MONTH = TICKS_OF_A_MONTH * 60
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a bill."""

    what: str
    price: Price
    number: float

    @property
    def dollars(self) -> float:
        """What it comes to."""
        return self.number * self.price.dollars


def bill_of_runs(runs: int, minutes: float = 1.0) -> Sequence[Entry]:
    """What so many runs cost which the clock starts and which succeed at once.

    Args:
        runs: how many.
        minutes: how long each of them works.
    """
    beats = minutes * 60 / units.HEARTBEAT_SECONDS
    path = units.BATCHED_READS + units.ADMISSION + units.START + units.END_OF_RUN
    path += units.FENCE + units.PICKUP
    seconds = units.START_GB_SECONDS + units.END_GB_SECONDS
    return [
        Entry("the workflow", prices.TRANSITION, runs * len(units.STATES_OF_A_SUCCESS)),
        Entry("admission, fence, pickup, end", prices.WRITE, runs * path.writes),
        Entry("reading tasks and runs", prices.READ, runs * path.reads),
        Entry("heartbeats", prices.READ, runs * beats * units.HEARTBEAT.reads),
        Entry("completions", prices.INVOCATION, runs),
        Entry("tick and completion", prices.GB_SECOND, runs * seconds),
        Entry("messages", prices.QUEUE_REQUEST, runs * units.QUEUE_REQUESTS_OF_A_RUN),
        Entry("lines and metrics", prices.LOG_GB, runs * units.LOGGED_BYTES_OF_A_RUN / _GB),
    ]


def bill_of_an_idle_month(*, alarms: int, metrics: int, workers: int = 1) -> Sequence[Entry]:
    """What 30 days cost in which nothing is due.

    Args:
        alarms: how many the stack has.
        metrics: how many names and services the functions send.
        workers: how many poll the queue.
    """
    look = units.IDLE_LOOK + units.FINISHED_SWEEP
    polls = workers * SECONDS_OF_A_MONTH / units.LONG_POLL_SECONDS
    return [
        Entry("looks", prices.READ, TICKS_OF_A_MONTH * look.reads),
        Entry("ticks", prices.INVOCATION, TICKS_OF_A_MONTH),
        Entry("ticks", prices.GB_SECOND, TICKS_OF_A_MONTH * units.TICK_GB_SECONDS),
        Entry("workers that wait", prices.QUEUE_REQUEST, polls),
        Entry("ticks", prices.LOG_GB, TICKS_OF_A_MONTH * units.LOGGED_BYTES_OF_A_TICK / _GB),
        Entry("metrics", prices.METRIC, metrics),
        Entry("alarms", prices.ALARM, alarms),
        Entry("dashboard", prices.DASHBOARD, 1),
    ]


def bill_of_requests(triggers: int) -> Sequence[Entry]:
    """What it costs to trigger so many runs by hand, besides what the runs themselves do."""
    return [
        Entry("requests", prices.API_REQUEST, triggers),
        Entry("requests", prices.INVOCATION, triggers),
        Entry("requests", prices.GB_SECOND, triggers * units.REQUEST_GB_SECONDS),
    ]


def total(bill: Sequence[Entry]) -> float:
    """The sum in dollars."""
    return sum(entry.dollars for entry in bill)


def as_table(title: str, bill: Sequence[Entry]) -> str:
    """A bill as a Markdown table."""
    rows = [
        f"| {entry.price.service} | {entry.what} | {_number(entry.number)} {entry.price.units}"
        f" | {entry.dollars:,.2f} |"
        for entry in bill
    ]
    head = [f"| {title} | for | units | US$ |", "|---|---|---:|---:|"]
    return "\n".join([*head, *rows, f"| **together** | | | **{total(bill):,.2f}** |"])


def _number(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}"


def unseen() -> Sequence[str]:
    """The prices that were written down from memory; look them up before you rely on them."""
    listed = [value for value in vars(prices).values() if isinstance(value, Price)]
    return [f"{price.service} ({price.units})" for price in listed if price.seen is None]
