"""Repairs of tasks and what goes with them. Each is one conditional write, as in the other file."""

from dataclasses import dataclass, replace
from datetime import datetime

from pynamodb.expressions.condition import Condition, Or
from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import change_rows, conditions, keys, task_rows
from nightshift.adapters.dynamodb.items import QuotaItem, SlotItem, TaskItem
from nightshift.adapters.dynamodb.operations import Check, Delete, Operation, Put, Update
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import Outcome, RunStatus, TaskStatus
from nightshift.domain.model.status import status_after_completion
from nightshift.domain.model.task import Plan, Task
from nightshift_toolkit.audit.snapshot import Snapshot
from nightshift_toolkit.audit.tasks_stored import pause_end


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRepairs:
    """What can be put right about tasks. Each method says what it did, or None if nothing."""

    table: Table
    snapshot: Snapshot
    now: datetime

    def plan(self, task_id: str) -> str | None:
        """Give a task its next time, or take away one that it must not have; index keys follow."""
        task = self.snapshot.task_of[task_id]
        plan = self._right_plan(task)
        actions = task_rows.plan_actions(task, plan)
        done = self._write(Update(_key(task), actions, conditions.as_seen(task)))
        return f"set its next time to {plan.next_run_at}, and its index keys" if done else None

    def _right_plan(self, task: Task) -> Plan:
        state = task.state
        plan = task_rows.plan_of(task)
        end = pause_end(task)
        if end is not None:
            right = end if state.due_at is None else max(end, state.due_at)
            return _due(replace(plan, next_run_at=None), right)
        if state.status is not TaskStatus.ENABLED:
            return Plan(status=state.status, next_run_at=None, due_at=None, tzdata_version=None)
        if state.blocked_reason is not None:
            return _due(plan, None)
        if state.next_run_at is None:
            return task.plan(state.status, self.now)
        if state.due_at is None or state.due_at < state.next_run_at:
            return _due(plan, state.next_run_at)
        return plan

    def name_active_run(self, task_id: str) -> str | None:
        """Let a task name the run that holds its slot, or none."""
        task = self.snapshot.task_of[task_id]
        slot = self.snapshot.slot_of.get(task_id)
        seen = conditions.EXISTS & conditions.same_active_run(task)
        key = keys.slot(task_id, task.slot_shard)
        if slot is None:
            held: Condition = conditions.ABSENT
            action: Action = TaskItem.active_run_id.remove()
        else:
            held = conditions.slot_held_by(slot.run_id)
            action = TaskItem.active_run_id.set(slot.run_id)
        done = self._write(Update(_key(task), [action], seen), Check(key, held))
        return f"named {slot.run_id if slot else 'no run'} as its active run" if done else None

    def follow_run(self, task_id: str) -> str | None:
        """Give a `once` task the status that its run has given it."""
        task = self.snapshot.task_of[task_id]
        slot = self.snapshot.slot_of.get(task_id)
        key = keys.slot(task_id, task.slot_shard)
        if slot is not None:
            status, held = TaskStatus.RUNNING, conditions.slot_held_by(slot.run_id)
        else:
            ended = self._status_after_its_run(task)
            if ended is None:
                return None
            status, held = ended, conditions.ABSENT
        plan = Plan(status=status, next_run_at=None, due_at=None, tzdata_version=None)
        update = Update(_key(task), task_rows.plan_actions(task, plan), conditions.as_seen(task))
        return f"called it {status}" if self._write(update, Check(key, held)) else None

    def _status_after_its_run(self, task: Task) -> TaskStatus | None:
        ended = [
            run
            for run in self.snapshot.history_of.get(task.id, ())
            if run.consumes_once and not run.status.active
        ]
        if not ended or task.recurring or ended[-1].status is RunStatus.SKIPPED:
            return None
        return status_after_completion(Outcome(ended[-1].status.value), once=True)

    def drop_payload(self, task_id: str) -> str | None:
        """Remove prompts and commands of a task that nobody needs."""
        dropped = 0
        for ref, revision in sorted(self.snapshot.payloads, key=lambda entry: entry[1]):
            if ref.task_id == task_id and self._is_orphan(ref, revision):
                dropped += self._drop(ref, revision)
        return f"removed {dropped} payloads that nobody needs" if dropped else None

    def _is_orphan(self, ref: TaskRef, revision: int) -> bool:
        task = self.snapshot.task_of.get(ref.task_id)
        slot = self.snapshot.slot_of.get(ref.task_id)
        current = task is not None and task.definition.payload_revision == revision
        return not current and (slot is None or slot.payload_revision != revision)

    def _drop(self, ref: TaskRef, revision: int) -> bool:
        task = self.snapshot.task_of.get(ref.task_id)
        another = Or(conditions.ABSENT, TaskItem.payload_revision != revision)
        operations: list[Operation] = [
            Delete(keys.payload(ref.user_id, ref.task_id, revision)),
            Check(keys.task(ref.user_id, ref.task_id), another),
        ]
        if task is not None:
            unused = Or(conditions.ABSENT, SlotItem.payload_revision != revision)
            operations.append(Check(keys.slot(task.id, task.slot_shard), unused))
        return self._write(*operations)

    def count(self, user_id: str) -> str | None:
        """Count a user's tasks anew; given up if the count moves meanwhile."""
        key = keys.quota(user_id)
        before = self.table.get(key)
        rows = self.table.query(keys.user(user_id), begins_with=keys.TASK, attributes=("sk",))
        tasks = sum(1 for _ in rows)
        if before is None:
            done = self._write(Put(QuotaItem.at(key, tasks=tasks), conditions.ABSENT))
        else:
            unmoved = QuotaItem.tasks == int(before["tasks"]["N"])
            done = self._write(Update(key, [QuotaItem.tasks.set(tasks)], unmoved))
        return f"counted {tasks} tasks" if done else None

    def let_log_expire(self, task_id: str) -> str | None:
        """Let the change log of a task that is gone expire, as if it had been deleted now."""
        dated = 0
        for row in list(self.table.query(keys.history(task_id), begins_with=keys.CHANGE)):
            if "expires_at" not in row:
                dated += self._write(change_rows.farewell(row, self.now))
        return f"dated {dated} entries of the log of a task that is gone" if dated else None

    def _write(self, *operations: Operation) -> bool:
        return self.table.transact(operations) is None


def _key(task: Task) -> keys.Key:
    return keys.task(task.user_id, task.id)


def _due(plan: Plan, due_at: datetime | None) -> Plan:
    return replace(plan, due_at=due_at)
