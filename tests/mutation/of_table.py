"""Conditions of the DynamoDB adapter, dropped one at a time, and what its answers are read as.

Left out is what another condition of the same transaction implies, so that dropping it changes
nothing: a deletion's look at its task (whoever edits it writes the same entry of the change log,
whoever admits or ends a run of it changes its active run) and at its slot (the same); the
existence of a row of which an attribute is compared; fresh ids that nobody else can have written.
"""

from typing import Final

from mutation.breaks import CRASH, TABLE_CONTRACT, Break

_FOLDER: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_ANY: Final = "conditions.ABSENT | conditions.EXISTS"


def _at(file: str, name: str, before: str, after: str, *, count: int = 1) -> Break:
    path = f"{_FOLDER}/{file}.py"
    return Break(f"table: {name}", path, before, after, (TABLE_CONTRACT, CRASH), count)


BREAKS: Final = (
    # -- the task as it was seen: its parts, and its uses --
    _at(
        "conditions",
        "a changed task (revision)",
        "        TaskItem.revision == task.revision,\n",
        "",
    ),
    _at(
        "conditions",
        "a changed task (status)",
        "        TaskItem.status == state.status.value,\n",
        "",
    ),
    _at(
        "conditions",
        "an advanced task (next time)",
        "        _is_or_absent(TaskItem.next_run_at, state.next_run_at),\n",
        "",
    ),
    _at(
        "conditions",
        "a task that was blocked meanwhile",
        "        TaskItem.blocked_reason.does_not_exist()\n"
        "        if state.blocked_reason is None\n"
        "        else TaskItem.blocked_reason.exists(),\n",
        "",
    ),
    _at(
        "runs",
        "an admission does not look at its task",
        "    condition = conditions.as_seen(seen)\n",
        f"    condition = {_ANY}\n",
    ),
    _at(
        "runs",
        "a skip does not look at its task",
        "advance = Update(task, actions, conditions.as_seen(seen))",
        f"advance = Update(task, actions, {_ANY})",
    ),
    _at(
        "runs",
        "a skip of a recorded occurrence does not look at its task",
        "task_rows.plan_actions(seen, plan), conditions.as_seen(seen))",
        f"task_rows.plan_actions(seen, plan), {_ANY})",
    ),
    _at(
        "tasks",
        "an edit does not look at its task",
        "task_rows.definition_actions(changed), conditions.as_seen(seen)),",
        f"task_rows.definition_actions(changed), {_ANY}),",
    ),
    _at(
        "tasks",
        "a pause does not look at its task",
        "task_rows.switch_actions(changed), conditions.as_seen(seen))",
        f"task_rows.switch_actions(changed), {_ANY})",
    ),
    _at(
        "tasks",
        "an advance or a back-off does not look at its task",
        "condition = conditions.as_seen(seen)\n        return",
        f"condition = {_ANY}\n        return",
    ),
    _at(
        "tasks",
        "a deletion does not see a run that was admitted meanwhile",
        "conditions.as_seen(seen) & conditions.same_active_run(seen)",
        "conditions.as_seen(seen)",
    ),
    _at(
        "tasks",
        "a block hits an entry that is not the one that was read",
        "condition = conditions.still_due(due_at, ref.task_id)",
        "condition = conditions.EXISTS",
    ),
    _at(
        "tasks",
        "a pause ends of a task that changed meanwhile",
        "return self._update(seen, task_rows.wake_actions(woken))",
        "actions = task_rows.wake_actions(woken)\n"
        "        return self.table.write(Update(_key(seen), actions, conditions.EXISTS)) is None",
    ),
    _at(
        "tasks",
        "whoever is to wake and was put back is taken for due",
        "keys.due_key(until, seen.id, wakes=seen.state.next_run_at is None)",
        "keys.due_key(until, seen.id)",
    ),
    _at(
        "task_rows",
        "the end of a pause is taken for an occurrence",
        "keys.due_key(due_at, task_id, wakes=next_run_at is None)",
        "keys.due_key(due_at, task_id)",
    ),
    _at(
        "conditions",
        "a block recreates a task that is gone",
        "return _all(EXISTS, TaskItem.due_key.is_in(*entries))",
        "return Or(ABSENT, TaskItem.due_key.is_in(*entries))",
    ),
    # -- admission --
    _at(
        "runs",
        "a taken slot is taken again",
        "Put(run_rows.slot_item(slot), conditions.ABSENT)",
        f"Put(run_rows.slot_item(slot), {_ANY})",
    ),
    _at(
        "runs",
        "an occurrence is recorded twice",
        "Put(run_rows.run_item(admission.run), conditions.ABSENT)",
        f"Put(run_rows.run_item(admission.run), {_ANY})",
    ),
    _at(
        "runs",
        "a taken seat is taken again",
        "Put(run_rows.seat_item(slot), conditions.ABSENT)",
        f"Put(run_rows.seat_item(slot), {_ANY})",
    ),
    _at(
        "runs",
        "a taken thread is taken again",
        "operations.append(Put(lock, conditions.ABSENT))",
        f"operations.append(Put(lock, {_ANY}))",
    ),
    _at(
        "runs",
        "the nonce is ignored when a refused admission is read",
        "if holder.nonce == slot.nonce:",
        "if holder.run_id == slot.run_id:",
    ),
    _at(
        "runs",
        "any holder of the slot is taken for oneself",
        "if holder.nonce == slot.nonce:",
        "if True:",
    ),
    _at(
        "runs",
        "the slot is not read first",
        "if held is not None and held.item is not None:",
        "if changed is None and held is not None and held.item is not None:",
    ),
    _at("used_keys", "a used key is used again", "conditions.free_or_over(used.used_at)", _ANY),
    _at(
        "table",
        "a conflict is taken for an answer",
        'any(reason.get("Code") == "ConditionalCheckFailed" for reason in reasons)',
        'any(reason.get("Code") != "None" for reason in reasons)',
    ),
    # -- tombstones --
    _at(
        "runs",
        "a tombstone replaces the record of a run",
        "run_rows.run_item(tombstone, expires_at=expires_at), conditions.ABSENT)",
        f"run_rows.run_item(tombstone, expires_at=expires_at), {_ANY})",
    ),
    # -- leases and cancellations --
    _at(
        "conditions",
        "another run's launch is leased",
        "        SlotItem.run_id == slot.run_id,\n        SlotItem.nonce == slot.nonce,\n",
        "",
    ),
    _at(
        "conditions",
        "a run past the fence is leased",
        "        SlotItem.state == SlotState.QUEUED.value,\n",
        "",
    ),
    _at(
        "conditions",
        "a lease is taken twice",
        "        SlotItem.lease_until == slot.lease_until,\n",
        "",
    ),
    _at(
        "conditions",
        "a launch that is being cancelled is leased",
        "        SlotItem.cancel_requested.does_not_exist(),\n",
        "",
    ),
    _at(
        "runs",
        "a cancellation hits the next run",
        "key, [SlotItem.cancel_requested.set(True)], conditions.slot_held_by(slot.run_id)",
        "key, [SlotItem.cancel_requested.set(True)], conditions.EXISTS",
    ),
    _at(
        "runs",
        "a cancellation recreates a slot that is gone",
        "key, [SlotItem.cancel_requested.set(True)], conditions.slot_held_by(slot.run_id)",
        "key, [SlotItem.cancel_requested.set(True)],"
        " conditions.ABSENT | conditions.slot_held_by(slot.run_id)",
    ),
    # -- completion --
    _at(
        "conditions",
        "a terminal run is ended again",
        "return _all(EXISTS, RunItem.status.is_in(*active))",
        "return EXISTS",
    ),
    _at(
        "conditions",
        "the record of a run that is gone is made anew",
        "return _all(EXISTS, RunItem.status.is_in(*active))",
        "return Or(ABSENT, RunItem.status.is_in(*active))",
    ),
    _at(
        "conditions",
        "a run past the fence is written off as never launched",
        "return _all(EXISTS, RunItem.status == RunStatus.QUEUED.value)",
        "return not_terminal()",
    ),
    _at(
        "completion",
        "the keys of a run past the fence are freed as if it had never been launched",
        'if name == "run" and completion.outcome.unlaunched and _is_running(refusal.item):',
        "if False:",
    ),
    _at(
        "completion",
        "a completion frees the next run's slot",
        "Delete(key, conditions.slot_held_by(run_id))",
        "Delete(key, conditions.EXISTS)",
    ),
    _at(
        "completion",
        "a completion frees the next run's seat",
        "Delete(keys.seat(held.seat), conditions.held_by(run_id))",
        "Delete(keys.seat(held.seat), conditions.EXISTS)",
    ),
    _at(
        "completion",
        "a completion frees the next run's seat of the user's own",
        "Delete(own, conditions.held_by(run_id))",
        "Delete(own, conditions.EXISTS)",
    ),
    _at(
        "runs",
        "a taken seat of the user's own is taken again",
        "Put(own, conditions.ABSENT)",
        "Put(own, None)",
    ),
    _at(
        "completion",
        "a completion frees the next run's thread",
        "Delete(key, conditions.held_by(run_id))",
        "Delete(key, conditions.EXISTS)",
    ),
    _at(
        "completion",
        "a completion speaks to a task that runs something else",
        "_told(completion), conditions.names_run(run_id)",
        "_told(completion), conditions.EXISTS",
    ),
    _at(
        "completion",
        "a completion recreates a task that is gone",
        "_told(completion), conditions.names_run(run_id)",
        "_told(completion), conditions.ABSENT | conditions.names_run(run_id)",
    ),
    _at(
        "completion",
        "a repeated completion takes the payload of the next run",
        "completion.payload_revision is not None and named:",
        "completion.payload_revision is not None:",
    ),
    _at(
        "completion",
        "a refused completion is not sent again with what still applies",
        "            parts = _without(parts, name, refusal.item)\n",
        "            return CompletionAnswer(recorded=False)\n",
    ),
    # -- what owners write --
    _at(
        "tasks",
        "an edit is allowed while a run is dispatched",
        "            keys.slot(seen.id, seen.slot_shard), conditions.not_dispatching()\n",
        f"            keys.slot(seen.id, seen.slot_shard), {_ANY}\n",
    ),
    _at(
        "tasks",
        "an edit cancels a launch that is under way",
        "_cancellation(cancel, conditions.held_past_the_fence(cancel.run_id))",
        "_cancellation(cancel, conditions.slot_held_by(cancel.run_id))",
    ),
    _at(
        "tasks",
        "a pause cancels whatever run there is",
        "_cancellation(cancel, conditions.slot_held_by(cancel.run_id))",
        f"_cancellation(cancel, {_ANY})",
    ),
    _at(
        "tasks",
        "a deletion takes the payload of a launch under way",
        "settled = not _is_queued(slot)",
        "settled = True",
    ),
    _at(
        "tasks",
        "the quota is not held",
        "conditions.below(max_tasks),",
        f"{_ANY},",
    ),
    _at(
        "tasks",
        "a thread of another user can be reused",
        "Check(keys.thread(task.user_id, thread_id), conditions.EXISTS)",
        f"Check(keys.thread(task.user_id, thread_id), {_ANY})",
    ),
    _at(
        "threads",
        "a thread is registered anew",
        "Put(item, conditions.ABSENT)",
        f"Put(item, {_ANY})",
    ),
    _at(
        "policy",
        "an operator's change undoes one that it did not see",
        "Put(_item(keys.POLICY, override), before),\n"
        "            Put(_item(logged, override), conditions.ABSENT),",
        f"Put(_item(keys.POLICY, override), {_ANY}),\n"
        f"            Put(_item(logged, override), {_ANY}),",
    ),
    _at(
        "sweeps",
        "a slower tick takes the sweep back",
        "Put(item, conditions.sweep_as_seen(seen))",
        f"Put(item, {_ANY})",
    ),
    _at(
        "runs",
        "history is pruned with its active run",
        '            if not RunStatus(row["status"]["S"]).active\n        ]\n        self.table',
        "        ]\n        self.table",
    ),
)
