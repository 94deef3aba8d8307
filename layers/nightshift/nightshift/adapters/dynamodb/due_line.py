"""The line of due tasks on DynamoDB: entries of the sparse index, and the rows behind them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from heapq import merge
from itertools import chain, islice

from nightshift.adapters.dynamodb import keys, task_rows
from nightshift.adapters.dynamodb.operations import Raw
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.errors import CorruptRecord
from nightshift.domain.exchanged import CorruptTask, DueHint, DueLine, TaskRef
from nightshift.domain.model import crowd
from nightshift.domain.model.task import Payload, Task

FIRST_PAGE = 100
"""Index entries read of each bucket before anything is decided."""


def line_of(table: Table, now: datetime, *, shards: int) -> DueLine:
    """The line of who is due, priority by priority, merged over the shards."""
    until = keys.due_until(now)
    first: list[DueHint] = []
    line: list[Iterator[DueHint]] = []
    for priority in keys.PRIORITIES:
        bucket = []
        for shard in range(shards):
            entries = table.query_due(keys.due_bucket(priority, shard), until, FIRST_PAGE)
            hints = map(partial(_hint, priority=priority), entries)
            beginning = list(islice(hints, FIRST_PAGE))
            first += beginning
            bucket.append(chain(beginning, hints))
        line.append(merge(*bucket, key=lambda hint: hint.place))
    return DueLine(first, chain.from_iterable(line))


def crowd_of(
    table: Table, since: datetime, minutes: int, *, besides: str, limit: int, shards: int
) -> Sequence[int]:
    """How many tasks are due in each minute, as far as a count of every bucket reaches."""
    first, last = keys.due_from(since), keys.due_from(since + minutes * crowd.MINUTE)
    buckets = []
    for priority in keys.PRIORITIES:
        for shard in range(shards):
            bucket = keys.due_bucket(priority, shard)
            entries = table.query_due_between(bucket, first, last, limit + 1)
            hints = map(partial(_hint, priority=priority), islice(entries, limit + 1))
            buckets.append(
                [(hint.due_at, not hint.wakes and hint.ref.task_id != besides) for hint in hints]
            )
    return crowd.crowd_of(buckets, since, minutes, limit=limit)


def rows_of(
    table: Table, refs: Sequence[TaskRef]
) -> Mapping[TaskRef, tuple[Task, Payload | None] | CorruptTask]:
    """Tasks in one batch, their payloads in a second."""
    rows = table.get_many([keys.task(ref.user_id, ref.task_id) for ref in refs])
    found: dict[TaskRef, tuple[Task, Payload | None] | CorruptTask] = {}
    tasks: dict[TaskRef, Task] = {}
    for ref in refs:
        row = rows.get(keys.task(ref.user_id, ref.task_id))
        if row is None:
            continue
        try:
            tasks[ref] = task_rows.task_from(row)
        except CorruptRecord as error:
            found[ref] = CorruptTask(ref, error.message)
    texts = table.get_many([payload_key(task) for task in tasks.values()])
    for ref, task in tasks.items():
        text = texts.get(payload_key(task))
        try:
            found[ref] = (task, None if text is None else task_rows.payload_from(text))
        except CorruptRecord as error:
            found[ref] = CorruptTask(ref, error.message)
    return found


def payload_key(task: Task) -> keys.Key:
    """Where the current prompt or command of a task lies."""
    return keys.payload(task.user_id, task.id, task.definition.payload_revision)


def _hint(row: Raw, priority: int) -> DueHint:
    due_at, wakes, task_id = keys.parts_of_due_key(row["due_key"]["S"])
    ref = TaskRef(keys.user_of(row["pk"]["S"]), task_id)
    return DueHint(ref, priority, due_at, wakes)
