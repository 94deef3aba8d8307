"""A snapshot of a table in DynamoDB: every row, and every entry of the due index."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from nightshift.adapters.dynamodb import keys, outbox, reading, run_rows, task_rows
from nightshift.adapters.dynamodb.operations import Raw, key_of
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.exchanged import TaskRef
from nightshift_toolkit.audit.snapshot import DueEntry, Holder, Snapshot

Value = TypeVar("Value")

Rows = Mapping[str, Sequence[Raw]]
"""The rows by what they are."""

_BY_PARTITION = {
    "ACTIVE": "slot",
    "SEAT": "seat",
    "USERSEAT": "user_seat",
    "THREADLOCK": "thread_lock",
    "OUTBOX": "notice",
}
_BY_SORT_KEY = {
    "TASK": "task",
    "PAYLOAD": "payload",
    "QUOTA": "quota",
    "RUN": "run",
    "CHANGE": "change",
}


def snapshot_of_table(
    table: Table,
    *,
    executions: Mapping[str, str | None] | None = None,
    now: datetime | None = None,
) -> Snapshot:
    """Everything in the table, page by page; rows that move meanwhile may look broken.

    Args:
        table: the table to read; every row of it is read, consistently.
        executions: what Step Functions says, by run id; see `Snapshot`.
        now: the present instant (UTC), without which nothing is too old.
    """
    snapshot = snapshot_without_index(table, executions=executions, now=now)
    return replace(snapshot, index=_entries(scan(table, IndexName=keys.DUE_INDEX)))


def snapshot_without_index(
    table: Table,
    *,
    executions: Mapping[str, str | None] | None = None,
    now: datetime | None = None,
) -> Snapshot:
    """The same without the due index, which may lag behind while somebody is at work."""
    rows = scan(table, ConsistentRead=True)
    return snapshot_of_rows(rows, executions=executions, now=now)


def scan(table: Table, **options: Any) -> list[Raw]:
    """Every row of the table or of one of its indexes."""
    pages = table.client.get_paginator("scan").paginate(TableName=table.name, **options)
    return [row for page in pages for row in page["Items"]]


def snapshot_of_rows(
    rows: Iterable[Raw],
    *,
    executions: Mapping[str, str | None] | None = None,
    now: datetime | None = None,
) -> Snapshot:
    """A snapshot of raw rows, without the due index; rows of other kinds are passed over."""
    kinds = _sorted_out(rows)
    unreadable: list[str] = []
    return Snapshot(
        tasks=_read(kinds["task"], task_rows.task_from, unreadable),
        runs=_read(kinds["run"], run_rows.run_from, unreadable),
        slots=_read(kinds["slot"], run_rows.slot_from, unreadable),
        seats={int(_parts(row)[1]): _holder(row) for row in kinds["seat"]},
        user_seats={_user_and_last(row, int): _holder(row) for row in kinds["user_seat"]},
        thread_locks={_user_and_last(row, str): _holder(row) for row in kinds["thread_lock"]},
        payloads=frozenset(_payload(row) for row in kinds["payload"]),
        due=_entries(row for row in kinds["task"] if "due_key" in row or "due_bucket" in row),
        expiries={_run_id(row): _expiry(row) for row in kinds["run"] if "expires_at" in row},
        quotas={keys.user_of(key_of(row).pk): int(row["tasks"]["N"]) for row in kinds["quota"]},
        logs=_logs(kinds["change"]),
        unexpiring=Counter(_task_of(row) for row in kinds["change"] if "expires_at" not in row),
        outbox=_read(kinds["notice"], outbox.outgoing_from, unreadable),
        executions=executions or {},
        unreadable=unreadable,
        now=now,
    )


def _sorted_out(rows: Iterable[Raw]) -> Rows:
    kinds: dict[str, list[Raw]] = defaultdict(list)
    for row in rows:
        key = key_of(row)
        partition, sort = key.pk.partition("#")[0], key.sk.partition("#")[0]
        kinds[_BY_PARTITION.get(partition) or _BY_SORT_KEY.get(sort, "other")].append(row)
    return kinds


def _read(
    rows: Sequence[Raw], read: Callable[[Raw], Value], unreadable: list[str]
) -> Sequence[Value]:
    values, corrupt = reading.readable(rows, read)
    unreadable += [error.message for error in corrupt]
    return values


def _entries(rows: Iterable[Raw]) -> Mapping[TaskRef, DueEntry]:
    return {
        TaskRef(keys.user_of(key_of(row).pk), keys.task_of(key_of(row).sk)): DueEntry(
            row.get("due_bucket", {}).get("S", ""), row.get("due_key", {}).get("S", "")
        )
        for row in rows
    }


def _holder(row: Raw) -> Holder:
    return Holder(row["run_id"]["S"], row["nonce"]["S"])


def _parts(row: Raw) -> list[str]:
    return key_of(row).pk.split("#")


def _user_and_last(row: Raw, read: Callable[[str], Value]) -> tuple[str, Value]:
    """The user and the number or thread of a key such as `USERSEAT#<user>#<n>`."""
    _, _, rest = key_of(row).pk.partition("#")
    user_id, _, last = rest.rpartition("#")
    return user_id, read(last)


def _payload(row: Raw) -> tuple[TaskRef, int]:
    key = key_of(row)
    _, task_id, revision = key.sk.split("#")
    return TaskRef(keys.user_of(key.pk), task_id), int(revision)


def _logs(rows: Iterable[Raw]) -> Mapping[str, Sequence[int]]:
    logs: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        logs[_task_of(row)].append(int(key_of(row).sk.removeprefix(keys.CHANGE)))
    return logs


def _task_of(row: Raw) -> str:
    """The task in whose history a row is."""
    return key_of(row).pk.removeprefix(keys.history(""))


def _run_id(row: Raw) -> str:
    return key_of(row).sk.removeprefix(keys.RUN)


def _expiry(row: Raw) -> int:
    return int(row["expires_at"]["N"])
