"""The sweep on DynamoDB: its place in one row, and the due index as the list of planned tasks.

The index holds exactly the tasks that the clock will start, keys only, so that going through it
reads no run, no prompt and no task without a time.
"""

from dataclasses import dataclass
from itertools import islice

from nightshift.adapters.dynamodb import conditions, keys, reading, task_rows
from nightshift.adapters.dynamodb.items import SweepItem
from nightshift.adapters.dynamodb.operations import Put, Raw, key_of
from nightshift.adapters.dynamodb.reading import guarded_reader
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.exchanged import Page
from nightshift.domain.model.replanning import Sweep
from nightshift.domain.model.task import Task

_FIRST = " "
"""Sorts before every due key, which begins with a year; DynamoDB takes no empty key."""


@dataclass(frozen=True, slots=True)
class DynamoSweeps:
    """See `SweepStore` for what each method promises."""

    table: Table
    due_shards: int = 1

    def progress(self) -> Sweep | None:
        """One consistent read of one row."""
        row = self.table.get(keys.REPLAN)
        return None if row is None else _sweep_from(row)

    def record(self, seen: Sweep | None, reached: Sweep) -> bool:
        """One conditional write of that row."""
        item = SweepItem.at(
            keys.REPLAN,
            tzdata_version=reached.tzdata_version,
            cursor=reached.cursor,
            found=reached.found,
            done=reached.done,
        )
        return self.table.write(Put(item, conditions.sweep_as_seen(seen))) is None

    def planned(self, *, limit: int, after: str | None = None) -> Page[Task]:
        """One page of one bucket of the index, empty buckets passed over, then the rows."""
        buckets = [
            keys.due_bucket(priority, shard)
            for priority in keys.PRIORITIES
            for shard in range(self.due_shards)
        ]
        bucket, _, due_key = (after or buckets[0]).partition("|")
        for position in range(buckets.index(bucket), len(buckets)):
            rows = self.table.query_planned(buckets[position], due_key or _FIRST, limit)
            entries = list(islice(rows, limit))
            if entries:
                last = f"{buckets[position]}|{entries[-1]['due_key']['S']}"
                following = buckets[position + 1] if position + 1 < len(buckets) else None
                return self._page(entries, last if len(entries) == limit else following)
            due_key = ""
        return Page([])

    def _page(self, entries: list[Raw], following: str | None) -> Page[Task]:
        rows = self.table.get_many([key_of(entry) for entry in entries])
        tasks, corrupt = reading.readable(list(rows.values()), task_rows.task_from)
        return Page(tasks, following, [error.message for error in corrupt])


@guarded_reader
def _sweep_from(row: Raw) -> Sweep:
    item = SweepItem.from_raw_data(dict(row))
    return Sweep(item.tzdata_version, item.cursor, bool(item.found), bool(item.done))
