"""What the worker needs of queue, table and workflow; each docstring is the contract."""

from dataclasses import dataclass
from typing import IO, Protocol

from nightshift_toolkit.worker.message import RunMessage


class RunOver(Exception):
    """The workflow no longer waits for this run: it was cancelled, timed out or has ended."""


class Unavailable(Exception):
    """The other side gave no answer that settles the matter; asking again may."""


@dataclass(frozen=True)
class Delivery:
    """One hand-over of a message; a second hand-over of the same message has another receipt."""

    message_id: str
    receipt: str
    body: str


class Queue(Protocol):
    """The worker queue: at least once, in any order."""

    def check(self) -> None:
        """Return when the queue exists and may be read. Raises `Unavailable`."""
        ...

    def receive(self, limit: int, wait_seconds: float) -> list[Delivery]:
        """Hand over at most `limit` messages, waiting up to `wait_seconds` for the first.

        What is handed over stays hidden from others for the queue's visibility time only.
        Raises `Unavailable`.
        """
        ...

    def delete(self, delivery: Delivery) -> None:
        """Take the message off the queue for good. Raises `Unavailable`."""
        ...

    def hand_back(self, delivery: Delivery) -> None:
        """Show the message to other workers at once. Raises `Unavailable`."""
        ...


class Pickups(Protocol):
    """Who does the work of a run's attempt, decided by one conditional write on the run's row."""

    def check(self) -> None:
        """Return when the table exists and may be written; writes nothing. Raises `Unavailable`."""
        ...

    def win(self, message: RunMessage, claim: str, at: str) -> bool:
        """Return True for exactly one claim per run and attempt, however often that one asks.

        False as well when the run is not running any more, was admitted again under another nonce,
        or is not there. `claim` is unique to the delivery, `at` the UTC time to write down.
        Raises `Unavailable` when it is not known who won; the same claim may ask again.
        """
        ...

    def pause_wanted(self, message: RunMessage) -> bool:
        """Return whether this run is to be paused, as last asked for. Raises `Unavailable`."""
        ...

    def note_pause(
        self, message: RunMessage, paused_at: str | None, paused_seconds: int, *, spent: bool
    ) -> None:
        """Write down since when the run is paused, and how long it was before (seconds).

        `spent` says that no pause is left to it, so that the wish for one goes; otherwise the wish
        is its owner's alone. A run that is over, or at another attempt, stays as it is. Raises
        `Unavailable`.
        """
        ...


class Callbacks(Protocol):
    """The waiting workflow behind a task token."""

    def heartbeat(self, task_token: str) -> None:
        """Tell the workflow that the run is alive. Raises `RunOver` or `Unavailable`."""
        ...

    def report(self, task_token: str, report: str) -> None:
        """Hand in the report, a JSON text, which ends the wait.

        Raises `RunOver` or `Unavailable`.
        """
        ...


class OutputStore(Protocol):
    """Takes whole outputs that are too large for a report."""

    def keep(self, place: str, content: IO[bytes]) -> str:
        """Keep a text under its place, over what was there; returns its address.

        Raises `Unavailable`.
        """
        ...
