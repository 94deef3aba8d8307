"""The thread store on DynamoDB."""

from dataclasses import dataclass

from nightshift.adapters.dynamodb import conditions, keys, task_rows
from nightshift.adapters.dynamodb.items import ThreadItem
from nightshift.adapters.dynamodb.operations import Put
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.exchanged import Thread


@dataclass(frozen=True, slots=True)
class DynamoThreads:
    """See `ThreadStore` for what each method promises."""

    table: Table

    def register(self, thread: Thread) -> Thread:
        """Write the thread if it is new; the first registration stands."""
        item = ThreadItem.at(keys.thread(thread.user_id, thread.id), created_at=thread.created_at)
        refusal = self.table.write(Put(item, conditions.ABSENT))
        if refusal is None or refusal.item is None:
            return thread
        return task_rows.thread_from(refusal.item)

    def get(self, user_id: str, thread_id: str) -> Thread | None:
        """One thread of a user."""
        row = self.table.get(keys.thread(user_id, thread_id))
        return None if row is None else task_rows.thread_from(row)
