"""Every key of the one table, in one place (SPEC section 4).

Payload rows have a sort-key prefix of their own: under `TASK#` they would lie between the tasks,
and a page of a user's task list would read up to 64 KiB for each.
"""

from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from nightshift.domain.model.instants import format_instant, parse_instant

DUE_INDEX = "due"
PRIORITIES = range(9, -1, -1)
"""From the one that goes first to the one that goes last (P14)."""
_INSTANT_WIDTH = len("2000-01-01T00:00:00.000Z")


@dataclass(frozen=True, slots=True)
class Key:
    """The primary key of a row."""

    pk: str
    sk: str


def user(user_id: str) -> str:
    """The partition of all that one user owns."""
    return f"USER#{user_id}"


def user_of(pk: str) -> str:
    """The user whose partition this is."""
    return pk.removeprefix("USER#")


TASK = "TASK#"
RUN = "RUN#"
CHANGE = "CHANGE#"
USED_KEY = "IDEMPOTENCY#"


def task(user_id: str, task_id: str) -> Key:
    """A task row."""
    return Key(user(user_id), f"{TASK}{task_id}")


def task_of(sk: str) -> str:
    """The task whose row this is."""
    return sk.removeprefix(TASK)


def payload(user_id: str, task_id: str, revision: int) -> Key:
    """The prompt or command of one revision of a task."""
    return Key(user(user_id), f"{payloads(task_id)}{revision}")


def payloads(task_id: str) -> str:
    """How the sort keys of a task's payloads begin."""
    return f"PAYLOAD#{task_id}#"


def thread(user_id: str, thread_id: str) -> Key:
    """A thread that exists and is this user's."""
    return Key(user(user_id), f"THREAD#{thread_id}")


def quota(user_id: str) -> Key:
    """The number of tasks a user has."""
    return Key(user(user_id), "QUOTA")


def used_key(user_id: str, name: str) -> Key:
    """A use of one of a user's idempotency keys."""
    return Key(user(user_id), f"{USED_KEY}{name}")


def history(task_id: str) -> str:
    """The partition of a task's runs and of its change log."""
    return f"TASK#{task_id}"


def run(task_id: str, run_id: str) -> Key:
    """The record of a run; sorts by time."""
    return Key(history(task_id), f"{RUN}{run_id}")


def change(task_id: str, revision: int) -> Key:
    """The entry of the change log that led to this revision; sorts by revision."""
    return Key(history(task_id), f"{CHANGE}{revision:012d}")


def active(shard: int) -> str:
    """The partition of one shard of the slots."""
    return f"ACTIVE#{shard}"


def slot(task_id: str, shard: int) -> Key:
    """The key that means: this task has an active run (P13)."""
    return Key(active(shard), task_id)


def seat(number: int) -> Key:
    """One numbered place of the global budget (P14)."""
    return Key(f"SEAT#{number}", "SEAT")


def user_seat(user_id: str, number: int) -> Key:
    """One numbered place of what one user may have of it."""
    return Key(f"USERSEAT#{user_id}#{number}", "SEAT")


def thread_lock(user_id: str, thread_id: str) -> Key:
    """The key that means: a run is active in this thread."""
    return Key(f"THREADLOCK#{user_id}#{thread_id}", "LOCK")


OUTBOX_PARTS = 4
"""Over how many partitions notices are spread; a larger number may be deployed at any time."""


def outbox_part(part: int) -> str:
    """One partition of the notices that are on their way."""
    return f"OUTBOX#{part}"


def outbox(due_at: datetime, notice_id: str) -> Key:
    """A notice on its way; sorts by the time of its next try."""
    part = crc32(notice_id.encode()) % OUTBOX_PARTS
    return Key(outbox_part(part), f"{format_instant(due_at)}#{notice_id}")


def due_at_of(sk: str) -> datetime:
    """When the notice with this sort key is to be tried."""
    return parse_instant(sk[:_INSTANT_WIDTH])


POLICY = Key("CONTROL", "POLICY")
"""The settings that change without a deploy."""


POLICY_CHANGE = "POLICYCHANGE#"
"""What the sort keys of the log of those settings begin with."""


def policy_change(at: datetime, revision: int) -> Key:
    """An entry of that log; its time keeps it apart from those before the row was begun anew."""
    return Key(POLICY.pk, f"{POLICY_CHANGE}{format_instant(at)}#{revision:012d}")


REPLAN = Key("CONTROL", "REPLAN")
"""How far the tasks have been gone through for the zone rules in use."""


def due_bucket(priority: int, shard: int) -> str:
    """The partition of the due index for one priority and shard (K1)."""
    return f"P{priority}#{shard}"


def due_key(due_at: datetime, task_id: str, *, wakes: bool = False) -> str:
    """The place of a task in its bucket: oldest due first, then id (P14).

    The end of a pause has a sign of its own, which sorts before that of an occurrence.
    """
    return f"{format_instant(due_at)}{'!' if wakes else '#'}{task_id}"


def parts_of_due_key(text: str) -> tuple[datetime, bool, str]:
    """When, whether a pause ends then, and which task: what `due_key` was made of."""
    due_at, rest = text[:_INSTANT_WIDTH], text[_INSTANT_WIDTH:]
    return parse_instant(due_at), rest.startswith("!"), rest[1:]


def due_from(since: datetime) -> str:
    """A lower bound of the due keys from `since` on, and an upper bound of those before it."""
    return format_instant(since)


def due_until(now: datetime) -> str:
    """An upper bound of the due keys at `now`: `$` is the character after `#`, and after `!`."""
    return f"{format_instant(now)}$"
